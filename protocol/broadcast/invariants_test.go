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
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/nightly"
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		*executions = min(*executions, 500)
	}
	goleak.VerifyTestMain(m)
}

var (
	executions = flag.Int("executions", nightly.Size(5_000, 20_000), "seeded executions in each of two models")
	firstSeed  = flag.Uint64("seed", 1, "the first execution's seed")
)

// synchronous draws an execution of the model S(f): in the group at most f members that are
// adversaries, crash or lose messages; any number of Byzantine senders outside; all other
// messages are in time.
func synchronous(seed uint64) *trial {
	r := rand.New(rand.NewPCG(seed, 0x5))
	x := &trial{n: 2 + r.IntN(largest-1), seed: seed, silent: map[synod.NodeID]bool{},
		faulty: map[synod.NodeID]func(synod.Machine) synod.Machine{}}
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
		x.silent[synod.NodeID(i)] = r.IntN(8) == 0
	}
	x.act = randomAttack(seed)
	x.faults.Delay.Max = synod.Tick(r.IntN(2)) // still before the round's end
	return x
}

// corrupt makes a member Byzantine: an adversary, or an honest member that crashes or loses
// messages.
func (x *trial) corrupt(r *rand.Rand, id synod.NodeID) {
	x.byzantine[id] = true
	switch r.IntN(4) {
	case 0:
		x.faults.Crashes = append(x.faults.Crashes, sim.Crash{Node: id, At: synod.Tick(r.IntN(20))})
		x.faulty[id] = func(m synod.Machine) synod.Machine { return m }
	case 1:
		own, loss := rand.New(rand.NewPCG(x.seed, uint64(id))), r.Float64()
		x.faulty[id] = func(m synod.Machine) synod.Machine { return &omitting{m, own, loss} }
	}
}

// asynchronous draws an execution of the model A: as synchronous, but all messages may be
// late, and with lossy also lost or cut off by a partition.
func asynchronous(seed uint64, lossy bool) *trial {
	x := synchronous(seed)
	r := rand.New(rand.NewPCG(seed, 0xa))
	x.faults.Delay.Max = synod.Tick(1 + r.IntN(2*within))
	x.linger = 200
	x.faulty, x.faults.Crashes = map[synod.NodeID]func(synod.Machine) synod.Machine{}, nil
	if lossy {
		x.faults.Loss = r.Float64() / 2
		from := synod.Tick(r.IntN(12))
		x.faults.Partitions = []sim.Partition{{From: from, To: from + 1 + synod.Tick(r.IntN(12)),
			Groups: [][]synod.NodeID{{0, 2, 4, 6, 8}, {1, 3, 5, 7}}}}
	}
	return x
}

// findings are the results of a campaign: the first violation of each invariant, and how often
// the situations occurred that the invariants are about.
type findings struct {
	violated map[string]string
	happened map[string]int
}

func (l *findings) check(label string, ok bool, x *trial, format string, args ...any) {
	if !ok && l.violated[label] == "" {
		l.violated[label] = fmt.Sprintf("n = %d, outside %d, f = %d, byzantine %v: %s; repeat it with: go test "+
			"%s./protocol/broadcast -executions 1 -seed %d",
			x.n, x.outside, x.f, x.byzantine, fmt.Sprintf(format, args...), detector, x.seed)
	}
}

func (l *findings) count(what string, yes bool) {
	if yes {
		l.happened[what]++
	}
}

