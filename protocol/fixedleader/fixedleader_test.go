package fixedleader

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/protocol/leader"
)

var executions = flag.Int("executions", 2000, "seeded executions of TestSilentAtWorst; make campaign plays more")

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		*executions = min(*executions, 500)
	}
	goleak.VerifyTestMain(m)
}

// trial is one decision of members that grade alike: the grade of an answer is its digit.
type trial struct {
	p       *FixedLeader
	f       int
	answers string // by seat
	level   bool   // all answers have the same grade
	// the answer of a leader after objections; None: its call fails
	refines synod.Answer
	seat    map[synod.NodeID]func(synod.Seat) synod.Machine         // machines of Byzantine members
	fails   func(synod.NodeID, *synod.Prompt) (status synod.Status) // of a call; nil: none
	faults  sim.Faults
}

type outcome struct {
	notes []sim.Noted
	last  map[synod.NodeID]*synod.Opinion // of honest members
	calls []*synod.Prompt
	keys  *sign.Derived
}

const run = "run"

func (x *trial) play() *outcome {
	n := len(x.answers)
	o := &outcome{last: map[synod.NodeID]*synod.Opinion{}, keys: sign.DeriveSymbolic(1, n)}
	var all []synod.NodeID
	for i := range n {
		all = append(all, synod.NodeID(i))
	}
	machines := make([]synod.Machine, n)
	for i, id := range all {
		s := synod.Seat{Self: id, Peers: slices.Delete(slices.Clone(all), i, i+1), F: x.f,
			Pace: synod.Pace{Think: 2, Within: 4}, Question: &synod.Question{Text: "?", Form: synod.Number},
			Seed: script.Derive(1, uint64(i)), Signer: o.keys.Signer(id, run)}
		if other := x.seat[id]; other != nil {
			machines[i] = other(s)
		} else {
			machines[i] = x.p.Join(s)
		}
	}
	sim.Run(sim.Config{Machines: machines, Faults: x.faults, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, c := range calls {
			o.calls = append(o.calls, c.Prompt)
			out[i] = x.reply(c)
		}
		return out
	}), Watch: func(_ synod.Tick, notes []sim.Noted) string {
		o.notes = append(o.notes, notes...)
		for _, note := range notes {
			if x.seat[note.Node] == nil {
				o.last[note.Node] = note.Opinion
			}
		}
		return ""
	}})
	return o
}

func (x *trial) reply(c sim.Call) synod.Reply {
	if x.fails != nil {
		if s := x.fails(c.Node, c.Prompt); s != "" {
			return synod.Reply{Status: s}
		}
	}
	r := synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(x.answers[c.Node : c.Node+1])}
	switch c.Prompt.Purpose {
	case synod.Refining:
		if r.Answer = x.refines; x.refines == synod.None {
			return synod.Reply{Status: synod.Timeout}
		}
	case grade.One:
		mark := float64(c.Prompt.Candidate[0] - '0')
		if x.level {
			mark = 10
		}
		r.Answer, r.Text = "", grade.Uniform(mark).Text()
	}
	return r
}

func (o *outcome) decided(t *testing.T, a synod.Answer, round int) {
	t.Helper()
	for id, last := range o.last {
		if last.Answer != a || a != synod.None && leader.RecordOf(last).Certificate.Round != round {
			t.Errorf("n%d: %s; want %s in round %d", id, last, a, round)
		}
	}
}

func silent(synod.Seat) synod.Machine { return silentMachine{} }

type silentMachine struct{}

func (silentMachine) Step(synod.Tick, synod.Event) []synod.Effect {
	return []synod.Effect{synod.Decide{}}
}

