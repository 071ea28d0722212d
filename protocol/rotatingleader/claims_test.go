package rotatingleader

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/leader"
)

// [I-LB-2] Under synchrony, a leader that makes different proposals to honest members leaves
// evidence with every honest member, which a third party can verify. No honest member is ever
// accused; the whole campaign checks that.
func TestILB2(t *testing.T) {
	report(t, "I-LB-2", "equivocators caught")
	var split atomic.Int64
	many(*executions, func(seed uint64) {
		x := &trial{n: 4, f: 1, p: New(), hostile: map[synod.NodeID]string{0: "two-faced"}, lenient: true, seed: seed}
		x.faults.Delay.Max = synod.Tick(seed % 2)
		o := x.play()
		told := map[string]bool{}
		for _, h := range o.held {
			if o.shown[h.id] != "" {
				told[o.shown[h.id]] = true
			}
		}
		if len(told) < 2 {
			return
		}
		split.Add(1)
		for _, h := range o.held {
			at := slices.IndexFunc(o.notes, func(x sim.Noted) bool { return x.Node == h.id && x.Round == 1 })
			if first := o.notes[at]; !slices.Equal(first.Suspects, []synod.NodeID{0}) ||
				len(leader.RecordOf(first.Opinion).Evidence) != 1 {
				t.Errorf("seed %d: n%d has no evidence: %s", seed, h.id, first.Opinion)
			}
		}
	})
	if split.Load() < int64(*executions/20) {
		t.Errorf("the leader made two proposals in only %d of %d runs", split.Load(), *executions)
	}
	t.Logf("the leader proposed two things in %d of %d runs", split.Load(), *executions)
}

// many plays that many executions, on all processors.
func many(executions int, play func(seed uint64)) {
	hands := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for hand := range hands {
		wait.Go(func() {
			for i := hand; i < executions; i += hands {
				play(*firstSeed + uint64(i))
			}
		})
	}
	wait.Wait()
}

// agreeing is a trial under synchrony in which honest members grade alike: the grade of an answer
// is its number. Adversaries grade at random.
func agreeing(seed uint64, n int, adversaries map[synod.NodeID]string) *trial {
	return &trial{n: n, f: (n - 1) / 3, p: New(), hostile: adversaries, seed: seed,
		answers: func(id synod.NodeID) synod.Answer { return synod.Answer(fmt.Sprint(1 + (uint64(id)+seed)%4)) },
		quality: func(_ synod.NodeID, a synod.Answer) int { return int(a[0] - '0') },
	}
}

// [I-LB-3] Under synchrony, if honest members grade alike and leaders propose the best answer they
// know, all have decided in view k+1 after k ≤ f Byzantine leaders.
func TestILB3(t *testing.T) {
	ways := []string{"two-faced", "selective", "bad", "silent", "scribbler"}
	many(*executions, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0x3b))
		n := []int{4, 4, 4, 7, 10}[r.IntN(5)]
		adversaries, k := map[synod.NodeID]string{}, r.IntN((n-1)/3+1)
		for i := range k {
			adversaries[synod.NodeID(i)] = ways[r.IntN(len(ways))]
		}
		x := agreeing(seed, n, adversaries)
		x.p.Propose = leader.Best
		x.faults.Delay.Max = synod.Tick(r.IntN(2))
		for _, h := range x.play().held {
			if leader.RecordOf(h.Opinion).Certificate == nil || leader.RecordOf(h.Opinion).Certificate.Round > k+1 ||
				h.Round > k+1 {
				t.Errorf("n = %d, adversaries %v, seed %d: n%d: %s", n, adversaries, seed, h.id, h.Opinion)
			}
		}
	})
}

// If leaders propose their own answers, the proposal of an honest leader may be rejected too: of
// seven members with answers of seven ranks, the first leader whose answer is among the best third
// decides (LB-3: rank ⌈(n+1)/3⌉ is the last that is accepted).
func TestOwnProposals(t *testing.T) {
	for _, c := range []struct {
		answers string // by seat; 7 is best
		view    int
		answer  synod.Answer
	}{
		{"7654321", 1, "7"}, {"5764321", 1, "5"}, {"4321765", 5, "7"}, {"4132567", 5, "5"}, {"4123657", 5, "6"},
	} {
		x := agreeing(1, 7, nil)
		x.p.Views = 5 // the last view decides like any other
		x.answers = func(id synod.NodeID) synod.Answer { return synod.Answer(c.answers[id : id+1]) }
		for _, h := range x.play().held {
			if h.Answer != c.answer || leader.RecordOf(h.Opinion).Certificate.Round != c.view {
				t.Errorf("%s: n%d: %s", c.answers, h.id, h.Opinion)
			}
		}
	}
}

