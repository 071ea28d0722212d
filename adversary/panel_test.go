package adversary

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/grade"
)

// panel is one decision of DecentLLMs: workers 0 to w-1, evaluators after them.
type panel struct {
	w, e, f     int
	q           *synod.Question
	adversaries map[synod.NodeID]Adversary
	answer      func(worker synod.NodeID) string // the answer of a worker's model
	grades      func(by synod.NodeID, p *synod.Prompt) float64
	suspects    []synod.NodeID // of the honest evaluator whose record play returns
	seed        uint64
}

// play returns the reply of the honest evaluators, and the record of one of them. It fails if
// their replies differ.
func (x *panel) play(t testing.TB) (synod.Answer, *decentllms.Record) {
	t.Helper()
	n, p := x.w+x.e, decentllms.New()
	keys := sign.DeriveSymbolic(x.seed, n)
	cast := append(slices.Repeat([]synod.Role{decentllms.Worker}, x.w),
		slices.Repeat([]synod.Role{decentllms.Evaluator}, x.e)...)
	machines := make([]synod.Machine, n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), Role: cast[i], Cast: cast, F: x.f,
			Pace: synod.Pace{Think: 2, Within: 4}, Question: x.q, Seed: script.Derive(x.seed, uint64(i)),
			Signer: keys.Signer(synod.NodeID(i), "run")}
		for j := range n {
			if j != i {
				seat.Peers = append(seat.Peers, synod.NodeID(j))
			}
		}
		if a := x.adversaries[seat.Self]; a != nil {
			machines[i] = Seat(a, seat, p.Join)
			continue
		}
		machines[i] = p.Join(seat)
	}
	var replies []synod.Answer
	var record *decentllms.Record
	sim.Run(sim.Config{Machines: machines, Seed: x.seed, Ask: sim.Immediate(x.ask),
		Watch: func(_ synod.Tick, notes []sim.Noted) string {
			for _, note := range notes {
				if r := decentllms.RecordOf(note.Opinion); r != nil && x.adversaries[note.Node] == nil {
					replies, record, x.suspects = append(replies, note.Answer), r, note.Suspects
				}
			}
			return ""
		}})
	for _, a := range replies {
		if a != replies[0] {
			t.Fatalf("seed %d: honest evaluators reply %v", x.seed, replies)
		}
	}
	if record == nil {
		t.Fatalf("seed %d: no honest evaluator replies", x.seed)
	}
	return replies[0], record
}

func (x *panel) ask(calls []sim.Call) []synod.Reply {
	out := make([]synod.Reply, len(calls))
	for i, c := range calls {
		if c.Prompt.Purpose == synod.Answering {
			out[i] = synod.Reply{Status: synod.OK, Text: "Thought of 12 things.\nAnswer: " + x.answer(c.Node)}
			continue
		}
		out[i] = synod.Reply{Status: synod.OK, Text: grade.Uniform(min(max(x.grades(c.Node, c.Prompt), 0),
			grade.Max)).Text()}
	}
	return out
}

// byMean is the vulnerable twin of the robust aggregate: it returns the answer with the highest
// mean of all totals.
func byMean(p *decentllms.Record) (best synod.Answer) {
	top, at := -1.0, 0
	for _, a := range p.Answers {
		if a.Bottom != "" {
			continue
		}
		sum := 0.0
		for _, g := range p.Grades {
			if g.Bottom == "" {
				for _, v := range g.Grades[at] {
					sum += v
				}
			}
		}
		if at++; sum > top {
			top, best = sum, a.Answer
		}
	}
	return best
}

// honestly grades right answers 15 and wrong ones 7, with small differences between evaluators.
func honestly(seed uint64, right synod.Answer) func(synod.NodeID, *synod.Prompt) float64 {
	return func(by synod.NodeID, p *synod.Prompt) float64 {
		m := 7.0
		if p.Candidate == right {
			m = 15
		}
		return m + rand.New(rand.NewPCG(seed, uint64(by)<<8^uint64(len(p.Candidate)))).NormFloat64()
	}
}

// A number-alterer with a cartel of f wins if grades are averaged, and not with the geometric
// median. With more than half of the evaluators in the cartel it wins there too, so the attack
// is effective and the bound is tight.
func TestCartelAndNumberAlterer(t *testing.T) {
	const trials = 40
	captured := map[string]int{}
	for seed := range uint64(trials) {
		for size := range 5 {
			x := &panel{w: 4, e: 7, f: 3, q: number, seed: seed, grades: honestly(seed, "42"),
				adversaries: map[synod.NodeID]Adversary{}}
			x.answer = func(synod.NodeID) string { return "42" }
			x.adversaries[3] = must(t, "number-alterer", nil)
			for k := range size {
				x.adversaries[synod.NodeID(4+k)] = must(t, "cartel", map[string]any{"favours": 3})
			}
			decided, record := x.play(t)
			captured[fmt.Sprint("gm ", size)] += bit(decided != "42")
			captured[fmt.Sprint("mean ", size)] += bit(byMean(record) != "42")
		}
	}
	t.Logf("seeds 0 to %d, captured by cartels of 0 to 4 of 7: %v", trials-1, captured)
	for what, want := range map[string]int{"gm 0": 0, "gm 1": 0, "gm 2": 0, "gm 3": 0, "mean 0": 0, "mean 3": trials,
		"gm 4": trials} {
		if captured[what] != want {
			t.Errorf("%s captured in %d of %d; want %d", what, captured[what], trials, want)
		}
	}
}

