package adversary

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/script"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// spread is one broadcast of every sender's answer, some of the parties liars.
type spread struct {
	members, outside int // members 0 to members-1 broadcast, unless somebody outside does
	told             int // the bound that members believe in
	liars            map[synod.NodeID]Adversary
	seed             uint64
}

func (x *spread) group() broadcast.Group {
	g := broadcast.Group{Protocol: "test/1", Name: "answers", F: x.told, Start: 4, Within: 4, MaxValue: 200}
	for i := range x.members {
		g.Members = append(g.Members, synod.NodeID(i))
	}
	g.Senders = g.Members
	if x.outside > 0 {
		g.Senders = nil
	}
	for i := range x.outside {
		g.Senders = append(g.Senders, synod.NodeID(x.members+i))
	}
	return g
}

// play returns what each honest member delivers, and the verifier of the run.
func (x *spread) play() (held map[synod.NodeID][]broadcast.Delivery, v synod.Verifier) {
	n := x.members + x.outside
	keys, g := sign.NewSymbolic(x.seed, n), x.group()
	held = map[synod.NodeID][]broadcast.Delivery{}
	machines := make([]synod.Machine, n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), F: x.told, Question: number, Seed: script.Derive(x.seed, uint64(i)), Signer: keys.Signer(synod.NodeID(i), "run")}
		for j := range n {
			if j != i {
				seat.Peers = append(seat.Peers, synod.NodeID(j))
			}
		}
		if a := x.liars[seat.Self]; a != nil {
			machines[i] = Seat(a, seat, func(s synod.Seat) synod.Machine { return says(s, g, func(*broadcast.Outcome) {}) })
			continue
		}
		machines[i] = says(seat, g, func(o *broadcast.Outcome) {
			if seat.Self < synod.NodeID(x.members) {
				held[seat.Self] = slices.Clone(o.Deliveries)
			}
		})
	}
	faults := sim.Faults{}
	faults.Delay.Max = 1
	sim.Run(sim.Config{Machines: machines, Seed: x.seed, Faults: faults, Ask: func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i := range calls {
			out[i] = synod.Reply{Status: synod.OK, Text: fmt.Sprintf("Answer: %d", 40+calls[i].Node)}
		}
		return out
	}})
	return held, keys.Verifier("run")
}

// says is an honest party: it asks its model and broadcasts what that answers.
func says(seat synod.Seat, g broadcast.Group, done func(*broadcast.Outcome)) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		var mine []byte
		if slices.Contains(g.Senders, seat.Self) {
			reply := me.Ask(synod.Prompt{Purpose: synod.Answering, Question: seat.Question})[0]
			answer, _, _ := prompt.AnswerOf(seat.Question, reply, false)
			mine, _ = synod.Response{Answer: answer}.AppendBinary(nil)
		}
		out := broadcast.Run(me, g, mine)
		out.Recheck()
		done(out)
		return ""
	})
}

// splits reports whether two honest members hold different words of one sender.
func (x *spread) splits() bool {
	held, _ := x.play()
	return disagree(held)
}

func disagree(held map[synod.NodeID][]broadcast.Delivery) bool {
	var first []broadcast.Delivery
	for _, ds := range held {
		if first == nil {
			first = ds
		}
		for i := range ds {
			if word(ds[i]) != word(first[i]) {
				return true
			}
		}
	}
	return false
}

func word(d broadcast.Delivery) string {
	if d.Word == nil {
		return "⊥"
	}
	var r synod.Response
	if err := r.UnmarshalBinary(d.Word.Value); err != nil {
		return err.Error()
	}
	return string(r.Answer)
}