// [LB-3] The model of Fig. 6 as a run: the answer of rank ⌈(n+1)/3⌉ is accepted in the first view,
// and so is every better one.
func TestQuorumRank(t *testing.T) {
	for n, want := range map[int]int{4: 2, 7: 3, 10: 4, 13: 5} {
		if Rank(n) != want {
			t.Errorf("rank of %d is %d, want %d", n, Rank(n), want)
		}
		if n > 9 {
			continue
		}
		x := agreeing(1, n, nil)
		x.p.Propose = leader.Quorum
		x.answers = func(id synod.NodeID) synod.Answer { return synod.Answer(fmt.Sprint(1 + id)) }
		for _, h := range x.play().held {
			if h.Answer != synod.Answer(fmt.Sprint(n+1-want)) || leader.RecordOf(h.Opinion).Certificate.Round != 1 {
				t.Errorf("n = %d: n%d: %s", n, h.id, h.Opinion)
			}
		}
	}
}

// [I-LB-4] Members that hold a better answer than the accepted one record that; if the accepted
// answer is the best, nobody records anything.
func TestILB4(t *testing.T) {
	var below atomic.Int64
	many(*executions, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0x4b))
		adversaries := map[synod.NodeID]string{}
		if r.IntN(3) == 0 {
			adversaries[synod.NodeID(r.IntN(2))] = []string{"selective", "silent", "two-faced"}[r.IntN(3)]
		}
		x := agreeing(seed, []int{4, 7}[r.IntN(2)], adversaries)
		x.p.Propose = []string{leader.Own, leader.Quorum, leader.Best}[r.IntN(3)]
		for _, h := range x.play().held {
			if h.Answer == synod.None {
				continue
			}
			if worse := h.Answer < x.answers(h.id); worse != slices.Contains(leader.RecordOf(h.Opinion).Better, h.id) {
				t.Errorf("seed %d: n%d has %s: %s", seed, h.id, x.answers(h.id), h.Opinion)
			}
			for _, id := range leader.RecordOf(h.Opinion).Better {
				if x.hostile[id] == "" && x.answers(id) <= h.Answer {
					t.Errorf("seed %d: n%d's %s is no better: %s", seed, id, x.answers(id), h.Opinion)
				}
			}
			below.Add(int64(len(leader.RecordOf(h.Opinion).Better)))
		}
	})
	if below.Load() == 0 {
		t.Error("only the best answers were accepted, so nothing was tested")
	}
}

// [LB-1] Weights: heavy seats decide while light ones are silent only if they are also a quorum of
// members. Exactly two thirds of the weight are not enough, nor are exactly (n+f)/2 members.
func TestWeights(t *testing.T) {
	for _, c := range []struct {
		weights []int // nil: all equal
		n, f    int
		ids     []synod.NodeID
		want    bool
	}{
		{[]int{3, 3, 3, 2, 2, 2, 2}, 7, 2, []synod.NodeID{0, 1, 2, 3}, false},    // 11 of 17, four of seven
		{[]int{3, 3, 3, 2, 2, 2, 2}, 7, 2, []synod.NodeID{0, 1, 2, 3, 4}, true},  // 13, five
		{[]int{3, 3, 3, 2, 2, 2, 2}, 7, 2, []synod.NodeID{2, 3, 4, 5, 6}, false}, // 11: five members, too light
		{[]int{3, 3, 3, 2, 2, 2, 2}, 7, 2, []synod.NodeID{0, 1, 3, 4, 5, 6}, true},
		{[]int{9, 9, 9, 9, 1, 1, 1}, 7, 1, []synod.NodeID{0, 1, 2, 3}, false}, // 36 of 39, but four of seven
		{[]int{9, 9, 9, 9, 1, 1, 1}, 7, 1, []synod.NodeID{0, 1, 2, 3, 6}, true},
		{[]int{2, 2, 2, 1, 1, 1}, 6, 1, []synod.NodeID{0, 1, 3, 4}, false}, // 6 of 9
		{[]int{2, 2, 2, 1, 1, 1}, 6, 1, []synod.NodeID{0, 1, 2, 3}, true},  // 7
		{nil, 6, 1, []synod.NodeID{0, 1, 2, 3}, false},
		{nil, 6, 1, []synod.NodeID{0, 1, 2, 3, 4}, true},
	} {
		p := New()
		p.Weights = c.weights
		if p.quorum(c.n, c.f)(c.ids) != c.want {
			t.Errorf("weights %v, f = %d: %v: %v", c.weights, c.f, c.ids, !c.want)
		}
	}
}