// [LB-2] If the leader's answer is better than those of half of the others, it is decided at once.
// A leader whose proposal is rejected is shown the other answers and proposes again, three times in
// all; then the next seat leads.
func TestDebate(t *testing.T) {
	for _, c := range []struct {
		answers string
		refines synod.Answer
		answer  synod.Answer
		round   int
	}{
		{"54321", "", "5", 1},  // the best
		{"32451", "", "3", 1},  // the third of five: not the best, but a majority accepts it
		{"12345", "4", "4", 2}, // rejected, then improved
		{"12345", "", "3", 7},  // not improved: 1 and 2 lead three rounds each, then 3 leads
		{"13245", "3", "3", 2},
	} {
		x := &trial{p: New(), f: 2, answers: c.answers, refines: c.refines}
		o := x.play()
		o.decided(t, c.answer, c.round)
		for id, last := range o.last {
			if !x.p.proves(leader.RecordOf(last).Certificate, last.Answer, 5, 2, o.keys.Verifier(run)) {
				t.Errorf("n%d has no proof", id)
			}
			// [I-LB-4]
			worse := last.Answer < synod.Answer(c.answers[id:id+1])
			if worse != slices.Contains(leader.RecordOf(last).Better, id) {
				t.Errorf("%s: n%d: %s", c.answers, id, last)
			}
		}
		if most := x.p.Calls(make([]int, 5)); len(o.calls) > most+6 { // its own call may fail and be repeated
			t.Errorf("%d calls; %d are planned", len(o.calls), most)
		}
	}
}

// Half of the members are not a majority: the votes of two of four do not decide.
func TestHalfIsNoMajority(t *testing.T) {
	// The first leader's 2 gets the votes of 2 and 1, the second's 1 only its own, the third's 3 those of 3, 2 and 1.
	(&trial{p: New(), f: 1, answers: "2134"}).play().decided(t, "3", 7)
}

// The planned calls contain one more answer of every leader in each of its rounds except the first. A debate in which
// nobody votes for the proposal of another takes all of them.
func TestPlannedRefinements(t *testing.T) {
	for _, c := range []struct{ leaders, rounds, want int }{{1, 1, 0}, {1, 3, 2}, {2, 2, 2}, {2, 3, 4}} {
		p := New()
		p.Leaders, p.Rounds = c.leaders, c.rounds
		o := (&trial{p: p, answers: "12345", refines: "1"}).play()
		o.decided(t, synod.None, 0)
		refined := 0
		for _, call := range o.calls {
			if call.Purpose == synod.Refining {
				refined++
			}
		}
		planned := p.Calls(make([]int, 5)) - p.Cost(5, p.MaxRounds(), p.Leaders)
		if refined != c.want || planned != c.want || len(o.calls) > p.Calls(make([]int, 5)) {
			t.Errorf("%d leaders, %d rounds each: %d calls, of which leaders answer again in %d; %d and %d are planned",
				c.leaders, c.rounds, len(o.calls), refined, p.Calls(make([]int, 5)), planned)
		}
	}
}

// Under exact: paper a member accepts a proposal only if it is better than its own answer;
// otherwise also if it is equal.
func TestEqualMarks(t *testing.T) {
	for _, exact := range []bool{false, true} {
		p := New()
		if exact {
			p.Paper()
		}
		x := &trial{p: p, f: 2, answers: "12333"}
		x.level = true
		if exact {
			x.play().decided(t, "3", 7) // three members hold it, and no answer is better
		} else {
			x.play().decided(t, "1", 1)
		}
	}
}

// In a debate the leader is shown the answers of the members that did not vote for it.
func TestObjections(t *testing.T) {
	o := (&trial{p: New(), f: 2, answers: "21345", refines: "5"}).play()
	at := slices.IndexFunc(o.calls, func(p *synod.Prompt) bool { return p.Purpose == synod.Refining })
	if got := fmt.Sprint(o.calls[at]); got != `refine own "2" · "3" at unreadable · "4" at unreadable · "5" at unreadable` {
		t.Error(got)
	}
	o.decided(t, "5", 2)
}