func must(t testing.TB, name string, params map[string]any) Adversary {
	t.Helper()
	e, err := Catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.New(params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// An equivocator signs two values with its own key. Where members believe that
// nobody lies (f too small by one, the weakened twin) they end up with different
// words; with the true f all hold ⊥ and a proof against it, and against nobody else.
func TestEquivocatorSigns(t *testing.T) {
	for _, outside := range []int{0, 1} {
		x := &spread{members: 4, outside: outside, seed: 1, liars: map[synod.NodeID]Adversary{}}
		liar := synod.NodeID(0)
		if outside > 0 {
			liar = 4 // it needs a round more, which it gets whatever f is
		}
		x.liars[liar] = must(t, "equivocator", nil)
		if outside == 0 && !x.splits() {
			t.Error("f = 0: an equivocating member splits nobody: it does not bite")
		}
		x.told = 1
		held, v := x.play()
		for id, ds := range held {
			for _, d := range ds {
				switch {
				case d.Sender != liar && (d.Word == nil || d.Evidence != nil):
					t.Errorf("member %d holds %q of honest %d, evidence %v", id, word(d), d.Sender, d.Evidence)
				case d.Sender == liar && (d.Word != nil || d.Evidence == nil || !d.Evidence.Verify(v)):
					t.Errorf("member %d holds %q of the equivocator, evidence %v", id, word(d), d.Evidence)
				}
			}
		}
	}
}

// relayRace seats f+1 late revealers in a row: a sender outside the group, then f
// members that each show the signed word to the next only, the last of them to one
// honest member.
func relayRace(t *testing.T, members, f, told int, seed uint64) *spread {
	x := &spread{members: members, outside: 1, told: told, seed: seed, liars: map[synod.NodeID]Adversary{}}
	at := synod.NodeID(members) // who holds the word
	for k := range f + 1 {
		next := synod.NodeID(k)
		x.liars[at] = must(t, "late-revealer", map[string]any{"shows": int(next)})
		at = next
	}
	return x
}

// With a round too few, which is f_e+1 rounds for a sender outside (finding F11), a
// row of late revealers splits the honest; with f_e+2 it never does.
func TestLateRevealer(t *testing.T) {
	for _, c := range []struct{ members, f int }{{3, 1}, {4, 1}, {5, 2}, {7, 3}} {
		for seed := range uint64(20) {
			if !relayRace(t, c.members, c.f, c.f-1, seed).splits() {
				t.Errorf("%+v, seed %d: a round too few, and the honest hold the same: it does not bite", c, seed)
			}
			if relayRace(t, c.members, c.f, c.f, seed).splits() {
				t.Errorf("%+v, seed %d: the honest hold different words", c, seed)
			}
		}
	}
}

// A word that leaves too late for its round is delivered by nobody, and noticed by
// all [I-BB-8]; one that leaves late and still arrives in time is a word like others.
func TestLateWord(t *testing.T) {
	for late, want := range map[int]string{3: "40", 8: "⊥", 9: "⊥"} {
		x := &spread{members: 3, told: 1, seed: 7, liars: map[synod.NodeID]Adversary{0: must(t, "late-revealer", map[string]any{"shows": []any{1, 2}, "late": late})}}
		held, _ := x.play()
		for id, ds := range held {
			if word(ds[0]) != want || word(ds[1]) != "41" || ds[0].Unsafe != (want == "⊥") {
				t.Errorf("%d ticks late: member %d holds %s, unsafe %v; of the others %s", late, id, word(ds[0]), ds[0].Unsafe, word(ds[1]))
			}
		}
	}
}

// Ten thousand broadcasts with as many liars among the members as they expect, and
// any number outside: never do two honest members hold different words, and never
// is an honest sender lost or framed [I-BB-1, I-BB-2, I-BB-5].
func TestBroadcastLiars(t *testing.T) {
	executions := 10_000
	if testing.Short() {
		executions = 1000
	}
	seen := map[string]int{}
	for seed := range uint64(executions) {
		r := rand.New(rand.NewPCG(seed, 0x11a5))
		x := &spread{members: 3 + r.IntN(3), outside: r.IntN(3), seed: seed, liars: map[synod.NodeID]Adversary{}}
		x.told = r.IntN(x.members - 1)
		for _, i := range r.Perm(x.members)[:x.told] {
			x.liars[synod.NodeID(i)] = drawLiar(t, r, x)
		}
		for i := range x.outside {
			if r.IntN(2) == 0 {
				x.liars[synod.NodeID(x.members+i)] = drawLiar(t, r, x)
			}
		}
		held, v := x.play()
		if disagree(held) {
			t.Fatalf("seed %d: honest members hold different words: %+v", seed, x)
		}
		for id, ds := range held {
			for _, d := range ds {
				honest := x.liars[d.Sender] == nil
				if honest && (d.Word == nil || d.Evidence != nil) || d.Evidence != nil && !d.Evidence.Verify(v) {
					t.Fatalf("seed %d: member %d holds %q of %d, evidence %v", seed, id, word(d), d.Sender, d.Evidence)
				}
				seen["⊥"] += bit(d.Word == nil)
				seen["evidence"] += bit(d.Evidence != nil)
				seen["unsafe"] += bit(d.Unsafe)
			}
		}
	}
	t.Logf("seeds 0 to %d: %v", executions-1, seen)
	for _, what := range []string{"⊥", "evidence", "unsafe"} {
		if seen[what] < executions/20 {
			t.Errorf("%s came about %d times in %d executions: the liars are too tame", what, seen[what], executions)
		}
	}
}

func drawLiar(t *testing.T, r *rand.Rand, x *spread) Adversary {
	switch r.IntN(3) {
	case 0:
		return must(t, "equivocator", nil)
	case 1:
		return must(t, "silent", nil)
	}
	var shows []any
	for i := range x.members {
		if r.IntN(3) == 0 {
			shows = append(shows, i)
		}
	}
	params := map[string]any{"late": r.IntN(2) * r.IntN(12)}
	if shows != nil {
		params["shows"] = shows
	}
	return must(t, "late-revealer", params)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
