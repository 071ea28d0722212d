package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// spendTime is how far back the spend of a council is summed.
const spendTime = 30 * 24 * time.Hour

// spendLine is what requests to a council have cost, as text.
type spendLine struct {
	Requests, Failed, Open int
	Calls, Tokens          int
	Cost, Last             string
	Saved                  string // against the reference model; "": not known
}

func newSpendLine(s store.Spend) spendLine {
	l := spendLine{Requests: s.Requests, Failed: s.Failed, Open: s.Open, Calls: s.Calls,
		Tokens: s.Prompt + s.Completion, Cost: dollars(s.Spent.USD()), Last: moment(s.Last)}
	if s.Unpriced > 0 {
		l.Cost = fmt.Sprintf("at least %s; the price of %s is not known", l.Cost, plural(s.Unpriced, "request"))
	}
	if s.Compared > 0 {
		l.Saved = fmt.Sprintf("%s; the reference model alone would have cost %s, where %s cost %s",
			dollars(s.Saved().USD()), dollars(s.Alone.USD()), plural(s.Compared, "request"), dollars(s.Against.USD()))
	}
	return l
}

// spend sums, by model, what the viewer may see of the cost of requests.
func (v *visit) spend() (map[string]store.Spend, error) {
	key := ""
	if v.Key != nil && !v.Key.Admin {
		key = v.Key.ID
	}
	return v.p.o.Store.SpendByModel(v.R.Context(), key, time.Now().Add(-spendTime))
}

func protocolName(p *plan.Plan) string {
	name, _ := p.Spec().Protocol["name"].(string)
	return name
}

// graphName describes the graph in a few words.
func graphName(p *plan.Plan) string {
	g := p.Graph()
	name := g.Topology
	if name == "" {
		name = "own"
	}
	if g.Changes() {
		name += ", changes by round"
	}
	return name
}

func robustnessOf(b plan.Bound) string {
	if b.Exact {
		return fmt.Sprint(b.R)
	}
	return fmt.Sprintf("at least %d", b.R)
}

func guaranteeOf(b plan.Bound) string {
	if b.Guarantee == plan.None {
		return "none"
	}
	return b.Guarantee
}

// healthOf says in a few words how the models of a council are, and whether one is not called now.
func healthOf(all []council.ModelHealth) (text string, ill bool) {
	var out []string
	called, worked := 0, 0
	for _, m := range all {
		if m.Health == nil {
			continue
		}
		called++
		switch {
		case m.Health.State != llm.Closed:
			out = append(out, m.Model)
		case !m.Health.Worked.IsZero():
			worked++
		}
	}
	switch {
	case len(out) > 0:
		return "not called now: " + strings.Join(out, ", "), true
	case called == 0:
		return "calls nobody", false
	case worked == 0:
		return "no reply yet", false
	case worked < called:
		return fmt.Sprintf("%d of %s replied", worked, plural(called, "model")), false
	}
	return "all replied", false
}

// acquire returns a council that the viewer may see, and its state.
func (v *visit) acquire(id string) (*councils.Served, councils.Entry, error) {
	all := v.p.o.Councils.Councils()
	i := slices.IndexFunc(all, func(s councils.Entry) bool { return s.ID == id })
	if i < 0 || !v.Key.May(id) {
		return nil, councils.Entry{}, problemf(http.StatusNotFound, "There is no council %s, or the key may "+
			"not use it.", clip(id))
	}
	s, ok := v.p.o.Councils.Acquire(id)
	if !ok || s.Council == nil {
		return nil, all[i], nil
	}
	return s, all[i], nil
}