// Any f seats must weigh less than a third of all. Weights are between 1 and 1000.
func TestWeightLimits(t *testing.T) {
	for _, c := range []struct {
		weights []int
		f       int
		want    string
	}{
		{[]int{10, 10, 10, 10, 10, 10, 1}, 0, ""}, {[]int{10, 10, 10, 10, 10, 10, 1}, 1, ""},
		{[]int{10, 10, 10, 10, 10, 10, 1}, 2, ""}, {[]int{25, 10, 10, 10, 10, 10, 1}, 2, "tolerate at most f = 1"},
		{[]int{1, 1, 1, 2, 2}, 1, ""}, {[]int{1, 1, 1, 1, 2}, 1, "tolerate at most f = 0"}, // 2 of 6 are a third
		{[]int{1, 1000, 1000, 999}, 1, "at most f = 0"}, {[]int{1, 1000, 1000, 1000}, 1, ""},
		{[]int{1000, 1000, 1000, 1000}, 1, ""}, {[]int{1, 1, 1, 1}, 2, "at most f = 1"},
		{[]int{5, 0, 5, 5}, 1, "weight 2 is 0; it must be between 1 and 1000"},
		{[]int{5, 5, 5, 1001}, 1, "weight 4 is 1001"}, {[]int{-1, 5, 5, 5}, 1, "weight 1 is -1"},
	} {
		p := New()
		p.Weights = c.weights
		err := p.Validate()
		if err == nil {
			err = p.CheckCast(make([]synod.Role, len(c.weights)), c.f)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("weights %v, f = %d: %v", c.weights, c.f, err)
		}
	}
}

func TestSuits(t *testing.T) {
	for _, c := range []struct {
		n, f, views, weights int
		want                 string
	}{
		{4, 1, 2, 0, ""}, {4, 2, 8, 0, "at most f = 1"}, {4, -1, 8, 0, "f is -1"}, {4, 1, 1, 0, "give at least 2"},
		{4, 1, 8, 3, "3 weights for 4 seats"},
		{3, 1, 8, 0, "at most f = 0"}, {129, 1, 8, 0, "128 are the most"}, {128, 1, 8, 0, ""}, {1, 0, 1, 0, ""},
	} {
		p := New()
		p.Views, p.Weights = c.views, slices.Repeat([]int{1}, c.weights)
		err := p.CheckCast(make([]synod.Role, c.n), c.f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// With real signatures the record proves the decision to a verifier with the public keys, and
// proves no other decision.
func TestRealKeys(t *testing.T) {
	keys := sign.Derive(5, 4)
	x := agreeing(5, 4, map[synod.NodeID]string{0: "two-faced"})
	x.keys, x.p.Propose = keys, leader.Best
	o := x.play()
	third := keys.Committee().Verifier(run)
	h := o.held[0]
	if leader.RecordOf(h.Opinion).Certificate == nil || !x.p.proves(leader.RecordOf(h.Opinion).Certificate, h.Answer, 4,
		1, third) {
		t.Fatalf("no proof: %s", h.Opinion)
	}
	change := func(what string, f func(*leader.SignedDecision)) {
		c := *leader.RecordOf(h.Opinion).Certificate
		c.Signers, c.Signatures = slices.Clone(c.Signers), slices.Clone(c.Signatures)
		if f(&c); x.p.proves(&c, h.Answer, 4, 1, third) {
			t.Errorf("it proves the decision with %s", what)
		}
	}
	change("another round", func(c *leader.SignedDecision) { c.Round++ })
	change("another leader", func(c *leader.SignedDecision) { c.Leader++ })
	change("a signer less", func(c *leader.SignedDecision) {
		c.Signers, c.Signatures = c.Signers[:2],
			c.Signatures[:2]
	})
	change("a signer twice", func(c *leader.SignedDecision) {
		c.Signers[1], c.Signatures[1] = c.Signers[0],
			c.Signatures[0]
	})
	change("no such signer", func(c *leader.SignedDecision) { c.Signers[0] = -1 })
	change("a bit changed", func(c *leader.SignedDecision) {
		c.Signatures[0] = slices.Clone(c.Signatures[0])
		c.Signatures[0][3] ^= 1
	})
	if x.p.proves(leader.RecordOf(h.Opinion).Certificate, h.Answer+"1", 4, 1, third) ||
		x.p.proves(leader.RecordOf(h.Opinion).Certificate, h.Answer, 4, 0, third) ||
		x.p.proves(leader.RecordOf(h.Opinion).Certificate, h.Answer, 4, 1, keys.Committee().Verifier("another")) {
		t.Error("it proves another answer, another f or another run")
	}
}

// Fifty runs with the same seed are equal, for several seeds.
func TestDeterminism(t *testing.T) {
	for seed := range uint64(3) {
		first := drawn(seed, false).play()
		for range 49 {
			again := drawn(seed, false).play()
			if !reflect.DeepEqual(first.notes, again.notes) || first.ticks != again.ticks {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
	}
}

// There are no more calls than planned, apart from repeated ones.
func TestCalls(t *testing.T) {
	for seed := range uint64(100) {
		x := agreeing(seed, 7, nil)
		x.p.Propose = []string{leader.Own, leader.Quorum, leader.Best}[seed%3]
		if calls, most := x.play().calls, x.p.Calls(make([]int, 7)); calls > most {
			t.Fatalf("seed %d: %d calls, %d are planned", seed, calls, most)
		}
	}
}

// proves reports whether a certificate proves a decision of n seats.
func (p *RotatingLeader) proves(c *leader.SignedDecision, a synod.Answer, n, f int, v synod.Verifier) bool {
	r := p.rules(n, f)
	return r.Proves(c, a, n, f, v)
}
