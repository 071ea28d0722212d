package rotatingleader

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/leader"
)

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		*executions = min(*executions, 500)
	}
	goleak.VerifyTestMain(m)
}

var (
	// 1000 are enough for everything that must happen; make campaign plays more.
	executions = flag.Int("executions", 1000, "seeded executions of each invariant")
	firstSeed  = flag.Uint64("seed", 1, "the first execution's seed")
)

// drawn is a random execution: at most f adversaries that equivocate, vote twice, send to some
// members only, send invalid signatures, or are silent. Under A messages of any member may be late,
// lost, or stopped by a partition.
func drawn(seed uint64, synchronous bool) *trial {
	r := rand.New(rand.NewPCG(seed, 0x1b))
	x := &trial{n: []int{4, 4, 4, 4, 4, 5, 7}[r.IntN(7)], p: New(), hostile: map[synod.NodeID]string{}, seed: seed}
	x.f = (x.n - 1) / 3
	x.p.Views = x.f + 2
	x.p.Propose = []string{leader.Own, leader.Best, leader.Quorum}[r.IntN(3)]
	x.p.Rationale, x.lenient = 0, r.IntN(4) > 0
	ways := []string{"two-faced", "two-faced", "selective", "bad", "silent", "scribbler"}
	for _, i := range r.Perm(x.n)[:r.IntN(x.f+1)] {
		x.hostile[synod.NodeID(i)] = ways[r.IntN(len(ways))]
	}
	if r.IntN(3) == 0 { // the worst case: Byzantine leaders one after another
		clear(x.hostile)
		for i := range x.f {
			x.hostile[synod.NodeID(i)] = ways[r.IntN(len(ways))]
		}
	}
	x.faults.Delay.Max = synod.Tick(r.IntN(2))
	if synchronous {
		return x
	}
	x.faults.Delay.Max = synod.Tick(r.IntN(2 * int(pace.Within)))
	if r.IntN(2) == 0 {
		x.faults.Loss = r.Float64() / 2
	}
	if r.IntN(2) == 0 {
		from := synod.Tick(r.IntN(60))
		x.faults.Partitions = []sim.Partition{{From: from, To: from + 1 + synod.Tick(r.IntN(40)),
			Groups: [][]synod.NodeID{{0, 2, 4, 6}, {1, 3, 5}}}}
	}
	return x
}

// conflict returns what I-LB-1 forbids: two honest members with different decisions, or two answers
// for which a certificate can be made from all votes of honest members and any votes of
// adversaries: two decisions in any rounds, or two preparations in one round.
func (o *outcome) conflict() string {
	for _, h := range o.held {
		if h.Answer != synod.None && o.held[0].Answer != synod.None && h.Answer != o.held[0].Answer {
			return fmt.Sprintf("n%d decides %s and n%d %s", h.id, h.Answer, o.held[0].id, o.held[0].Answer)
		}
	}
	enough := o.x.p.quorum(o.x.n, o.x.f)
	possible := map[ballotBox]synod.Answer{}
	for _, box := range slices.SortedFunc(maps.Keys(o.votes), func(a, b ballotBox) int { return a.round - b.round }) {
		who := slices.Concat(slices.Collect(maps.Keys(o.x.hostile)), o.votes[box])
		if !enough(who) {
			continue
		}
		at := ballotBox{box.phase, box.round, ""}
		if box.phase == leader.Commit {
			at.round = 0
		}
		if was, ok := possible[at]; ok && was != box.answer {
			return fmt.Sprintf("phase %d has certificates for %s and, in round %d, %s", box.phase, was, box.round,
				box.answer)
		}
		possible[at] = box.answer
	}
	return ""
}

// ledger has the results of a campaign.
type ledger struct {
	mu       sync.Mutex
	violated map[string]string
	happened map[string]int
}

func (l *ledger) check(label string, ok bool, x *trial, format string, args ...any) {
	if !ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.violated[label] == "" {
			l.violated[label] = fmt.Sprintf("n = %d, f = %d, adversaries %v, propose %s: %s; repeat it with: go test "+
				"./protocol/rotatingleader -executions 1 -seed %d",
				x.n, x.f, x.hostile, x.p.Propose, fmt.Sprintf(format, args...), x.seed)
		}
	}
}

