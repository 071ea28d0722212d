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

// An equivocator signs two values with its own key. With an f that is too small by one (the
// vulnerable twin) members deliver different values. With the true f all deliver ⊥ and have
// evidence against the equivocator, and against no other member.
func TestEquivocatorSigns(t *testing.T) {
	for _, outside := range []int{0, 1} {
		x := &spread{members: 4, outside: outside, seed: 1, adversaries: map[synod.NodeID]Adversary{}}
		adversary := synod.NodeID(0)
		if outside > 0 {
			adversary = 4 // needs one more round, which it gets for every f
		}
		x.adversaries[adversary] = must(t, "equivocator", nil)
		if outside == 0 && !x.splits() {
			t.Error("f = 0: an equivocating member splits nobody: it does not bite")
		}
		x.assumed = 1
		held, v := x.play()
		for id, ds := range held {
			for _, d := range ds {
				switch {
				case d.Sender != adversary && (d.Signed == nil || d.Evidence != nil):
					t.Errorf("member %d holds %q of honest %d, evidence %v", id, delivered(d), d.Sender, d.Evidence)
				case d.Sender == adversary && (d.Signed != nil || d.Evidence == nil || !d.Evidence.Verify(v)):
					t.Errorf("member %d holds %q of the equivocator, evidence %v", id, delivered(d), d.Evidence)
				}
			}
		}
	}
}

// relayRace has f+1 late revealers in a row: a sender outside the group, then f members. Each
// sends the signed value to the next one only, the last of them to one honest member.
func relayRace(t *testing.T, members, f, assumed int, seed uint64) *spread {
	x := &spread{members: members, outside: 1, assumed: assumed, seed: seed, adversaries: map[synod.NodeID]Adversary{}}
	at := synod.NodeID(members) // the node that has the value
	for k := range f + 1 {
		next := synod.NodeID(k)
		x.adversaries[at] = must(t, "late-revealer", map[string]any{"shows": int(next)})
		at = next
	}
	return x
}

// With one round too few, which is f_e+1 rounds for a sender outside (finding F11), a row of
// late revealers splits honest members; with f_e+2 rounds it never does.
func TestLateRevealer(t *testing.T) {
	for _, c := range []struct{ members, f int }{{3, 1}, {4, 1}, {5, 2}, {7, 3}} {
		for seed := range uint64(20) {
			if !relayRace(t, c.members, c.f, c.f-1, seed).splits() {
				t.Errorf("%+v, seed %d: one round too few, and honest members still hold the same: the attack is too "+
					"weak", c, seed)
			}
			if relayRace(t, c.members, c.f, c.f, seed).splits() {
				t.Errorf("%+v, seed %d: honest members hold different values", c, seed)
			}
		}
	}
}

// A message that arrives too late for its round is not delivered, and all members notice it
// [I-BB-8]. One that is sent late and still arrives in time counts.
func TestLateMessage(t *testing.T) {
	for late, want := range map[int]string{3: "40", 8: "⊥", 9: "⊥"} {
		x := &spread{members: 3, assumed: 1, seed: 7,
			adversaries: map[synod.NodeID]Adversary{0: must(t, "late-revealer",
				map[string]any{"shows": []any{1, 2}, "late": late})}}
		held, _ := x.play()
		for id, ds := range held {
			if delivered(ds[0]) != want || delivered(ds[1]) != "41" || ds[0].Unsafe != (want == "⊥") {
				t.Errorf("%d ticks late: member %d holds %s, unsafe %v; of the others %s", late, id, delivered(ds[0]),
					ds[0].Unsafe, delivered(ds[1]))
			}
		}
	}
}

// In ten thousand broadcasts with f adversaries among the members and any number outside, no two
// honest members hold different values, no honest value is lost, and there is no evidence
// against an honest sender [I-BB-1, I-BB-2, I-BB-5].
func TestBroadcastAdversaries(t *testing.T) {
	executions := 10_000
	if testing.Short() {
		executions = 1000
	}
	seen := map[string]int{}
	for seed := range uint64(executions) {
		r := rand.New(rand.NewPCG(seed, 0x11a5))
		x := &spread{members: 3 + r.IntN(3), outside: r.IntN(3), seed: seed, adversaries: map[synod.NodeID]Adversary{}}
		x.assumed = r.IntN(x.members - 1)
		for _, i := range r.Perm(x.members)[:x.assumed] {
			x.adversaries[synod.NodeID(i)] = drawAdversary(t, r, x)
		}
		for i := range x.outside {
			if r.IntN(2) == 0 {
				x.adversaries[synod.NodeID(x.members+i)] = drawAdversary(t, r, x)
			}
		}
		held, v := x.play()
		if disagree(held) {
			t.Fatalf("seed %d: honest members hold different values: %+v", seed, x)
		}
		for id, ds := range held {
			for _, d := range ds {
				honest := x.adversaries[d.Sender] == nil
				if honest && (d.Signed == nil || d.Evidence != nil) || d.Evidence != nil && !d.Evidence.Verify(v) {
					t.Fatalf("seed %d: member %d holds %q of %d, evidence %v", seed, id, delivered(d), d.Sender,
						d.Evidence)
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
			t.Errorf("%s occurred %d times in %d executions: the adversaries are too weak", what, seen[what],
				executions)
		}
	}
}

func drawAdversary(t *testing.T, r *rand.Rand, x *spread) Adversary {
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
