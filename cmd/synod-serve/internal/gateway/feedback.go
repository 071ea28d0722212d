package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Mark is what a user says about the answer to a run. It never comes from a member's words.
type Mark struct {
	Run   string `json:"run"`
	Label string `json:"label"` // "right" or "wrong"; "": Value is given
	Value string `json:"value"` // the right value, as a person writes it
}

// The labels of a Mark. MarkValue is that of one with a value.
const (
	MarkRight = "right"
	MarkWrong = "wrong"
	MarkValue = "value"
)

// MaxJournal is the largest journal that is read again, in bytes.
const MaxJournal = 64 << 20

// maxMark bounds the body of a request with a Mark, in bytes.
const maxMark = 64 << 10

// labelled is a route of feedback: it finds out whose it is, and sends what answer returns.
func (g *Gateway) labelled(answer func(*http.Request, *store.Key) (any, *wire.Error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, e := g.Authorise(r.Context(), r.Header)
		var said any
		if e == nil {
			said, e = answer(r, key)
		}
		if e != nil {
			g.deny(w, r, key, e)
			return
		}
		writeJSON(w, http.StatusOK, said)
	}
}

// label is POST /v1/synod/feedback.
func (g *Gateway) label(r *http.Request, key *store.Key) (any, *wire.Error) {
	if !isJSON(r.Header.Get("Content-Type")) { // a form of a foreign page cannot send it
		return nil, notJSON()
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxMark))
	if err != nil {
		return nil, &wire.Error{HTTP: 413, Code: "body_too_large", Message: "the body cannot be read, or is longer " +
			"than 64 KiB"}
	}
	var m Mark
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if d.Decode(&m) != nil || d.More() {
		return nil, wire.Invalid("", `the body must be an object such as {"run": "req-…", "label": "right"}, `+
			`{"run": "req-…", "label": "wrong"} or {"run": "req-…", "value": "42"}`)
	}
	l, e := g.Label(r.Context(), key, m)
	if e != nil {
		return nil, e
	}
	return map[string]any{"object": "synod.feedback", "run": l.Run, "label": l.Mark, "correct": l.Correct}, nil
}

// unlabel is DELETE /v1/synod/feedback/RUN.
func (g *Gateway) unlabel(r *http.Request, key *store.Key) (any, *wire.Error) {
	n, e := g.Unlabel(key, r.PathValue("run"))
	return map[string]any{"object": "synod.feedback", "run": r.PathValue("run"), "deleted": n > 0}, e
}

// Unlabel withdraws the label of a run by a key, and returns how many there were.
func (g *Gateway) Unlabel(key *store.Key, run string) (int64, *wire.Error) {
	if e := mayLabel(key); e != nil {
		return 0, e
	}
	if run == "" {
		return 0, noLabelled(run)
	}
	n, err := g.o.Store.Unlabel(keyID(key), run)
	if err != nil {
		return 0, g.storeDown(err)
	}
	return n, nil
}

func mayLabel(key *store.Key) *wire.Error {
	if key.Labels() {
		return nil
	}
	return &wire.Error{HTTP: 403, Code: "may_not_label", Message: "the key " + key.Name + " may not say which " +
		"answers are right; the owner of the gateway allows it: synod serve keys edit " + key.Name + " --label"}
}

// Label keeps what a user says about a run that the key may see, in place of what the key has said before.
func (g *Gateway) Label(ctx context.Context, key *store.Key, m Mark) (*store.Label, *wire.Error) {
	if e := mayLabel(key); e != nil {
		return nil, e
	}
	if (m.Label == "") == (m.Value == "") || m.Label != "" && m.Label != MarkRight && m.Label != MarkWrong {
		return nil, wire.Invalid("label", `give either label, which is "right" or "wrong", or value, the right value`)
	}
	row, e := g.ran(ctx, key, m.Run)
	if e != nil {
		return nil, e
	}
	run, e := g.reread(row)
	if e != nil {
		return nil, e
	}
	l, e := grade(run, m)
	if e != nil {
		return nil, e
	}
	l.Run, l.Key, l.Model = row.ID, keyID(key), row.Model
	if err := g.o.Store.SetLabel(*l); err != nil {
		return nil, g.storeDown(err)
	}
	g.o.Log.Info("an answer was labelled", "request", row.ID, "model", row.Model, "key", l.Key, "label", l.Mark)
	return l, nil
}