// campaign runs all executions once, on all processors; each test reads its part of the
// findings.
var campaign = sync.OnceValue(func() *findings {
	parts := make([]*findings, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range parts {
		l := &findings{map[string]string{}, map[string]int{}}
		parts[k] = l
		wait.Go(func() {
			for i := k; i < *executions; i += len(parts) {
				l.play(*firstSeed+uint64(i), i%2 == 1) // half of them lossy
			}
		})
	}
	wait.Wait()
	for _, l := range parts[1:] {
		parts[0].add(l)
	}
	return parts[0]
})

// play runs one execution in each model.
func (l *findings) play(seed uint64, lossy bool) {
	s := synchronous(seed)
	r := s.run()
	l.synchrony(s, r)
	l.always(s, r)
	a := asynchronous(seed, lossy)
	r = a.run()
	l.always(a, r)
	l.asynchrony(a, r, lossy)
}

func (l *findings) add(other *findings) {
	for label, why := range other.violated {
		l.violated[label] = cmp.Or(l.violated[label], why)
	}
	for what, n := range other.happened {
		l.happened[what] += n
	}
}

// show returns a delivery as text, for messages and comparison.
func show(d Delivery) string {
	if d.Signed == nil {
		return "⊥"
	}
	return quoted(d.Signed.Value)
}

func quoted(value []byte) string { return `"` + string(value) + `"` }

// synchrony checks the guarantees of S(f).
func (l *findings) synchrony(x *trial, r *result) {
	unsafe := false
	for _, h := range r.held {
		l.check("BB-8", !h.out.Broken(), x, "adversaries %v made Broken true at member %d", h.out.p.lateSigners, h.id)
		l.check("BB-3", len(h.deliveries) == len(r.g.Senders), x, "member %d has %d deliveries, want %d", h.id,
			len(h.deliveries), len(r.g.Senders))
		for i, d := range h.deliveries {
			first := r.held[0].deliveries[i]
			l.check("BB-1", show(d) == show(first), x, "sender %d: member %d holds %s and member %d %s", d.Sender,
				r.held[0].id, show(first), h.id, show(d))
			if !x.byzantine[d.Sender] {
				want := quoted(value(d.Sender))
				if x.silent[d.Sender] {
					want = "⊥"
				}
				l.check("BB-2", show(d) == want, x, "honest %d sent %s and member %d holds %s", d.Sender, want, h.id,
					show(d))
				l.count("honest sender", true)
			}
			unsafe = unsafe || d.Unsafe
			l.count("⊥ of an adversary", x.byzantine[d.Sender] && d.Signed == nil)
			l.count("value of an adversary", x.byzantine[d.Sender] && d.Signed != nil)
			l.count("evidence", d.Evidence != nil)
		}
	}
	l.check("BB-8", !unsafe || r.coalition.short, x, "marked as unsafe although nothing came late")
	l.count("unsafe by an adversary", unsafe)
}

// always checks the guarantees that hold for every behaviour of the network.
func (l *findings) always(x *trial, r *result) {
	v := r.coalition.signers[0]
	for _, h := range r.held {
		l.check("BB-3", h.at == r.g.End(), x, "member %d delivers at tick %d, not %d", h.id, h.at, r.g.End())
		for i, d := range h.deliveries {
			l.check("BB-4", d.Sender == r.g.Senders[i] && (d.Signed == nil || d.Signed.Sender == d.Sender &&
				d.Signed.Verify(v)), x, "member %d delivers %+v", h.id, d)
			for _, c := range h.out.p.instances[i].extracted {
				l.check("BB-4", sound(x, r, &c, v), x, "member %d extracted %+v", h.id, c)
			}
		}
		for _, d := range h.out.Deliveries { // after a Recheck, if there was one
			l.check("BB-5", d.Evidence == nil || x.byzantine[d.Sender] && d.Evidence.Sender == d.Sender &&
				d.Evidence.Verify(v), x, "evidence against %d: %+v", d.Sender, d.Evidence)
			l.check("BB-5", d.Evidence != nil || len(h.out.p.instances[indexOf(r, d.Sender)].extracted) < 2, x,
				"two values of %d without evidence", d.Sender)
			l.check("BB-8", d.Unsafe == (len(d.Late) > 0) || h.out.p.late, x, "%d late values, unsafe %v", len(d.Late),
				d.Unsafe)
		}
	}
	relayed := map[[2]synod.NodeID]int{}
	for _, s := range r.sent {
		of := [2]synod.NodeID{s.by, s.chain.sender}
		relayed[of]++
		n := relayed[of]
		l.check("BB-6", n <= 2 && s.to <= x.n, x, "member %d relays %d values of %d, to %d", s.by, n, s.chain.sender,
			s.to)
		l.check("BB-4", len(s.chain.links) >= s.slot+1, x, "a chain of %d is sent in round %d", len(s.chain.links),
			s.slot+1)
		l.count("two relayed", n == 2)
	}
}

func indexOf(r *result, sender synod.NodeID) int {
	i, _ := slices.BinarySearch(r.g.Senders, sender)
	return i
}

// sound checks BB-4 independently: the sender is first, distinct members follow, and each
// signature is valid for its position.
func sound(x *trial, r *result, c *chain, v synod.Verifier) bool {
	signers := map[synod.NodeID]bool{}
	for k, l := range c.links {
		signed := Signed{r.coalition.group, c.sender, c.value, l.sig}
		switch {
		case signers[l.by], (k == 0) != (l.by == c.sender), k > 0 && int(l.by) >= x.n, k == 0 && !signed.Verify(v):
			return false
		}
		signers[l.by] = true
	}
	return len(c.links) > 0
}

// asynchrony checks what holds with unbounded delays: unless messages are lost, at least one
// of the members that hold different values marks its delivery as unsafe.
func (l *findings) asynchrony(x *trial, r *result, lossy bool) {
	sure := slices.ContainsFunc(r.held, func(h held) bool { return h.out.Broken() })
	for i := range r.g.Senders {
		same, safe := true, true
		for _, h := range r.held {
			same = same && show(h.out.Deliveries[i]) == show(r.held[0].out.Deliveries[i])
			safe = safe && !h.out.Deliveries[i].Unsafe
			l.check("BB-8", show(h.out.Deliveries[i]) == show(h.deliveries[i]), x,
				"a late message changed the delivery of member %d", h.id)
		}
		l.check("BB-8", lossy || same || !safe, x, "different values of %d, and no member marks them as unsafe",
			r.g.Senders[i])
		l.count("disagreement when late", !same && !lossy)
		l.count("disagreement when late, and known for certain", !same && !lossy && sure)
		l.count("disagreement when lost", !same && lossy)
	}
}

// report fails if an invariant was violated, or if the situations that it is about were rare.
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

func TestBB1Agreement(t *testing.T) {
	report(t, "BB-1", "⊥ of an adversary", "value of an adversary")
}
func TestBB2Validity(t *testing.T)       { report(t, "BB-2", "honest sender") }
func TestBB3Termination(t *testing.T)    { report(t, "BB-3", "disagreement when lost") }
func TestBB4Integrity(t *testing.T)      { report(t, "BB-4", "value of an adversary") }
func TestBB5Accountability(t *testing.T) { report(t, "BB-5", "evidence") }
func TestBB6Cost(t *testing.T)           { report(t, "BB-6", "two relayed") }
func TestBB8SynchronyAlarm(t *testing.T) {
	report(t, "BB-8", "unsafe by an adversary", "disagreement when late",
		"disagreement when late, and known for certain")
}

// tryAllAttacks runs every attack of one Byzantine sender in which the longest possible chains
// for two values are sent to some members in some rounds. It returns in how many of them honest
// members disagree. believed is the F that members assume.
func tryAllAttacks(n, outside, f, believed int) (attacks, split int) {
	bits := (f + 1 + outside) * (n - f) * 2 // rounds, honest members, values
	for a := range 1 << bits {
		x := &trial{n: n, outside: outside, f: believed, byzantine: make([]bool, n+outside), act: scripted(a), seed: 1}
		for i := range f {
			x.byzantine[i] = true
		}
		if x.senders = []synod.NodeID{0}; outside > 0 {
			x.senders, x.byzantine[n] = nil, true
		}
		r := x.run()
		first := show(r.held[0].deliveries[0])
		if slices.ContainsFunc(r.held, func(h held) bool { return show(h.deliveries[0]) != first }) {
			split++
		}
	}
	return 1 << bits, split
}

// All attacks on small groups fail [BB-1]. With one round too few, f rounds for a sender in
// the group and f+1 for one outside (finding F11), some succeed.
func TestExhaustive(t *testing.T) {
	for _, c := range []struct{ n, outside, f int }{{2, 1, 0}, {3, 1, 0}, {3, 0, 1}, {4, 0, 1}, {4, 0, 2}, {3, 1, 1},
		{4, 1, 2}, {5, 0, 3}} {
		if bits := (c.f + 1 + c.outside) * (c.n - c.f) * 2; 1<<bits > *executions {
			t.Logf("%+v: only in make campaign", c)
			continue
		}
		attacks, split := tryAllAttacks(c.n, c.outside, c.f, c.f)
		t.Logf("%+v: %d attacks, honest members disagree in %d", c, attacks, split)
		if split > 0 {
			t.Errorf("%+v: %d of %d attacks split honest members", c, split, attacks)
		}
		if c.f == 0 {
			continue // there is no smaller f
		}
		attacks, split = tryAllAttacks(c.n, c.outside, c.f, c.f-1)
		t.Logf("%+v with one round less: honest members disagree in %d of %d", c, split, attacks)
		if split == 0 {
			t.Errorf("%+v: with one round too few no attack splits honest members: the attacks are too weak", c)
		}
	}
}
