package adversary

import (
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
)

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
				case d.Sender != liar && (d.Signed == nil || d.Evidence != nil):
					t.Errorf("member %d holds %q of honest %d, evidence %v", id, word(d), d.Sender, d.Evidence)
				case d.Sender == liar && (d.Signed != nil || d.Evidence == nil || !d.Evidence.Verify(v)):
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
				if honest && (d.Signed == nil || d.Evidence != nil) || d.Evidence != nil && !d.Evidence.Verify(v) {
					t.Fatalf("seed %d: member %d holds %q of %d, evidence %v", seed, id, word(d), d.Sender, d.Evidence)
				}
				seen["⊥"] += bit(d.Signed == nil)
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
