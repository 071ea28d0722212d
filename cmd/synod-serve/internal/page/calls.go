package page

import (
	"fmt"
	"net/http"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/journal"
)

// callsPerPage is how many calls a page shows, and maxShown how many bytes of a prompt or a reply.
const (
	callsPerPage = 25
	maxShown     = 20 << 10
)

// callView is a call of a member's model.
type callView struct {
	N        int
	Seat     string
	Model    string
	Round    int
	Purpose  string
	Template string
	System   string
	User     string
	Turns    []askedView
	Status   synod.Status
	Detail   string
	Reply    string
	Answer   synod.Answer
	Value    *float64 // of a typed reply to a prompt for a score
	Tokens   synod.Usage
	Calls    int
	Took     int // milliseconds
	Reused   bool
	Late     bool
	Needless bool // it began early for a member that was not asked then; the journal has no prompt
	Pending  bool // no reply is in the journal
}

// callsView is a page of the calls of a run.
type callsView struct {
	At       string      // address of the calls, without the query
	Back     string      // address of the run
	Hidden   [][2]string // what the query has beside member and page
	Question string
	Seat     string
	Seats    []string
	Calls    []callView
	From, Of int
	Before   int // the page before; 0: none
	After    int // the next page; 0: none
}

// showCalls shows every call of a run: prompt, reply, tokens and time.
func showCalls(v *visit) error {
	row, err := v.row(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	t := v.p.past(row)
	if t.journal == nil {
		return problemf(http.StatusNotFound, "%s", t.why)
	}
	view := &callsView{At: "/runs/" + row.ID + "/calls", Back: "/runs/" + row.ID}
	return v.listCalls(t, view, "Calls of "+row.ID)
}

// listCalls shows the calls of a run, of which a page or a member is chosen by the address.
func (v *visit) listCalls(t *past, view *callsView, title string) error {
	view.Question, view.Seat = t.journal.Head.Question.Text, v.R.FormValue("seat")
	seats := t.plan.Seats()
	for _, s := range seats {
		view.Seats = append(view.Seats, s.ID)
	}
	var all []journal.Asked
	for _, a := range t.journal.Asked() {
		if a.Node >= 0 && int(a.Node) < len(seats) && (view.Seat == "" || seats[a.Node].ID == view.Seat) {
			all = append(all, a)
		}
	}
	for _, r := range t.journal.Replies.List() {
		if r.Needless && r.Node >= 0 && int(r.Node) < len(seats) && (view.Seat == "" || seats[r.Node].ID == view.Seat) {
			all = append(all, journal.Asked{Key: r.Key, Round: -1})
		}
	}
	page, err := strconv.Atoi(v.R.FormValue("page"))
	page = max(page, 1)
	if err != nil || (page-1)*callsPerPage >= len(all) {
		page = 1
	}
	view.From, view.Of = (page-1)*callsPerPage, len(all)
	to := min(view.From+callsPerPage, len(all))
	for i, a := range all[view.From:to] {
		view.Calls = append(view.Calls, t.call(view.From+i+1, a))
	}
	if page > 1 {
		view.Before = page - 1
	}
	if to < len(all) {
		view.After = page + 1
	}
	return v.show("calls.html", title, view)
}

// call shows one call. Prompts are rendered with the templates of today, but for the random borders around texts
// of others, which the journal does not have.
func (t *past) call(n int, a journal.Asked) callView {
	s := t.plan.Seats()[a.Node]
	c := callView{N: n, Seat: s.ID, Model: s.Model, Round: a.Round}
	if a.Prompt != nil {
		p := *a.Prompt
		p.Question = &t.journal.Head.Question
		p.Plain = t.journal.Replies[a.Key].Plain
		c.Purpose, c.Template = string(p.Purpose), p.Template
		if chat, err := t.plan.Templates().Render(&p); err != nil {
			c.User = fmt.Sprintf("The prompt cannot be shown: %v", err)
		} else {
			c.System, c.User = shortened(chat.System), shortened(chat.User)
			for _, turn := range chat.Turns {
				c.Turns = append(c.Turns, askedView{Role: string(turn.Role), Text: shortened(turn.Text)})
			}
		}
	}
	r, ok := t.journal.Replies[a.Key]
	if !ok {
		c.Pending = true
		return c
	}
	c.Status, c.Detail, c.Reply, c.Answer, c.Tokens = r.Status, r.Detail, shortened(r.Text), r.Answer, r.Usage
	c.Calls, c.Took, c.Reused, c.Late, c.Needless = r.Calls, r.Took, r.Reused, r.Late, r.Needless
	if r.Typed && r.Answer == synod.None && r.Status == synod.OK {
		value := r.Value
		c.Value = &value
	}
	return c
}

// shortened cuts a text that is too long for a page.
func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return fmt.Sprintf("%s\n… (%d more bytes; the journal has all)", clean.Head(text, maxShown), len(text)-maxShown)
}
