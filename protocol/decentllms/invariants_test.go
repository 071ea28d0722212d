package decentllms

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		*executions = min(*executions, 500)
	}
	goleak.VerifyTestMain(m)
}

var (
	executions = flag.Int("executions", 2000, "seeded executions; make campaign plays more")
	firstSeed  = flag.Uint64("seed", 1, "the first execution's seed")
)

// ledger has the first violation of each invariant, and how often the events that the invariants
// are about happened.
type ledger struct {
	violated map[string]string
	happened map[string]int
}

func (l *ledger) check(label string, ok bool, x *trial, format string, args ...any) {
	if !ok && l.violated[label] == "" {
		l.violated[label] = fmt.Sprintf("%d workers, %d evaluators, f = %d, %s, hostile %v: %s; again: go test "+
			"%s./protocol/decentllms -executions 1 -seed %d",
			x.w, x.e, x.f, x.p.Aggregate, x.hostile, fmt.Sprintf(format, args...), detector, x.seed)
	}
}

// campaign runs all executions once, on all processors; each test reads its own part of the ledger.
var campaign = sync.OnceValue(func() *ledger {
	parts := make([]*ledger, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range parts {
		l := &ledger{map[string]string{}, map[string]int{}}
		parts[k] = l
		wait.Go(func() {
			for i := k; i < *executions; i += len(parts) {
				x := drawn(*firstSeed + uint64(i))
				l.judge(x, x.play())
			}
		})
	}
	wait.Wait()
	for _, l := range parts[1:] {
		parts[0].add(l)
	}
	return parts[0]
})

func (l *ledger) add(other *ledger) {
	for label, why := range other.violated {
		l.violated[label] = cmp.Or(l.violated[label], why)
	}
	for what, n := range other.happened {
		l.happened[what] += n
	}
}

func (l *ledger) judge(x *trial, o outcome) {
	honest := 0
	for i := range x.e {
		if x.hostile[synod.NodeID(x.w+i)] == "" {
			honest++
		}
	}
	l.check("DL-3", len(o.held) == honest && honest >= x.e-x.f, x, "%d of %d honest evaluators reply", len(o.held),
		honest)
	marks := x.p.marks(x.cast(), x.f, pace)
	for _, h := range o.held {
		l.check("DL-8", h.at == marks.End(), x, "evaluator %d replies at tick %d, not %d", h.id, h.at, marks.End())
		first := o.held[0]
		if first, h := shared(first), shared(h); !reflect.DeepEqual(first, h) {
			a, _ := json.Marshal(first)
			b, _ := json.Marshal(h)
			l.check("DL-1", false, x, "one evaluator holds\n%s\nand another\n%s", a, b)
		}
		l.check("DL-2", h.answer == first.answer && totals(h) == totals(first), x, "%d replies %s %s, %d %s %s",
			first.id, first.answer, totals(first), h.id, h.answer, totals(h))
		l.check("DL-3", o.keys.Signer(0, run).Verify(h.id, ReplyBytes(h.answer), h.Signature), x,
			"the reply of %d is not signed", h.id)
		l.check("DL-3", (h.answer == synod.None) == (h.Undecided != ""), x, "evaluator %d replies %s and says %q", h.id,
			h.answer, h.Undecided)
		missing := 0
		for _, g := range h.Grades {
			missing += b2i(g.Bottom != "")
		}
		some := slices.ContainsFunc(h.Answers, func(a WorkerAnswer) bool { return a.Bottom == "" })
		l.check("DL-3", (h.answer != synod.None) == (some && missing <= x.f), x,
			"%d sent no grades, and evaluator %d replies %s", missing, h.id, h.answer)
		for _, s := range h.suspects {
			l.check("DL-1", x.hostile[s] == "twin", x, "honest %d is suspected", s)
		}
		l.scores(x, h)
		l.happened["decision"] += b2i(h.answer != synod.None)
		l.happened["⊥ by equivocation"] += b2i(slices.ContainsFunc(h.Answers,
			func(a WorkerAnswer) bool { return a.Bottom == "equivocated" }))
		l.happened["⊥ marks"] += b2i(slices.ContainsFunc(h.Grades,
			func(g EvaluatorGrades) bool { return g.Bottom == "unreadable" }))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shared returns the part of a record that must be equal for all honest evaluators.
func shared(h kept) Record {
	p := *h.Record
	p.Signature, p.Unsafe, p.Withheld, p.Evidence = nil, false, "", nil
	return p
}

func totals(h kept) (s string) {
	for _, a := range h.Answers {
		if a.Total != nil {
			s += fmt.Sprintf("%016x ", math.Float64bits(*a.Total))
		}
	}
	return s
}

// scores checks the guarantees for aggregated grades. An honest evaluator whose model fails counts
// as one of the f faulty ones.
func (l *ledger) scores(x *trial, h kept) {
	at, faults := 0, 0
	for _, g := range h.Grades {
		faults += b2i(g.Bottom != "" || x.hostile[g.By] != "")
	}
	for _, a := range h.Answers {
		if a.Bottom != "" {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, g := range h.Grades {
			if g.Bottom != "" {
				continue
			}
			l.check("DL-6", len(g.Grades) > at && g.Grades[at].Valid(), x, "invalid grades %v count", g)
			if x.hostile[g.By] == "" {
				total := 0.0
				for _, v := range g.Grades[at] {
					total += v
				}
				low, high = min(low, total), max(high, total)
			}
		}
		at++
		if a.Total == nil {
			continue
		}
		l.check("DL-5", *a.Total >= -1e-6 && *a.Total <= 100+1e-6 &&
			(a.Converged || x.p.Aggregate == "geometric-median"), x, "a total of %v", *a.Total)
		if x.p.Aggregate == "median-total" && faults <= x.f {
			l.happened["range"]++
			l.check("DL-4", *a.Total >= low && *a.Total <= high, x, "worker %d has %v outside the honest [%v, %v]",
				a.Of, *a.Total, low, high)
		}
	}
}

func report(t *testing.T, label string, occasions ...string) {
	t.Helper()
	l := campaign()
	if why := l.violated[label]; why != "" {
		t.Errorf("%s: %s", label, why)
	}
	for _, o := range occasions {
		t.Logf("%s: %s %d times in %d executions", label, o, l.happened[o], *executions)
		if l.happened[o] < *executions/200 {
			t.Errorf("%s happened %d times in %d executions: too few for a test", o, l.happened[o], *executions)
		}
	}
}

func TestDL1SameRecord(t *testing.T)  { report(t, "DL-1", "⊥ by equivocation") }
func TestDL2SameAnswer(t *testing.T)  { report(t, "DL-2", "decision") }
func TestDL3UserAccepts(t *testing.T) { report(t, "DL-3", "decision") }
func TestDL4MedianRange(t *testing.T) { report(t, "DL-4", "range") }
func TestDL5Converged(t *testing.T)   { report(t, "DL-5", "decision") }
func TestDL6WholeMarks(t *testing.T)  { report(t, "DL-6", "⊥ marks") }
func TestDL8SameTick(t *testing.T)    { report(t, "DL-8", "⊥ by equivocation") }