// ran returns the request of a run that has ended and that the key may see.
func (g *Gateway) ran(ctx context.Context, key *store.Key, id string) (*store.Row, *wire.Error) {
	rows, err := g.o.Store.Search(ctx, store.Filter{ID: id}, 1)
	switch {
	case err != nil:
		return nil, g.storeDown(err)
	case id == "" || len(rows) == 0 || key == nil && g.o.NeedKey || key != nil && rows[0].Key != key.ID:
		return nil, noLabelled(id)
	case rows[0].Ended.IsZero():
		return nil, unlabelled("the run has not ended")
	}
	return &rows[0], nil
}

func noLabelled(id string) *wire.Error {
	return &wire.Error{HTTP: 404, Code: "run_not_found", Param: "run", Message: "there is no run " + printable(id) +
		", or it belongs to another key"}
}

// unlabelled is the error of a run that cannot be labelled.
func unlabelled(why string) *wire.Error {
	return &wire.Error{HTTP: 409, Code: "not_labelled", Param: "run", Message: why}
}

// rereadRun is a run as its journal has it.
type rereadRun struct {
	plan     *plan.Plan
	question *synod.Question
	outcome  outcome.Outcome
}

// reread judges a run again from its journal.
func (g *Gateway) reread(row *store.Row) (*rereadRun, *wire.Error) {
	f, err := row.OpenJournal(g.o.Journals)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unlabelled("no journal of this run is kept here, so what its members said is not known")
	}
	var run *journal.Run
	if err == nil {
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.Size() > MaxJournal {
			return nil, unlabelled("the journal of this run is too long to be read again")
		}
		run, err = journal.Read(f)
	}
	var p *plan.Plan
	if err == nil {
		p, err = plan.Of(run)
	}
	if err != nil {
		g.o.Log.Error("a journal cannot be read", "request", row.ID, "error", err.Error())
		return nil, unlabelled("the journal of this run cannot be read; the gateway's log says why")
	}
	return &rereadRun{p, &run.Head.Question, outcome.Judge(p, outcome.InstanceOf(run), outcome.RecordsOf(p, run))}, nil
}

// grade labels the first answers of a run. After "wrong" alone none of the answers counts as right, which is the
// cautious reading: nobody has said that another answer is right.
func grade(run *rereadRun, m Mark) (*store.Label, *wire.Error) {
	o := &run.outcome
	if e := gradable(o); e != nil {
		return nil, e
	}
	l := &store.Label{Mark: m.Label, Predicted: -1}
	var right synod.Answer
	switch given, known := synod.Answer(""), o.Answer != nil; {
	case m.Value != "":
		if given, known = read.Canonical(run.question, m.Value); !known || given == "" {
			return nil, wire.Invalid("value", "value cannot be read as an answer of the form %s", run.question.Form)
		}
		l.Mark, right = MarkValue, given
	case !known:
		return nil, unlabelled("the council did not decide, so there is no answer that is right or wrong; give the " +
			"right value")
	case m.Label == MarkRight:
		right = *o.Answer
	}
	l.Answers = outcome.FirstAnswers(run.plan, run.question, o, func(a synod.Answer) reliability.Label {
		if right != "" && a == right {
			return reliability.Right
		}
		return reliability.Wrong
	})
	if len(l.Answers) == 0 {
		return nil, unlabelled("no member gave an answer")
	}
	if o.Answer != nil {
		l.Correct = *o.Answer == right
		if o.Probability != nil {
			l.Predicted = o.Probability.Value
		}
	}
	return l, nil
}

// gradable refuses runs whose labels would say nothing about answers of real models.
func gradable(o *outcome.Outcome) *wire.Error {
	invented := func(m outcome.Member) bool { return m.Kind == llm.Simulated || m.Adversary != nil }
	switch {
	case slices.ContainsFunc(o.Members, invented):
		return unlabelled("members of this run were simulated, so a label would say nothing about real models")
	case o.Form == synod.JSON:
		return unlabelled("a value is merged from the members' answers field by field, and has no probability that a " +
			"label could improve")
	}
	return nil
}
