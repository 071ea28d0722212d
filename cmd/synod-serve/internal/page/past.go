package page

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// maxJournal is the largest journal that is read for a page, in bytes.
const maxJournal = gateway.MaxJournal

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
	return r.OpenJournal(p.o.Journals)
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
		if r.Node >= 0 && int(r.Node) < len(out.trials) && !r.Needless {
			out.heard(r.Node, &r.Reply)
		}
	}
	return &out
}
