package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// runView is what the page of a run shows.
type runView struct {
	ID    string
	Live  *liveView // while it goes on
	Row   *store.Row
	Begun time.Time
	Why   string // why there is no more
	Error string // why there is no decision, of a run without a journal

	Question    *synod.Question
	Report      *gateway.Report
	AtLeast     float64  // a less probable answer is no decision; 0: none is too improbable
	Alone       string   // what one call of a member alone costs; "": that is not known
	Presented   []string // what the protocol adds, line by line
	Decision    *decision
	Dissent     []dissent
	Board       *board
	Asked       []askedView
	Certificate bool
	Feedback    *feedbackView // nil: the viewer may not label the run
	Share       bool          // it has no links to other things of the request: a file that is shared, or of a sweep
	Lab         *labOrigin    // of a question of a sweep; else nil
	Style       template.CSS
}

// Beside are the things that came with the question and are no turns of a conversation.
func (view *runView) Beside() (all []askedView) {
	for _, a := range view.Asked {
		if !a.Turn {
			all = append(all, a)
		}
	}
	return all
}

// Follows reports whether another question can be asked after the run: its journal has the conversation.
func (view *runView) Follows() bool {
	return view.Row != nil && view.Report != nil && view.Row.Journal != "" && !view.Share && view.Lab == nil
}

// decision is the answer of a council in the form to show it.
type decision struct {
	Text    string
	Pretty  string        // JSON with indentation; "": it is none
	Prose   template.HTML // Markdown, sanitised, with its claims; "": it is none
	Words   template.HTML // what the member By wrote around Text, which the council decided; "": nothing
	By      string
	Marked  []marked // the text with its claims, where Markdown cannot be marked; else nil
	Leading bool     // it is no decision, but the answer with the most votes
}

// marked is a piece of the decision; with a claim if the members have judged it.
type marked struct {
	Text  string
	Claim *outcome.Claim
}

// dissent is another answer than the decision.
type dissent struct {
	Text        string
	Prose       template.HTML
	Seats       []string
	Independent int
}

// labOrigin says of which question of a sweep a transcript is.
type labOrigin struct {
	At, Name, Cell, Key string
	Right               *bool    // nil: that is not known
	USD                 *float64 // nil: not known
}

// Running reports whether the run has not ended, here or at another gateway.
func (view *runView) Running() bool { return view.Live != nil || view.Row.Ended.IsZero() }

func (view *runView) title() string {
	if view.Question == nil {
		return "Run"
	}
	return brief(view.Question.Text)
}

// runView returns what is known of a run.
func (v *visit) runView(id string) (*runView, error) {
	l := v.p.lives.get(id)
	if l != nil && !v.mine(l.key) {
		return nil, noRun(id)
	}
	if l != nil && !l.ended() {
		now, _ := l.view()
		return &runView{ID: id, Live: now, Begun: l.begun, Question: &synod.Question{Text: now.Question}}, nil
	}
	row, err := v.row(id)
	if err != nil {
		return nil, err
	}
	view := &runView{ID: id, Row: row, Begun: row.Begun}
	t := v.p.past(row)
	switch {
	case t.outcome != nil:
		view.fill(t)
		view.Certificate = view.Report.Answer != nil && v.p.o.Owner != nil
	case t.journal != nil:
		view.Question, view.Board = &t.journal.Head.Question, t.state().board()
	case l != nil:
		view.fillLive(l)
	case row.Question != "":
		view.Question = &synod.Question{Text: row.Question}
	}
	view.Why = t.why
	return view, v.feedback(view)
}

// fill shows what the journal has.
func (view *runView) fill(t *past) {
	o := t.outcome
	view.Question = &t.journal.Head.Question
	view.Report = gateway.ReportOf(o)
	view.AtLeast = t.plan.Full().AtLeast()
	view.Board = t.state().board()
	view.Asked = asked(view.Question)
	view.Alone = alone(o.Models)
	if p := o.Presented; p != nil {
		view.Presented = append([]string{p.Head}, p.Lines...)
	}
	if !o.Answered() {
		view.Error = o.Problem()
		if t.row != nil && t.row.Status == "stopped" {
			view.Error = "The run was stopped by its user. " + view.Error
		}
	}
	view.decide()
}