// [LB-2] A silent leader costs its three rounds, as in Fig. 7.
func TestSilentLeaders(t *testing.T) {
	for k := range 3 {
		x := &trial{p: New(), f: 2, answers: "55555", seat: map[synod.NodeID]func(synod.Seat) synod.Machine{}}
		for i := range k {
			x.seat[synod.NodeID(i)] = silent
		}
		x.play().decided(t, "5", 3*k+1)
	}
}

// [LB-2] The guarantee: if messages are in time and at most f members become silent, at any tick,
// there are no two different decisions, and each decision has a proof.
func TestSilentAtWorst(t *testing.T) {
	decided := 0
	for seed := range uint64(*executions) {
		r := rand.New(rand.NewPCG(seed, 0xf1))
		n := 3 + r.IntN(5)
		x := &trial{p: New(), f: (n - 1) / 2, level: r.IntN(3) == 0}
		for range n {
			x.answers += string(rune('1' + r.IntN(5)))
		}
		x.p.Propose = []string{leader.Own, leader.Best, leader.Quorum}[r.IntN(3)]
		x.refines = synod.Answer("12345 "[r.IntN(6):][:1])
		if x.refines == " " {
			x.refines = synod.None
		}
		x.faults.Delay.Max = synod.Tick(r.IntN(2))
		for _, i := range r.Perm(n)[:r.IntN(x.f+1)] {
			x.faults.Crashes = append(x.faults.Crashes, sim.Crash{Node: synod.NodeID(i), At: synod.Tick(r.IntN(80))})
		}
		x.fails = func(synod.NodeID, *synod.Prompt) synod.Status {
			return []synod.Status{"", "", "", "", "", "", "", synod.Timeout}[r.IntN(8)]
		}
		o, held := x.play(), synod.None
		for id := range synod.NodeID(n) {
			last := o.last[id]
			if last == nil || leader.RecordOf(last).Certificate == nil {
				continue
			}
			decided++
			if held == synod.None {
				held = last.Answer
			}
			if last.Answer != held || !x.p.proves(leader.RecordOf(last).Certificate, last.Answer, n, x.f,
				o.keys.Verifier(run)) {
				t.Fatalf("seed %d, answers %s, crashes %v: n%d: %s, another %s", seed, x.answers, x.faults.Crashes, id,
					last, held)
			}
		}
	}
	t.Logf("%d decisions", decided)
}

// If no leader gets a majority, there is no decision and no answer.
func TestUndecided(t *testing.T) {
	p := New()
	p.Leaders = 1
	o := (&trial{p: p, answers: "123", refines: "1"}).play()
	o.decided(t, synod.None, 0)
	// Each member notes one opinion of every round, and no record where there is nothing to record.
	rounds := map[synod.NodeID][]int{}
	for _, note := range o.notes {
		if rounds[note.Node] = append(rounds[note.Node], note.Opinion.Round); note.Opinion.Record != nil {
			t.Errorf("n%d has the record %s", note.Node, note.Opinion)
		}
	}
	for id := range synod.NodeID(3) {
		if !slices.Equal(rounds[id], []int{0, 1, 2, 3}) {
			t.Errorf("n%d notes opinions of the rounds %v", id, rounds[id])
		}
	}
	// Members whose models fail do not vote: a failure is no vote.
	x := &trial{p: p, answers: "345", fails: func(id synod.NodeID, q *synod.Prompt) synod.Status {
		if q.Purpose == grade.One || id == 0 {
			return synod.Timeout
		}
		return ""
	}}
	x.play().decided(t, synod.None, 0)
}

// faces is two machines with one key, each for another part of the members.
type faces struct {
	two  [2]synod.Machine
	says [2]synod.Answer
}