func (l *ledger) count(what string, yes bool) {
	if yes {
		l.mu.Lock()
		l.happened[what]++
		l.mu.Unlock()
	}
}

// campaign runs all executions once, half of them under S and half under A; each test reads its own
// results.
var campaign = sync.OnceValue(func() *ledger {
	l := &ledger{violated: map[string]string{}, happened: map[string]int{}}
	const hands = 4
	var wait sync.WaitGroup
	for hand := range uint64(hands) {
		wait.Go(func() {
			for i := hand; i < uint64(*executions); i += hands {
				l.execution(*firstSeed+i, i%2 == 0)
			}
		})
	}
	wait.Wait()
	return l
})

func (l *ledger) execution(seed uint64, synchronous bool) {
	x := drawn(seed, synchronous)
	o := x.play()
	why := o.conflict()
	l.check("I-LB-1", why == "", x, "%s", why)
	network := o.keys.Signer(0, run)
	for _, h := range o.held {
		l.count("decided", h.Answer != synod.None)
		l.count("undecided", h.Answer == synod.None)
		l.count("later than the first view", leader.RecordOf(h.Opinion).Certificate != nil &&
			leader.RecordOf(h.Opinion).Certificate.Round > 1)
		l.check("certificate", (h.Answer == synod.None) == (leader.RecordOf(h.Opinion).Certificate == nil), x,
			"n%d decides %s, certificate %v", h.id, h.Answer, leader.RecordOf(h.Opinion).Certificate)
		l.check("certificate", leader.RecordOf(h.Opinion).Certificate == nil ||
			x.p.proves(leader.RecordOf(h.Opinion).Certificate, h.Answer, x.n, x.f, network), x,
			"n%d's certificate proves nothing", h.id)
	}
	l.count("not synchronous", !synchronous)
	caught := map[synod.NodeID]bool{}
	for _, note := range o.notes {
		if x.hostile[note.Node] != "" {
			continue
		}
		l.check("I-LB-2", len(note.Suspects) == len(leader.RecordOf(note.Opinion).Evidence), x,
			"%d suspects, %d proofs", len(note.Suspects), len(leader.RecordOf(note.Opinion).Evidence))
		for i, proof := range leader.RecordOf(note.Opinion).Evidence {
			var e broadcast.Evidence
			l.check("I-LB-2", e.UnmarshalBinary(proof) == nil && e.Verify(network) && e.Sender == note.Suspects[i], x,
				"evidence does not stand")
			l.check("I-LB-2", x.hostile[e.Sender] != "", x, "n%d is honest and framed", e.Sender)
			caught[e.Sender] = true
		}
	}
	l.count("equivocators caught", len(caught) > 0)
}

func report(t *testing.T, label string, happened ...string) {
	l := campaign()
	if why := l.violated[label]; why != "" {
		t.Error(why)
	}
	for _, what := range happened {
		if l.happened[what] == 0 && *executions >= 1000 {
			t.Errorf("members were never: %s", what)
		}
		t.Logf("%s: %d", what, l.happened[what])
	}
}

// [I-LB-1] There are no two conflicting certificates at one height for f < n/3, also if messages
// are late, lost or stopped by a partition.
func TestILB1(t *testing.T) {
	report(t, "I-LB-1", "decided", "undecided", "later than the first view", "not synchronous")
	report(t, "certificate")
}

// Two weakened variants fail: one with a majority as quorum, and one whose lock has no effect.
func TestVulnerableTwins(t *testing.T) {
	majority := func(n int) func([]synod.NodeID) bool {
		return func(ids []synod.NodeID) bool { return 2*len(ids) > n }
	}
	for name, weak := range map[string]twin{
		"a majority is a quorum": {enough: majority}, "a lock binds nobody": {lock: true},
	} {
		fell := 0
		const runs = 1000
		for seed := range uint64(runs) {
			x := drawn(*firstSeed+seed, false)
			if x.p.twin = weak; weak.enough != nil && x.n == 4 { // three of four are a quorum either way
				x.n, x.lenient = 5, true
			}
			if x.play().conflict() != "" {
				fell++
			}
		}
		t.Logf("%s: two certificates in %d of %d executions", name, fell, runs)
		if fell == 0 {
			t.Errorf("%s: no execution of %d has two certificates: the adversaries are too weak", name, runs)
		}
	}
}
