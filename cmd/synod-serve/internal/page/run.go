package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// runPart is the page of one run, and what can be had of it.
var runPart = part{routes: map[string]handler{
	"GET /runs/{id}":             showRun,
	"GET /runs/{id}/events":      watchRun,
	"POST /runs/{id}/stop":       stopRun,
	"GET /runs/{id}/calls":       showCalls,
	"GET /runs/{id}/json":        exportRun,
	"GET /runs/{id}/journal":     exportJournal,
	"GET /runs/{id}/share":       shareRun,
	"GET /runs/{id}/certificate": certifyRun,
}}

// maxJournal is the largest journal that is read for a page, in bytes.
const maxJournal = 64 << 20

// idShape is that of ids in addresses.
var idShape = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func noRun(id string) error {
	return problemf(http.StatusNotFound, "There is no run %.64s, or it belongs to another key, or it was removed "+
		"because of its age.", id)
}

// row returns the request of an id, if the viewer may see it.
func (v *visit) row(id string) (*store.Row, error) {
	if !idShape.MatchString(id) {
		return nil, noRun(id)
	}
	rows, err := v.p.o.Store.Search(v.R.Context(), store.Filter{ID: id}, 1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !v.mine(rows[0].Key) {
		return nil, noRun(id)
	}
	return &rows[0], nil
}

// past is a run that has ended, as its journal has it.
type past struct {
	row     *store.Row
	journal *journal.Run // nil: none is kept
	plan    *plan.Plan
	outcome *outcome.Outcome // nil: there is none yet
	why     string           // why there is no journal, or it cannot be read
}

// journalFile opens the journal of a request.
func (p *Page) journalFile(r *store.Row) (*os.File, error) {
	if r.Journal == "" || p.o.Journals == "" || !idShape.MatchString(r.Journal) {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(p.o.Journals)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(path.Join(r.Begun.UTC().Format(time.DateOnly), r.Journal+".jsonl"))
}

// past reads the journal of a request. A journal that cannot be read is no error: the request is shown without.
func (p *Page) past(r *store.Row) *past {
	t := &past{row: r}
	f, err := p.journalFile(r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.why = "No journal of this run is kept here, so only what the store has is shown."
		return t
	case err != nil:
		t.why = "The journal of this run cannot be opened."
		p.o.Log.Error("a journal cannot be opened", "request", r.ID, "error", err.Error())
		return t
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxJournal {
		t.why = fmt.Sprintf("The journal of this run has more than %d MB, so it is not shown; it can be downloaded.",
			maxJournal>>20)
		return t
	}
	if t.journal, err = journal.Read(f); err == nil {
		t.plan, err = plan.Of(t.journal)
	}
	if err != nil {
		t.journal, t.why = nil, "The journal of this run cannot be read: "+err.Error()
		return t
	}
	if r.Ended.IsZero() {
		t.why = "This run goes on. Load the page again to see more."
		return t
	}
	o := outcome.Judge(t.plan, outcome.InstanceOf(t.journal), outcome.RecordsOf(t.plan, t.journal))
	o.Journal, o.Digest = r.Journal, t.journal.Digest()
	if !r.Unpriced {
		o.Money.AtLeast = r.Spent.USD()
	}
	o.Seconds = r.Ended.Sub(r.Begun).Seconds()
	t.outcome = &o
	return t
}

// state returns what the journal has of the run.
func (t *past) state() *runState {
	out := newState(t.plan, t.journal.Head.Question.Form)
	out.notes = t.journal.Opinions()
	for _, r := range t.journal.Replies.List() {
		if r.Node >= 0 && int(r.Node) < len(out.trials) {
			out.heard(r.Node, &r.Reply)
		}
	}
	return &out
}

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
	Alone       string   // what one call of a member alone costs; "": that is not known
	Presented   []string // what the protocol adds, line by line
	Decision    *decision
	Dissent     []dissent
	Board       *board
	Asked       []askedView
	Certificate bool
	Share       bool       // it has no links to other things of the request: a file that is shared, or of a sweep
	Lab         *labOrigin // of a question of a sweep; else nil
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

// showRun shows a run: live, or as it was.
func showRun(v *visit) error {
	view, err := v.runView(v.R.PathValue("id"))
	if err != nil {
		return err
	}
	f := v.frame(view.title(), view)
	if view.Running() {
		f.Refresh = 3
	}
	return v.send(http.StatusOK, "run.html", f)
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
	return view, nil
}

// fill shows what the journal has.
func (view *runView) fill(t *past) {
	o := t.outcome
	view.Question = &t.journal.Head.Question
	view.Report = gateway.ReportOf(o)
	view.Board = t.state().board()
	view.Asked = asked(view.Question)
	view.Alone = alone(o.Models)
	if p := o.Presented; p != nil {
		view.Presented = append([]string{p.Head}, p.Lines...)
	}
	if !o.Answered() {
		a := o.Advice()
		if view.Error = o.Reason; a.Err != nil {
			view.Error = a.Err.Error()
		}
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