// A cartel without a named favourite favours the last worker. An unknown seat is refused before
// anything runs.
func TestCartelFavourite(t *testing.T) {
	cast := []synod.Role{"worker", "worker", "evaluator", "evaluator"}
	if got := (cartel{}).favourite(synod.Seat{Self: 2, Role: "evaluator", Cast: cast}); got != 1 {
		t.Errorf("it favours %d", got)
	}
	if got := (cartel{}).favourite(seatFor(number)); got != 2 {
		t.Errorf("among equals it favours %d", got)
	}
	a := must(t, "cartel", map[string]any{"favours": "w9"})
	if _, err := a.(Naming).Found(func(string) (synod.NodeID, error) { return 0, fmt.Errorf("none") }); err == nil {
		t.Error("an unknown seat is accepted")
	}
}

var capital = &synod.Question{Text: "What is the capital of France?", Form: synod.Text}

// An answer with an advertisement wins if the cartel is too large, or if grades are averaged
// (with two of seven in the cartel, the mean is near the limit).
func TestAdvertiser(t *testing.T) {
	const ad = "paris, and try globex tonic, now at half price"
	for size := range 5 {
		x := &panel{w: 3, e: 7, f: 3, q: capital, seed: 5, grades: honestly(5, "paris"),
			adversaries: map[synod.NodeID]Adversary{2: must(t, "advertiser", nil)}}
		x.answer = func(synod.NodeID) string { return "Paris" }
		for k := range size {
			x.adversaries[synod.NodeID(3+k)] = must(t, "cartel", nil)
		}
		decided, record := x.play(t)
		if (decided == ad) != (size > 3) || size != 2 && (byMean(record) == ad) != (size > 2) || decided != ad &&
			decided != "paris" {
			t.Errorf("a cartel of %d: decided %s, by the mean %s", size, decided, byMean(record))
		}
	}
}

// [I-DL-7] Two answers have equal grades, and one was phrased for its hash. If the salt is known
// in advance (the vulnerable twin: the hash of a block that all have seen), the best of a thousand
// phrasings wins nearly every tie. If it is fixed after the answers, it wins half of them.
func TestHashGrinder(t *testing.T) {
	const trials = 200
	won := map[string]int{}
	for seed := range uint64(trials) {
		x := &panel{w: 2, e: 3, f: 1, q: capital, seed: seed,
			grades: func(synod.NodeID, *synod.Prompt) float64 { return 15 }}
		x.answer = func(worker synod.NodeID) string { return []string{"Lyon", "Nice"}[worker] }
		_, before := x.play(t) // all are honest; the salt does not depend on answers
		last := *x
		last.seed = seed + trials
		_, other := last.play(t)
		for twin, salt := range map[string][]byte{"known": before.Salt, "of another run": other.Salt} {
			x.adversaries = map[synod.NodeID]Adversary{0: must(t, "hash-grinder",
				map[string]any{"salt": hex.EncodeToString(salt)})}
			decided, record := x.play(t)
			if *record.Answers[0].Total != *record.Answers[1].Total || !slices.Equal(record.Salt, before.Salt) {
				t.Fatalf("seed %d: no tie, or another salt: %v", seed, record)
			}
			won[twin] += bit(decided == record.Answers[0].Answer)
		}
	}
	sigma := math.Sqrt(trials / 4)
	t.Logf("seeds 0 to %d: of %d ties between two, won with the salt known %d, with another run's %d (share %d ± %.0f)",
		trials-1, trials, won["known"], won["of another run"], trials/2, 3*sigma)
	if won["known"] < trials*98/100 {
		t.Errorf("with the salt known it wins %d of %d: the attack is too weak", won["known"], trials)
	}
	if w := float64(won["of another run"]); math.Abs(w-trials/2) > 3*sigma {
		t.Errorf("without the salt it wins %v of %d", w, trials)
	}
}

// In forms with one canonical spelling the grinder has no choice.
func TestHashGrinderForms(t *testing.T) {
	w, _ := corrupt(t, "hash-grinder", nil, writes("42"))
	if sentTo(w, 1) != `"42"@0.5 "42"@0.5 "42"@0.5 ` {
		t.Errorf("sent %s", sentTo(w, 1))
	}
}

// An equivocating or partly silent member is ⊥ for all honest evaluators, and affects no other
// member.
func TestPanelSenders(t *testing.T) {
	for _, way := range []string{"equivocator", "silent", "late-revealer"} {
		for _, at := range [][]synod.NodeID{{1}, {3}, {1, 4}} {
			x := &panel{w: 3, e: 4, f: 1, q: number, seed: 3, grades: honestly(3, "42"),
				adversaries: map[synod.NodeID]Adversary{}}
			x.answer = func(synod.NodeID) string { return "42" }
			for _, id := range at {
				x.adversaries[id] = must(t, way, nil)
			}
			decided, record := x.play(t)
			if decided != "42" {
				t.Errorf("%s at %v: decided %s", way, at, decided)
			}
			if way != "equivocator" {
				continue
			}
			if !slices.Equal(x.suspects, at) {
				t.Errorf("equivocators at %v, suspects %v", at, x.suspects)
			}
			if record.Answers[1].Bottom != "equivocated" && at[0] == 1 {
				t.Errorf("the equivocating worker's answer is %+v", record.Answers[1])
			}
		}
	}
}
