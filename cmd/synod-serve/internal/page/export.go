package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"regexp"
	"strings"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/record/certificate"
)

// attach names a download.
func (v *visit) attach(kind, name string) {
	h := v.W.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
}

// exported is a run as JSON: what the store has of the request, and the outcome as "synod ask --json" prints it.
type exported struct {
	Version int              `json:"version"`
	ID      string           `json:"id"`
	API     string           `json:"api"`
	Model   string           `json:"model"`
	Begun   string           `json:"begun"`
	Ended   string           `json:"ended,omitempty"`
	Status  string           `json:"status"`
	USD     float64          `json:"usd"`
	Priced  bool             `json:"priced"` // the price of every part is known
	Outcome *outcome.Outcome `json:"outcome"`
}

func exportRun(v *visit) error {
	row, err := v.row(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	const layout = "2006-01-02T15:04:05.000Z07:00"
	out := exported{Version: 1, ID: row.ID, API: row.API, Model: row.Model, Begun: row.Begun.UTC().Format(layout),
		Status: row.Status, USD: row.Spent.USD(), Priced: !row.Unpriced, Outcome: v.p.past(row).outcome}
	if !row.Ended.IsZero() {
		out.Ended = row.Ended.UTC().Format(layout)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	v.attach("application/json", row.ID+".json")
	_, _ = v.W.Write(append(b, '\n')) // the viewer may be gone
	return nil
}

func exportJournal(v *visit) error {
	row, err := v.row(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	f, err := v.p.journalFile(row)
	if err != nil {
		return problemf(http.StatusNotFound, "No journal of this run is kept here.")
	}
	defer f.Close()
	v.attach("application/x-ndjson", row.ID+".jsonl")
	_, _ = io.Copy(v.W, f) // the viewer may be gone
	return nil
}

// certifyRun signs the certificate of a decision with the key of the gateway's owner.
func certifyRun(v *visit) error {
	row, err := v.row(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	t := v.p.past(row)
	if t.outcome == nil || t.outcome.Answer == nil || v.p.o.Owner == nil {
		return problemf(http.StatusNotFound, "There is no certificate without a decision and its journal. %s", t.why)
	}
	secret, err := v.p.o.Owner()
	if err != nil {
		return err
	}
	s, err := outcome.Owned(t.plan, outcome.InstanceOf(t.journal), t.outcome, secret.PublicKey())
	if err != nil {
		return problemf(http.StatusUnprocessableEntity, "This run has no certificate: %v", err)
	}
	c, err := certificate.Signed(&s, secret)
	if err != nil {
		return err
	}
	file, err := c.File()
	if err != nil {
		return err
	}
	v.attach("application/json", row.ID+".cert")
	_, _ = v.W.Write(file) // the viewer may be gone
	return nil
}

// shareRun writes a run as one file that needs no other: with its style in it, without scripts and forms.
func shareRun(v *visit) error {
	view, err := v.runView(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	if view.Running() {
		return problemf(http.StatusConflict, "The run goes on; share it when it has ended.")
	}
	view.Share = true
	for _, name := range []string{"simple.css", "page.css"} {
		view.Style += template.CSS(compact(v.p.named[name].content))
	}
	var b bytes.Buffer
	if err := v.p.views()["run.html"].ExecuteTemplate(&b, "file", frame{Title: view.title(), Data: view}); err != nil {
		return err
	}
	v.attach("text/html; charset=utf-8", view.ID+".html")
	_, _ = v.W.Write(b.Bytes()) // the viewer may be gone
	return nil
}

var comment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// compact leaves out the comments of a style sheet.
func compact(style []byte) string {
	return strings.TrimSpace(comment.ReplaceAllString(string(style), ""))
}