// fillLive shows what is known in memory of a run without a journal.
func (view *runView) fillLive(l *live) {
	view.Question = &synod.Question{Text: l.run.Text, Form: l.run.Form}
	l.mu.Lock()
	view.Board = l.state.board()
	l.mu.Unlock()
	a, e := l.run.Result()
	if e != nil {
		view.Error = e.Message
		view.Report, _ = e.Synod.(*gateway.Report)
	} else {
		view.Report = a.Synod
	}
	if view.Report != nil {
		view.decide()
	}
}

// decide makes the decision and the other answers fit to be shown.
func (view *runView) decide() {
	r := view.Report
	if r.Answer != nil {
		view.Decision = newDecision(r, *r.Answer, r.Text)
		if r.Words != nil {
			view.Decision.Words, view.Decision.By = markdown(r.Words.Text), r.Words.Member
		}
	} else if len(r.Votes) > 0 {
		view.Decision = newDecision(r, r.Votes[0].Answer, r.Votes[0].Text)
		view.Decision.Leading = true
		if r.Words != nil {
			view.Decision.Words, view.Decision.By = markdown(r.Words.Text), r.Words.Member
		}
	}
	for i, vote := range r.Votes {
		if view.Decision != nil && (r.Answer == nil && i == 0 || r.Answer != nil && vote.Answer == *r.Answer) {
			continue
		}
		d := dissent{Text: vote.Text, Seats: vote.Seats, Independent: vote.Independent}
		if r.Form == synod.Prose {
			d.Prose = markdown(d.Text)
		}
		view.Dissent = append(view.Dissent, d)
	}
}

func newDecision(r *gateway.Report, a synod.Answer, text string) *decision {
	d := &decision{Text: text}
	switch r.Form {
	case synod.JSON, synod.Action:
		d.Pretty = pretty([]byte(a))
	case synod.Prose:
		d.Prose = markdown(text)
		if d.Marked = mark(string(a), r.Claims); d.Marked != nil {
			if prose := markedProse(d.Marked); prose != "" {
				d.Prose, d.Marked = prose, nil
			}
		}
	}
	return d
}

// pretty indents JSON; anything else stays what it is.
func pretty(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// mark cuts a text at its claims. Claims that overlap or are not in the text are left out.
func mark(text string, claims []outcome.Claim) (all []marked) {
	at := 0
	for i := range claims {
		c := &claims[i]
		if c.Start < at || c.End <= c.Start || c.End > len(text) {
			continue
		}
		if c.Start > at {
			all = append(all, marked{Text: text[at:c.Start]})
		}
		all = append(all, marked{text[c.Start:c.End], c})
		at = c.End
	}
	if all != nil && at < len(text) {
		all = append(all, marked{Text: text[at:]})
	}
	return all
}

// askedView is a turn of the conversation before the question, or something else that came with it.
type askedView struct {
	Role  string
	Text  string
	Prose template.HTML // of an assistant's turn
	Turn  bool          // the user or the assistant said it
}

// asked lists what came with the question: earlier turns, files, options.
func asked(q *synod.Question) (all []askedView) {
	for _, t := range q.Before {
		text := t.Text
		for _, p := range t.Parts {
			text += fmt.Sprintf("\n[%s %s, %d bytes]", p.Media, p.Name, len(p.Data))
		}
		a := askedView{Role: string(t.Role), Text: strings.TrimSpace(text), Turn: t.Role == synod.ByUser}
		if t.Role == synod.ByAssistant && text != "" {
			a.Prose, a.Turn = markdown(a.Text), true
		}
		all = append(all, a)
	}
	for _, o := range q.Options {
		all = append(all, askedView{Role: "option " + o.Label, Text: o.Text})
	}
	for _, p := range q.Parts {
		all = append(all, askedView{Role: "file", Text: fmt.Sprintf("%s %s, %d bytes", p.Media,
			cmp.Or(p.Name, "without a name"), len(p.Data))})
	}
	for _, t := range q.Tools {
		all = append(all, askedView{Role: "tool", Text: t.Name + " " + t.Description})
	}
	if len(q.Schema) > 0 {
		all = append(all, askedView{Role: "schema", Text: pretty(q.Schema)})
	}
	return all
}
