package broadcast

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	executions = flag.Int("executions", usual, "seeded executions in each of two models")
	firstSeed  = flag.Uint64("seed", 1, "the first execution's seed")
)

// synchronous draws an execution of S(f): at most f liars, crashes and lossy
// members in the group, any number of lying senders outside, all else on time.
func synchronous(seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 0x5))
	x := &trial{n: 2 + r.IntN(largest-1), seed: seed, mute: map[synod.NodeID]bool{}, faulty: map[synod.NodeID]func(synod.Machine) synod.Machine{}}
	if r.IntN(2) == 0 {
		x.outside = 1 + r.IntN(2)
	}
	x.f = r.IntN(min(x.n-1, 4))
	x.byzantine = make([]bool, x.n+x.outside)
	for _, i := range r.Perm(x.n)[:r.IntN(x.f+1)] {
		x.corrupt(r, synod.NodeID(i))
	}
	for i := x.n; i < len(x.byzantine); i++ {
		if r.IntN(3) > 0 {
			x.byzantine[i] = true
		}
	}
	for i := range x.byzantine {
		x.mute[synod.NodeID(i)] = r.IntN(8) == 0
	}
	x.act = vandal(seed)
	x.faults.Delay.Max = synod.Tick(r.IntN(2)) // still before the round's end
	return x
}

// corrupt makes a member Byzantine: a liar, or honest in all but its network.
func (x *trial) corrupt(r *rand.Rand, id synod.NodeID) {
	x.byzantine[id] = true
	switch r.IntN(4) {
	case 0:
		x.faults.Crashes = append(x.faults.Crashes, sim.Crash{Node: id, At: synod.Tick(r.IntN(20))})
		x.faulty[id] = func(m synod.Machine) synod.Machine { return m }
	case 1:
		own, loss := rand.New(rand.NewPCG(x.seed, uint64(id))), r.Float64()
		x.faulty[id] = func(m synod.Machine) synod.Machine { return &omits{m, own, loss} }
	}
}

// asynchronous is an execution of A: the same, and messages of anyone may be late,
// and if lossy also lost or cut off by a partition.
func asynchronous(seed uint64, lossy bool) *trial {
	x := synchronous(seed)
	r := rand.New(rand.NewPCG(seed, 0xa))
	x.faults.Delay.Max = synod.Tick(1 + r.IntN(2*within))
	x.linger = 200
	x.faulty, x.faults.Crashes = map[synod.NodeID]func(synod.Machine) synod.Machine{}, nil
	if lossy {
		x.faults.Loss = r.Float64() / 2
		from := synod.Tick(r.IntN(12))
		x.faults.Partitions = []sim.Partition{{From: from, To: from + 1 + synod.Tick(r.IntN(12)), Groups: [][]synod.NodeID{{0, 2, 4, 6, 8}, {1, 3, 5, 7}}}}
	}
	return x
}

// ledger is what a campaign found: the first violation of each invariant, and how
// often what the invariants are about did happen.
type ledger struct {
	violated map[string]string
	happened map[string]int
}

func (l *ledger) check(label string, ok bool, x *trial, format string, args ...any) {
	if !ok && l.violated[label] == "" {
		l.violated[label] = fmt.Sprintf("n = %d, outside %d, f = %d, byzantine %v: %s; again: go test %s./protocol/broadcast -executions 1 -seed %d",
			x.n, x.outside, x.f, x.byzantine, fmt.Sprintf(format, args...), detector, x.seed)
	}
}

func (l *ledger) count(what string, yes bool) {
	if yes {
		l.happened[what]++
	}
}

