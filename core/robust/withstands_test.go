package robust_test

import (
	"fmt"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// wins counts a vote plainly, as the slow reference.
func wins(rule robust.VoteRule, voices []robust.Voice, winner synod.Answer) bool {
	weight, seats, total := map[synod.Answer]int64{}, 0, int64(0)
	for _, v := range voices {
		total += v.Weight
		if v.Answer != synod.None {
			weight[v.Answer] += v.Weight
		}
		if v.Answer == winner {
			seats++
		}
	}
	if seats == 0 || weight[winner] == 0 {
		return false
	}
	switch rule.Name {
	case robust.Majority:
		return 2*weight[winner] > total
	case robust.Supermajority:
		return 3*weight[winner] >= 2*total
	}
	for a, w := range weight {
		if a != winner && w >= weight[winner] {
			return false
		}
	}
	return true
}

// subsets calls f with every set of k of n seats, until it returns false.
func subsets(n, k int, f func(set []int) bool) bool {
	var pick func(from int, set []int) bool
	pick = func(from int, set []int) bool {
		if len(set) == k {
			return f(set)
		}
		for i := from; i < n; i++ {
			if !pick(i+1, append(set, i)) {
				return false
			}
		}
		return true
	}
	return pick(0, make([]int, 0, k))
}

// without reports whether the winner wins without any k seats.
func without(rule robust.VoteRule, voices []robust.Voice, winner synod.Answer, k int) bool {
	return subsets(len(voices), k, func(set []int) bool {
		rest, out := make([]robust.Voice, 0, len(voices)), set
		for i, v := range voices {
			if len(out) > 0 && out[0] == i {
				out = out[1:]
				continue
			}
			rest = append(rest, v)
		}
		return wins(rule, rest, winner)
	})
}

// instead reports whether the winner wins whatever any k seats say.
func instead(rule robust.VoteRule, voices []robust.Voice, winner synod.Answer, k int, all []synod.Answer) bool {
	return subsets(len(voices), k, func(set []int) bool {
		changed := append([]robust.Voice(nil), voices...)
		var say func(i int) bool
		say = func(i int) bool {
			if i == len(set) {
				return wins(rule, changed, winner)
			}
			claims := []int64{changed[set[i]].Weight}
			if rule.Claim > 0 {
				claims = []int64{0, 1, rule.Claim}
			}
			for _, a := range all {
				for _, w := range claims {
					was := changed[set[i]]
					changed[set[i]] = robust.Voice{Answer: a, Weight: w}
					stays := say(i + 1)
					if changed[set[i]] = was; !stays {
						return false
					}
				}
			}
			return true
		}
		return say(0)
	})
}

// check compares with the slow reference.
func check(t *testing.T, rule robust.VoteRule, voices []robust.Voice, answers []synod.Answer) (won bool) {
	t.Helper()
	for _, a := range answers {
		if a == synod.None {
			continue
		}
		got, ok := robust.Withstands(rule, voices, a)
		if ok != wins(rule, voices, a) {
			t.Fatalf("%v of %v: wins %v", rule, voices, ok)
		}
		if !ok {
			continue
		}
		won = true
		var want robust.Withstood
		for want.Ignored < len(voices) && without(rule, voices, a, want.Ignored+1) {
			want.Ignored++
		}
		for want.Changed < len(voices) && instead(rule, voices, a, want.Changed+1, answers) {
			want.Changed++
		}
		if got != want {
			t.Fatalf("%v of %v for %s: %+v, want %+v", rule, voices, a, got, want)
		}
	}
	return won
}

// votes calls f with every vote of n seats up to the order of the seats.
func votes(n int, kinds []robust.Voice, f func([]robust.Voice)) {
	var add func(from int, voices []robust.Voice)
	add = func(from int, voices []robust.Voice) {
		if len(voices) == n {
			f(voices)
			return
		}
		for k := from; k < len(kinds); k++ {
			add(k, append(voices, kinds[k]))
		}
	}
	add(0, make([]robust.Voice, 0, n))
}

func kinds(answers []synod.Answer, weights ...int64) (all []robust.Voice) {
	for _, a := range answers {
		for _, w := range weights {
			all = append(all, robust.Voice{Answer: a, Weight: w})
		}
	}
	return all
}

var rules = []robust.VoteRule{{Name: robust.Plurality}, {Name: robust.Majority}, {Name: robust.Supermajority}}

// Withstands is what removing and changing any seats gives, for every vote of up to seven seats on up to four answers
// and silence, and with unequal weights.
func TestWithstandsExhaustively(t *testing.T) {
	five := []synod.Answer{"a", "b", "c", "d", synod.None}
	three := []synod.Answer{"a", "b", synod.None}
	won := 0
	for n := 1; n <= 7; n++ {
		for _, rule := range rules {
			votes(n, kinds(five, 1), func(v []robust.Voice) {
				if check(t, rule, v, five) {
					won++
				}
			})
			if n > 5 && testing.Short() {
				continue
			}
			votes(n, kinds(three, 1, 3), func(v []robust.Voice) { check(t, rule, v, append(three, "c")) })
			if n <= 4 {
				votes(n, kinds(five, 0, 1, 2, 5), func(v []robust.Voice) { check(t, rule, v, append(five, "e")) })
			}
		}
	}
	if won == 0 {
		t.Error("nothing was decided")
	}
}

// What a changed seat can claim counts: the largest k is what trying every answer with every claim gives.
func TestWithstandsClaimsExhaustively(t *testing.T) {
	won, less := 0, 0
	three := []synod.Answer{"a", "b", synod.None}
	rule := robust.VoteRule{Name: robust.Plurality, Claim: 4}
	for n := 1; n <= 5; n++ {
		votes(n, kinds(three, 0, 1, 3, 4), func(v []robust.Voice) {
			if !check(t, rule, v, append(three, "c")) {
				return
			}
			won++
			fixed := rule
			fixed.Claim = 0
			a, _ := robust.Withstands(rule, v, "a")
			if b, _ := robust.Withstands(fixed, v, "a"); a.Changed < b.Changed {
				less++
			}
		})
	}
	if won == 0 || less == 0 {
		t.Errorf("%d decided, and in %d a claim changes more than the seat's own weight", won, less)
	}
}

// By mean, too, it is what leaving out and changing seats gives.
func TestWithstandsMeanExhaustively(t *testing.T) {
	leads := func(voices []robust.Voice, winner synod.Answer) bool {
		mean, n := map[synod.Answer]float64{}, map[synod.Answer]float64{}
		for _, v := range voices {
			mean[v.Answer] += float64(v.Weight)
			n[v.Answer]++
		}
		for a := range n {
			if a != synod.None && a != winner && mean[a]/n[a] >= mean[winner]/n[winner] {
				return false
			}
		}
		return n[winner] > 0
	}
	three, won := []synod.Answer{"a", "b", synod.None}, 0
	for n := 1; n <= 5; n++ {
		votes(n, kinds(three, 0, 1, 3, 4), func(v []robust.Voice) {
			got, ok := robust.WithstandsMean(v, "a")
			if ok != leads(v, "a") {
				t.Fatalf("%v: leads %v", v, ok)
			}
			if !ok {
				return
			}
			won++
			want := 0
			for want < n && subsets(n, want+1, func(set []int) bool {
				rest := []robust.Voice{}
				for i := range v {
					if !slices.Contains(set, i) {
						rest = append(rest, v[i])
					}
				}
				return leads(rest, "a")
			}) {
				want++
			}
			if got.Ignored != want || got.Changed != 0 {
				t.Fatalf("%v: %+v, want %d ignored", v, got, want)
			}
			if subsets(n, 1, func(set []int) bool {
				other := slices.Clone(v)
				other[set[0]] = robust.Voice{Answer: "c", Weight: 4}
				return leads(other, "a")
			}) {
				t.Fatalf("%v: no seat can change the answer", v)
			}
		})
	}
	if won == 0 {
		t.Error("nothing was decided")
	}
}

// Cases by hand.
func TestWithstands(t *testing.T) {
	read := func(s string) (voices []robust.Voice) {
		for _, c := range s {
			v := robust.Voice{Answer: synod.Answer(c), Weight: 1}
			if c == '-' {
				v.Answer = synod.None
			}
			voices = append(voices, v)
		}
		return voices
	}
	for _, c := range []struct {
		rule, voices     string
		ignored, changed int
	}{
		{robust.Plurality, "aaaaabb", 2, 1}, {robust.Majority, "aaaaabb", 2, 1},
		{robust.Plurality, "aaaaaaa", 6, 3}, {robust.Majority, "aaaaaaa", 6, 3},
		{robust.Supermajority, "aaaaaaa", 6, 2},
		{robust.Plurality, "aaab", 1, 0}, {robust.Plurality, "aab", 0, 0}, {robust.Plurality, "aabc", 0, 0},
		{robust.Plurality, "aaaa---", 3, 1}, {robust.Majority, "aaaa---", 0, 0}, {robust.Supermajority, "aab", 0, 0},
	} {
		got, ok := robust.Withstands(robust.VoteRule{Name: c.rule}, read(c.voices), "a")
		if want := (robust.Withstood{Ignored: c.ignored, Changed: c.changed}); !ok || got != want {
			t.Errorf("%s of %s: %+v %v, want %+v", c.rule, c.voices, got, ok, want)
		}
	}
	for _, tie := range []string{"aabb", "ab", "--", ""} {
		if got, ok := robust.Withstands(rules[0], read(tie), "a"); ok || got != (robust.Withstood{}) {
			t.Errorf("the tie %q withstands %+v", tie, got)
		}
	}
}

func ExampleWithstands() {
	voices := []robust.Voice{{Answer: "yes", Weight: 1}, {Answer: "yes", Weight: 1}, {Answer: "yes", Weight: 1},
		{Answer: "yes", Weight: 1}, {Answer: "no", Weight: 1}}
	w, _ := robust.Withstands(robust.VoteRule{Name: robust.Plurality}, voices, "yes")
	fmt.Printf("any %d may be ignored, any %d may change\n", w.Ignored, w.Changed)
	// Output: any 2 may be ignored, any 1 may change
}

// The fewest seats whose loss leaves too few voices are one more than may be lost, as all sets show.
func TestSpareExhaustively(t *testing.T) {
	for _, seats := range [][]int{{}, {1}, {3}, {1, 1}, {2, 1, 1}, {3, 2, 2}, {1, 4, 1, 2}} {
		var voice []int // of each seat
		for v, n := range seats {
			voice = append(voice, slices.Repeat([]int{v}, n)...)
		}
		for need := 1; need <= 5; need++ {
			want := len(voice) + 1 // the fewest
			for set := range 1 << len(voice) {
				left, lost := map[int]bool{}, 0
				for i, v := range voice {
					if set>>i&1 == 0 {
						left[v] = true
					} else {
						lost++
					}
				}
				if len(left) < need {
					want = min(want, lost)
				}
			}
			if got := robust.Spare(seats, need); got != max(0, want-1) {
				t.Errorf("voices with %v seats, of which %d are needed: %d may be lost, want %d", seats, need, got,
					max(0, want-1))
			}
		}
	}
}