func (d *faces) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for i, face := range d.two {
		mine := e
		if x, ok := e.(synod.Expired); ok {
			if int(x.ID)%2 != i {
				continue
			}
			mine = synod.Expired{ID: x.ID / 2}
		}
		for pending := []synod.Event{mine}; len(pending) > 0; pending = pending[1:] {
			for _, x := range face.Step(now, pending[0]) {
				switch x := x.(type) {
				case synod.Send:
					to := slices.DeleteFunc(slices.Clone(x.To), func(id synod.NodeID) bool { return int(id)%2 != i })
					out = append(out, synod.Send{To: to, Message: x.Message})
				case synod.Alarm:
					out = append(out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(i), At: x.At})
				case synod.Consult:
					pending = append(pending, synod.Answered{ID: x.ID,
						Reply: &synod.Reply{Status: synod.OK, Typed: true, Answer: d.says[i],
							Text: grade.Uniform(20).Text()}})
				case synod.Decide:
				default:
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// A leader that makes different proposals to two parts of the members splits the decision, because
// a majority in one phase does not prevent that. It leaves evidence with all [I-LB-2].
func TestEquivocatingLeaderSplits(t *testing.T) {
	x := &trial{p: New(), f: 1, answers: "55555", seat: map[synod.NodeID]func(synod.Seat) synod.Machine{}}
	x.p.Propose = leader.Own
	x.answers = "12121" // seats 1 and 3 hold 2, the others 1
	x.seat[0] = func(s synod.Seat) synod.Machine {
		return &faces{[2]synod.Machine{x.p.Join(s), x.p.Join(s)}, [2]synod.Answer{"1", "2"}}
	}
	o := x.play()
	held := map[synod.Answer]int{}
	for id, last := range o.last {
		held[last.Answer]++
		var e broadcast.Evidence
		if len(leader.RecordOf(last).Evidence) != 1 || e.UnmarshalBinary(leader.RecordOf(last).Evidence[0]) != nil ||
			!e.Verify(o.keys.Verifier(run)) || e.Sender != 0 {
			t.Errorf("n%d has no evidence: %s", id, last)
		}
		if !x.p.proves(leader.RecordOf(last).Certificate, last.Answer, 5, 1, o.keys.Verifier(run)) {
			t.Errorf("n%d has no proof", id)
		}
	}
	if held["1"] != 2 || held["2"] != 2 {
		t.Errorf("held: %v; the decision is not split", held)
	}
}

func TestDeterminism(t *testing.T) {
	fresh := func() *outcome { return (&trial{p: New(), f: 2, answers: "21345", refines: "4"}).play() }
	first := fresh()
	for range 49 {
		if !reflect.DeepEqual(first.notes, fresh().notes) {
			t.Fatal("two runs differ")
		}
	}
}

func TestSuits(t *testing.T) {
	for _, c := range []struct {
		n, f, leaders int
		want          string
	}{
		{5, 2, 3, ""}, {5, 3, 4, "at most f = 2"}, {5, 2, 2, "give at least 3"},
		{5, 0, 1, ""}, {5, -1, 4, "f is -1"},
		{128, 0, 1, ""}, {129, 0, 1, "128 are the most"},
	} {
		p := New()
		p.Leaders = c.leaders
		err := p.CheckCast(make([]synod.Role, c.n), c.f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// [LB-3] The rank that a majority accepts in Fig. 6.
func TestRank(t *testing.T) {
	for n, want := range map[int]int{3: 2, 5: 3, 7: 4, 15: 8} {
		if Rank(n) != want {
			t.Errorf("rank of %d is %d, want %d", n, Rank(n), want)
		}
	}
	p := New()
	p.Propose = leader.Quorum
	(&trial{p: p, f: 2, answers: "97531"}).play().decided(t, "5", 1)
}

// proves reports whether a certificate proves a decision of n seats.
func (p *FixedLeader) proves(c *leader.SignedDecision, a synod.Answer, n, f int, v synod.Verifier) bool {
	r := p.rules(n)
	return r.Proves(c, a, n, f, v)
}