// campaign runs all executions once, shared among the processors; each test reads
// its part of the ledger.
var campaign = sync.OnceValue(func() *ledger {
	parts := make([]*ledger, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range parts {
		l := &ledger{map[string]string{}, map[string]int{}}
		parts[k] = l
		wait.Go(func() {
			for i := k; i < *executions; i += len(parts) {
				l.play(*firstSeed+uint64(i), i%2 == 1) // lossy a half: together as many as the synchronous ones
			}
		})
	}
	wait.Wait()
	for _, l := range parts[1:] {
		parts[0].add(l)
	}
	return parts[0]
})

// play is one execution in each model.
func (l *ledger) play(seed uint64, lossy bool) {
	s := synchronous(seed)
	r := s.run()
	l.synchrony(s, r)
	l.always(s, r)
	a := asynchronous(seed, lossy)
	r = a.run()
	l.always(a, r)
	l.asynchrony(a, r, lossy)
}

func (l *ledger) add(other *ledger) {
	for label, why := range other.violated {
		l.violated[label] = cmp.Or(l.violated[label], why)
	}
	for what, n := range other.happened {
		l.happened[what] += n
	}
}

// says is what a member holds of a sender, for people and for comparison.
func says(d Delivery) string {
	if d.Word == nil {
		return "⊥"
	}
	return said(d.Word.Value)
}

func said(value []byte) string { return `"` + string(value) + `"` }

// synchrony is what S(f) promises.
func (l *ledger) synchrony(x *trial, r *result) {
	unsafe := false
	for _, h := range r.held {
		l.check("BB-8", !h.out.Broken(), x, "liars %v have made member %d believe that rounds are not kept", h.out.p.tardy, h.id)
		l.check("BB-3", len(h.word) == len(r.g.Senders), x, "member %d delivers %d of %d", h.id, len(h.word), len(r.g.Senders))
		for i, d := range h.word {
			first := r.held[0].word[i]
			l.check("BB-1", says(d) == says(first), x, "of %d, member %d holds %s and member %d %s", d.Sender, r.held[0].id, says(first), h.id, says(d))
			if !x.byzantine[d.Sender] {
				want := said(value(d.Sender))
				if x.mute[d.Sender] {
					want = "⊥"
				}
				l.check("BB-2", says(d) == want, x, "honest %d said %s and member %d holds %s", d.Sender, want, h.id, says(d))
				l.count("honest sender", true)
			}
			unsafe = unsafe || d.Unsafe
			l.count("⊥ of a liar", x.byzantine[d.Sender] && d.Word == nil)
			l.count("word of a liar", x.byzantine[d.Sender] && d.Word != nil)
			l.count("evidence", d.Evidence != nil)
		}
	}
	l.check("BB-8", !unsafe || r.cabal.short, x, "marked unsafe though nothing came late")
	l.count("unsafe by a liar", unsafe)
}

// always is what holds whatever the network does.
func (l *ledger) always(x *trial, r *result) {
	v := r.cabal.signers[0]
	for _, h := range r.held {
		l.check("BB-3", h.at == r.g.End(), x, "member %d delivers at tick %d, not %d", h.id, h.at, r.g.End())
		for i, d := range h.word {
			l.check("BB-4", d.Sender == r.g.Senders[i] && (d.Word == nil || d.Word.Sender == d.Sender && d.Word.Verify(v)), x, "member %d delivers %+v", h.id, d)
			for _, c := range h.out.p.instances[i].extracted {
				l.check("BB-4", sound(x, r, &c, v), x, "member %d extracted %+v", h.id, c)
			}
		}
		for _, d := range h.out.Deliveries { // after a Recheck, if there was one
			l.check("BB-5", d.Evidence == nil || x.byzantine[d.Sender] && d.Evidence.Sender == d.Sender && d.Evidence.Verify(v), x, "evidence against %d: %+v", d.Sender, d.Evidence)
			l.check("BB-5", d.Evidence != nil || len(h.out.p.instances[indexOf(r, d.Sender)].extracted) < 2, x, "two values of %d and no evidence", d.Sender)
			l.check("BB-8", d.Unsafe == (len(d.Late) > 0) || h.out.p.late, x, "%d late words, unsafe %v", len(d.Late), d.Unsafe)
		}
	}
	relayed := map[[2]synod.NodeID]int{}
	for _, s := range r.sent {
		of := [2]synod.NodeID{s.by, s.chain.sender}
		relayed[of]++
		n := relayed[of]
		l.check("BB-6", n <= 2 && s.to <= x.n, x, "member %d relays %d values of %d, to %d", s.by, n, s.chain.sender, s.to)
		l.check("BB-4", len(s.chain.links) >= s.slot+1, x, "a chain of %d is sent in round %d", len(s.chain.links), s.slot+1)
		l.count("two relayed", n == 2)
	}
}

func indexOf(r *result, sender synod.NodeID) int {
	i, _ := slices.BinarySearch(r.g.Senders, sender)
	return i
}

// sound is BB-4 said again, slowly: the sender first, then distinct members, each
// signature good for its place.
func sound(x *trial, r *result, c *chain, v synod.Verifier) bool {
	signers := map[synod.NodeID]bool{}
	for k, l := range c.links {
		word := Signed{r.cabal.group, c.sender, c.value, l.sig}
		switch {
		case signers[l.by], (k == 0) != (l.by == c.sender), k > 0 && int(l.by) >= x.n, k == 0 && !word.Verify(v):
			return false
		}
		signers[l.by] = true
	}
	return len(c.links) > 0
}

// asynchrony is what can be said when delays are unbounded: where nothing is lost
// for good, members that hold different words do not all think they are safe.
func (l *ledger) asynchrony(x *trial, r *result, lossy bool) {
	sure := slices.ContainsFunc(r.held, func(h held) bool { return h.out.Broken() })
	for i := range r.g.Senders {
		same, safe := true, true
		for _, h := range r.held {
			same = same && says(h.out.Deliveries[i]) == says(r.held[0].out.Deliveries[i])
			safe = safe && !h.out.Deliveries[i].Unsafe
			l.check("BB-8", says(h.out.Deliveries[i]) == says(h.word[i]), x, "a late word changed what member %d delivers", h.id)
		}
		l.check("BB-8", lossy || same || !safe, x, "different words of %d, and nobody is alarmed", r.g.Senders[i])
		l.count("disagreement when late", !same && !lossy)
		l.count("disagreement when late, and known for sure", !same && !lossy && sure)
		l.count("disagreement when lost", !same && lossy)
	}
}

// report fails if an invariant was violated, or if what it is about was rare.
func report(t *testing.T, label string, occasions ...string) {
	t.Helper()
	l := campaign()
	if why := l.violated[label]; why != "" {
		t.Errorf("%s: %s", label, why)
	}
	for _, o := range occasions {
		t.Logf("%s: %s in %d places of %d executions", label, o, l.happened[o], *executions)
		if l.happened[o] < *executions/200 {
			t.Errorf("%s happened %d times in %d executions: too few to mean much", o, l.happened[o], *executions)
		}
	}
}

func TestBB1Agreement(t *testing.T)      { report(t, "BB-1", "⊥ of a liar", "word of a liar") }
func TestBB2Validity(t *testing.T)       { report(t, "BB-2", "honest sender") }
func TestBB3Termination(t *testing.T)    { report(t, "BB-3", "disagreement when lost") }
func TestBB4Integrity(t *testing.T)      { report(t, "BB-4", "word of a liar") }
func TestBB5Accountability(t *testing.T) { report(t, "BB-5", "evidence") }
func TestBB6Cost(t *testing.T)           { report(t, "BB-6", "two relayed") }
func TestBB8SynchronyAlarm(t *testing.T) {
	report(t, "BB-8", "unsafe by a liar", "disagreement when late", "disagreement when late, and known for sure")
}

// exhausted plays every attack on one lying sender in which the longest chains
// that can be made for two values are shown to some members in some rounds, and
// returns in how many the honest disagree. told is the F that members believe.
func exhausted(n, outside, f, told int) (attacks, split int) {
	bits := (f + 1 + outside) * (n - f) * 2 // rounds, honest members, values
	for a := range 1 << bits {
		x := &trial{n: n, outside: outside, f: told, byzantine: make([]bool, n+outside), act: scripted(a), seed: 1}
		for i := range f {
			x.byzantine[i] = true
		}
		if x.senders = []synod.NodeID{0}; outside > 0 {
			x.senders, x.byzantine[n] = nil, true
		}
		r := x.run()
		if slices.ContainsFunc(r.held, func(h held) bool { return says(h.word[0]) != says(r.held[0].word[0]) }) {
			split++
		}
	}
	return 1 << bits, split
}

// Small cases whole [BB-1], and the same with one round too few: f rounds for a
// sender inside, f+1 for one outside (finding F11), which split the honest.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct{ n, outside, f int }{{2, 1, 0}, {3, 1, 0}, {3, 0, 1}, {4, 0, 1}, {4, 0, 2}, {3, 1, 1}, {4, 1, 2}, {5, 0, 3}} {
		if bits := (c.f + 1 + c.outside) * (c.n - c.f) * 2; 1<<bits > *executions {
			t.Logf("%+v: left to make campaign", c)
			continue
		}
		attacks, split := exhausted(c.n, c.outside, c.f, c.f)
		t.Logf("%+v: %d attacks, the honest split in %d", c, attacks, split)
		if split > 0 {
			t.Errorf("%+v: %d of %d attacks split the honest", c, split, attacks)
		}
		if c.f == 0 {
			continue // there is no smaller f to believe in
		}
		attacks, split = exhausted(c.n, c.outside, c.f, c.f-1)
		t.Logf("%+v with a round less: the honest split in %d of %d", c, split, attacks)
		if split == 0 {
			t.Errorf("%+v: a round too few, and no attack splits the honest: the attacks are too weak", c)
		}
	}
}
