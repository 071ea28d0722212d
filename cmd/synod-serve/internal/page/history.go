package page

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// historyPart lists earlier runs and compares two of them.
var historyPart = part{name: "History", path: "/history", routes: map[string]handler{
	"GET /history": showHistory,
	"GET /compare": showCompare,
}}

// rowsPerPage is how many requests a page of the history lists.
const rowsPerPage = 50

// statuses are those by which the history can be filtered, beside those that are listed.
var statuses = []string{"agreed", "degraded", "undecided", "no_consensus", "budget_exceeded", "question_too_long",
	"deadline_exceeded", "stopped", "client_gone", "all_members_failed", "lost", "open"}

// historyView is a page of the history with its filters.
type historyView struct {
	Text, Model, Status, From, To, Key string
	Models, Statuses                   []string
	Keys                               []store.Key // empty if the viewer sees one key only
	Rows                               []historyRow
	After                              string // address of the next page; "": there is none
	Filtered                           bool
}

type historyRow struct {
	store.Row
	KeyName string
	Seconds float64
}

func showHistory(v *visit) error {
	get := v.R.FormValue
	view := &historyView{Text: strings.TrimSpace(get("q")), Model: get("council"), Status: get("status"),
		From: get("from"), To: get("to"), Key: get("key"), Statuses: statuses}
	f := store.Filter{Text: view.Text, Model: view.Model, Status: view.Status}
	var err error
	if f.From, err = date(view.From); err == nil {
		if f.To, err = date(view.To); err == nil && view.To != "" {
			f.To = f.To.AddDate(0, 0, 1) // the day itself counts
		}
	}
	if err != nil {
		return problemf(http.StatusBadRequest, "A day is written like 2026-11-22.")
	}
	view.Filtered = f != store.Filter{} || view.Key != ""
	names, err := v.keyNames(view)
	if err != nil {
		return err
	}
	switch {
	case v.Key != nil:
		f.Key = &v.Key.ID
	case view.Key == "-":
		none := ""
		f.Key = &none
	case view.Key != "":
		f.Key = &view.Key
	}
	if id := get("after"); id != "" {
		if f.After, err = v.row(id); err != nil {
			return err
		}
	}
	rows, err := v.p.o.Store.Search(v.R.Context(), f, rowsPerPage+1)
	if err != nil {
		return err
	}
	if len(rows) > rowsPerPage {
		rows = rows[:rowsPerPage]
		q := v.R.URL.Query()
		q.Set("after", rows[rowsPerPage-1].ID)
		view.After = "/history?" + q.Encode()
	}
	view.Rows, view.Models = historyRows(rows, names), v.models(view.Model)
	return v.show("history.html", "History", view)
}

// historyRows adds to requests what the store does not have.
func historyRows(rows []store.Row, names map[string]string) (all []historyRow) {
	for _, r := range rows {
		h := historyRow{Row: r, KeyName: names[r.Key]}
		if !r.Ended.IsZero() {
			h.Seconds = r.Ended.Sub(r.Begun).Seconds()
		}
		all = append(all, h)
	}
	return all
}

// models lists the models that are served, and the chosen one, whose council may be gone.
func (v *visit) models(chosen string) (all []string) {
	for _, l := range v.p.o.Councils.List() {
		all = append(all, l.ID)
	}
	if chosen != "" && !slices.Contains(all, chosen) {
		all = append(all, chosen)
	}
	return all
}

// keyNames returns the names of keys by id, and lists them in the filter for those who see all.
func (v *visit) keyNames(view *historyView) (map[string]string, error) {
	if v.Key != nil {
		return map[string]string{v.Key.ID: v.Key.Name}, nil
	}
	keys, err := v.p.o.Store.Keys(v.R.Context())
	names := map[string]string{}
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	view.Keys = keys
	return names, err
}

// date reads a day; the zero time for "".
func date(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.DateOnly, text)
}

// compareView is two runs beside each other.
type compareView struct {
	A, B    *runView
	Members []compareMember
	Recent  []historyRow // to choose the second run from
}

// compareMember is what the members of one id answered in both runs.
type compareMember struct {
	ID           string
	First, Final [2]string
	Differs      bool // it is in both runs, and ends on different answers
	in           int
}

func showCompare(v *visit) error {
	view := &compareView{}
	var err error
	if view.A, err = v.runView(v.R.FormValue("a")); err != nil {
		return err
	}
	if b := v.R.FormValue("b"); b != "" {
		if view.B, err = v.runView(b); err != nil {
			return err
		}
		view.Members = compareMembers(view.A, view.B)
		return v.show("compare.html", "Compare", view)
	}
	f := store.Filter{}
	if v.Key != nil {
		f.Key = &v.Key.ID
	}
	rows, err := v.p.o.Store.Search(v.R.Context(), f, rowsPerPage)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.ID != view.A.ID && r.Journal != "" {
			view.Recent = append(view.Recent, historyRow{Row: r})
		}
	}
	return v.show("compare.html", "Compare", view)
}

// compareMembers lists the members of two runs by id.
func compareMembers(a, b *runView) (all []compareMember) {
	at := map[string]int{}
	for i, view := range []*runView{a, b} {
		if view.Report == nil {
			continue
		}
		for k := range view.Report.Members {
			m := &view.Report.Members[k]
			j, known := at[m.ID]
			if !known {
				j, at[m.ID] = len(all), len(all)
				all = append(all, compareMember{ID: m.ID})
			}
			all[j].in++
			if m.First != nil {
				all[j].First[i] = string(*m.First)
			}
			if m.Final != nil {
				all[j].Final[i] = string(*m.Final)
			}
		}
	}
	for j := range all {
		all[j].Differs = all[j].in == 2 && all[j].Final[0] != all[j].Final[1]
	}
	return all
}
