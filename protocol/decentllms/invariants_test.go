package decentllms

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	executions = flag.Int("executions", 20_000, "seeded executions")
	firstSeed  = flag.Uint64("seed", 1, "the first execution's seed")
)

// ledger is the first violation of each invariant, and how often what they are
// about did happen.
type ledger struct {
	violated map[string]string
	happened map[string]int
}

func (l *ledger) check(label string, ok bool, x *trial, format string, args ...any) {
	if !ok && l.violated[label] == "" {
		l.violated[label] = fmt.Sprintf("%d workers, %d evaluators, f = %d, %s, hostile %v: %s; again: go test ./protocol/decentllms -executions 1 -seed %d",
			x.w, x.e, x.f, x.p.Aggregate, x.hostile, fmt.Sprintf(format, args...), x.seed)
	}
}

var campaign = sync.OnceValue(func() *ledger {
	l := &ledger{map[string]string{}, map[string]int{}}
	for i := range uint64(*executions) {
		x := drawn(*firstSeed + i)
		l.judge(x, x.play())
	}
	return l
})

func (l *ledger) judge(x *trial, o outcome) {
	honest := 0
	for i := range x.e {
		if x.hostile[synod.NodeID(x.w+i)] == "" {
			honest++
		}
	}
	l.check("DL-3", len(o.held) == honest && honest >= x.e-x.f, x, "%d of %d honest evaluators reply", len(o.held), honest)
	for _, h := range o.held {
		first := o.held[0]
		l.check("DL-1", said(h) == said(first), x, "evaluator %d holds\n%s\nand %d\n%s", first.id, said(first), h.id, said(h))
		l.check("DL-2", h.answer == first.answer && totals(h) == totals(first), x, "%d replies %s %s, %d %s %s", first.id, first.answer, totals(first), h.id, h.answer, totals(h))
		l.check("DL-3", o.keys.Signer(0, run).Verify(h.id, ReplyBytes(h.answer), h.Signature), x, "the reply of %d is not signed", h.id)
		l.check("DL-3", (h.answer == synod.None) == (h.Undecided != ""), x, "evaluator %d replies %s and says %q", h.id, h.answer, h.Undecided)
		for _, s := range h.Suspects {
			l.check("DL-1", x.hostile[s] == "twin", x, "honest %d is suspected", s)
		}
		l.scores(x, h)
		l.happened["decision"] += b2i(h.answer != synod.None)
		l.happened["⊥ by equivocation"] += b2i(slices.ContainsFunc(h.Answers, func(a synod.PanelAnswer) bool { return a.Bottom == "equivocated" }))
		l.happened["⊥ marks"] += b2i(slices.ContainsFunc(h.Grades, func(g synod.PanelGrades) bool { return g.Bottom == "unreadable" }))
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// said is all of a record that honest evaluators must hold alike.
func said(h kept) string {
	p := *h.Panel
	p.Signature, p.Suspects, p.Unsafe = nil, nil, false
	b, _ := json.Marshal(p)
	return string(b)
}

func totals(h kept) (s string) {
	for _, a := range h.Answers {
		if a.Total != nil {
			s += fmt.Sprintf("%016x ", math.Float64bits(*a.Total))
		}
	}
	return s
}

// scores checks what is promised of aggregated marks.
func (l *ledger) scores(x *trial, h kept) {
	at := 0
	for _, a := range h.Answers {
		if a.Bottom != "" {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, g := range h.Grades {
			if g.Bottom != "" {
				continue
			}
			l.check("DL-6", len(g.Grades) > at && g.Grades[at].Valid(), x, "marks %v count", g)
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
		l.check("DL-5", *a.Total >= -1e-6 && *a.Total <= 100+1e-6 && (a.Converged || x.p.Aggregate == "geometric-median"), x, "a total of %v", *a.Total)
		if x.p.Aggregate == "median-total" {
			l.happened["range"]++
			l.check("DL-4", *a.Total >= low && *a.Total <= high, x, "worker %d has %v outside the honest [%v, %v]", a.Of, *a.Total, low, high)
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
			t.Errorf("%s happened %d times in %d executions: too few to mean much", o, l.happened[o], *executions)
		}
	}
}

func TestDL1SameRecord(t *testing.T)  { report(t, "DL-1", "⊥ by equivocation") }
func TestDL2SameAnswer(t *testing.T)  { report(t, "DL-2", "decision") }
func TestDL3UserAccepts(t *testing.T) { report(t, "DL-3", "decision") }
func TestDL4MedianRange(t *testing.T) { report(t, "DL-4", "range") }
func TestDL5Converged(t *testing.T)   { report(t, "DL-5", "decision") }
func TestDL6WholeMarks(t *testing.T)  { report(t, "DL-6", "⊥ marks") }

// [I-DL-6] Signed marks that miss one, have one more, or one out of its range are ⊥.
func TestMarksDecode(t *testing.T) {
	answers := []answered{{}, {PanelAnswer: synod.PanelAnswer{Bottom: "silent"}}, {}}
	good := marks{grades: []*synod.Grades{{1, 2, 3, 4, 5}, nil, {20, 0, 0, 0, 20}}}
	b := good.encode()
	var got marks
	if err := got.decode(b, answers); err != nil || *got.grades[2] != *good.grades[2] || len(b) > marksSize(3) {
		t.Fatal(got, err)
	}
	bad := map[string][]byte{
		"extra": append(slices.Clone(b), 0), "for ⊥": (&marks{grades: []*synod.Grades{{}, {}, {}}}).encode(),
		"missing": (&marks{grades: []*synod.Grades{{}, nil, nil}}).encode(), "one too few": (&marks{grades: []*synod.Grades{{}, nil}}).encode(),
	}
	for _, x := range []float64{-0.1, 20.1, math.NaN(), math.Inf(1)} {
		bad[fmt.Sprint(x)] = (&marks{grades: []*synod.Grades{{0, 0, x}, nil, {}}}).encode()
	}
	for i := range b {
		bad[fmt.Sprint("cut at ", i)] = b[:i]
	}
	for what, b := range bad {
		if got.decode(b, answers) == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

// [I-DL-7] Ties are cut by a salt that workers cannot know: a worker that tries a
// thousand answers against every salt it can think of wins no more than its share.
func TestDL7Grinding(t *testing.T) {
	const trials, k = 300, 5
	wins := 0
	for seed := range uint64(trials) {
		// Worker 0 has ground its answer for the salt of the last run; the others
		// answer honestly, all differently.
		last := saltOf(seed)
		best, hash := synod.None, []byte(nil)
		for v := range 1000 {
			a := synod.Answer(fmt.Sprint(1000 + v))
			if h := salted(a, last); slices.Compare(h, hash) > 0 {
				best, hash = a, h
			}
		}
		record := &synod.Panel{Salt: saltOf(seed + trials)}
		total := 75.0
		for i := range k {
			a := synod.Answer(fmt.Sprint(i))
			if i == 0 {
				a = best
			}
			record.Answers = append(record.Answers, synod.PanelAnswer{Of: synod.NodeID(i), Answer: a, Total: &total})
		}
		if got, _ := new(member).best(record); got == best {
			wins++
		}
	}
	sigma := math.Sqrt(trials * (1.0 / k) * (1 - 1.0/k))
	if w := float64(wins); w > trials/k+3*sigma || w < trials/k-3*sigma {
		t.Errorf("the grinder wins %d of %d ties among %d; its share is %d ± %.0f", wins, trials, k, trials/k, 3*sigma)
	}
}

// saltOf is the salt of another run.
func saltOf(seed uint64) []byte {
	x := &trial{w: 1, e: 3, f: 1, p: New(), seed: seed}
	return x.play().held[0].Salt
}

// [I-DL-7] The salt is not a function of anything that was said before answers were
// committed: two councils that differ in their evaluators' seeds only have two salts.
func TestSaltIsTheEvaluators(t *testing.T) {
	if slices.Equal(saltOf(1), saltOf(2)) {
		t.Error("two runs, one salt")
	}
	if !slices.Equal(saltOf(1), saltOf(1)) {
		t.Error("one run, two salts")
	}
}

// [I-DL-8] A decision takes as long whatever the workers do (Fig. 7's flat line).
func TestDL8Latency(t *testing.T) {
	var want synod.Tick
	for bad := range 5 {
		for _, way := range []string{"twin", "silent", "garbage", "selective"} {
			x := &trial{w: 5, e: 4, f: 1, p: New(), seed: 3, hostile: map[synod.NodeID]string{}}
			for i := range bad {
				x.hostile[synod.NodeID(i)] = way
			}
			o := x.play()
			if want == 0 {
				want = o.ticks
			}
			if o.ticks != want || len(o.held) != 4 || o.held[0].answer == synod.None {
				t.Errorf("%d %s workers: %d ticks, not %d, and %v", bad, way, o.ticks, want, o.held)
			}
		}
	}
}

// Calls are within what is planned, an answer asked for again aside.
func TestCalls(t *testing.T) {
	for seed := range uint64(50) {
		x := drawn(seed)
		clear(x.hostile)
		if o := x.play(); o.calls > 2*x.p.Calls(make([]int, x.w+x.e)) {
			t.Errorf("seed %d: %d calls", seed, o.calls)
		}
	}
}

// Fig. 8 in small: a cartel within the bound does not win, one above it does. The
// honest marks grow with the answer, so 4 is the best and the cartel's 1 the worst.
func TestCartel(t *testing.T) {
	for _, aggregate := range []string{"geometric-median", "median-total", "coordinate-median"} {
		for colluders := range 5 {
			x := &trial{w: 4, e: 3 + colluders, p: New(), hostile: map[synod.NodeID]string{}, seed: uint64(colluders)}
			x.p.Aggregate = aggregate
			x.f = min(colluders, (x.e+1)/2-1)
			x.grade = func(_ synod.NodeID, a synod.Answer) synod.Grades {
				m := float64(a[0]-'0') * 3
				return synod.Grades{m, m, m, m, m}
			}
			for i := range colluders {
				x.hostile[synod.NodeID(x.w+3+i)] = "cartel"
			}
			h := x.play().held[0]
			if want := map[bool]synod.Answer{false: "4", true: "1"}[colluders > 2]; h.answer != want {
				t.Errorf("%s, 3 honest, %d colluders: replies %s, want %s", aggregate, colluders, h.answer, want)
			}
		}
	}
}

// A committee that is too small for f is refused, with the largest f.
func TestSuits(t *testing.T) {
	x := &trial{w: 2, e: 5, p: New()}
	if err := x.p.Suits(x.cast(), 2); err != nil {
		t.Error(err)
	}
	if err := x.p.Suits(x.cast(), 3); err == nil || err.Error() != "decentllms: f is 3; with 5 evaluators geometric-median bears at most f = 2" {
		t.Error(err)
	}
	if x.p.Suits([]synod.Role{Evaluator}, 0) == nil || x.p.Suits([]synod.Role{Worker}, 0) == nil {
		t.Error("a council without one of the roles is taken")
	}
}

// One seed, one record, fifty times.
func TestFiftyRuns(t *testing.T) {
	x := drawn(12)
	record := func() (s string) {
		for _, h := range x.play().held {
			s += said(h) + string(binary.BigEndian.AppendUint64(nil, uint64(len(h.Signature))))
		}
		return s
	}
	first := record()
	for range 50 {
		if record() != first {
			t.Fatal("one seed, two records")
		}
	}
}
