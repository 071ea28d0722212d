package weightedmajority

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

func held(a synod.Answer, sure float64) answer.Held {
	return answer.Held{Answer: a, Confidence: &sure, Source: synod.Own}
}

func heard(from int, a synod.Answer, sure float64) answer.Heard {
	return answer.Heard{From: synod.NodeID(from), Value: synod.Response{Answer: a, Confidence: sure}}
}

// [LB-4] The rule is compared with a reference that looks, for every answer, for one with a larger
// exact sum; the order of neighbours has no effect. Units of 1e-9 are exact for confidences with a
// few decimals.
func TestAdoptAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (synod.Answer, float64) {
			return rapid.SampledFrom([]synod.Answer{"1", "10", "2", "3"}).Draw(t, label),
				float64(rapid.IntRange(0, 10).Draw(t, label)) / 10
		}
		mine, sure := draw("own")
		own := held(mine, sure)
		neighbours := []answer.Heard{heard(99, mine, sure)}
		var all []answer.Heard
		for j := range rapid.IntRange(0, 7).Draw(t, "neighbours") {
			a, c := draw("heard")
			all = append(all, heard(j, a, c))
		}
		neighbours = append(neighbours, all...)
		got := adopt(own, all)
		for _, rival := range neighbours {
			if beats(neighbours, rival.Value.Answer, got.Answer) {
				t.Fatalf("%s beats %s: %v", rival.Value.Answer, got.Answer, neighbours)
			}
		}
		slices.Reverse(all)
		if again := adopt(own, all); again.Answer != got.Answer {
			t.Fatalf("the result depends on the order of neighbours: %s and %s", got.Answer, again.Answer)
		}
	})
}

func beats(neighbours []answer.Heard, a, b synod.Answer) bool {
	weigh := func(x synod.Answer) (sum *big.Rat, n int) {
		sum = new(big.Rat)
		for _, w := range neighbours {
			if w.Value.Answer == x {
				sum.Add(sum, big.NewRat(int64(w.Value.Confidence*10+.5), 10))
				n++
			}
		}
		return sum, n
	}
	sumA, nA := weigh(a)
	sumB, nB := weigh(b)
	switch sumA.Cmp(sumB) {
	case 1:
		return true
	case -1:
		return false
	}
	return nA > nB || nA == nB && a < b
}

// No adversary is tolerated: however many honest members agree, one Byzantine member that claims
// 1.0 wins if their confidences are low enough. In a plain vote it would lose.
func TestOneAdversaryWins(t *testing.T) {
	for honest := 2; honest <= 12; honest++ {
		sure := 0.9 / float64(honest)
		var neighbours []answer.Heard
		for j := range honest - 1 {
			neighbours = append(neighbours, heard(j, "4", sure))
		}
		if r := adopt(held("4", sure), neighbours); r.Answer != "4" {
			t.Fatalf("without an adversary: %+v", r)
		}
		r := adopt(held("4", sure), append(neighbours, heard(20, "7", 1)))
		if r.Answer != "7" || r.Source != synod.Adopted {
			t.Errorf("%d honest members keep their answer: %+v", honest, r)
		}
	}
	if name, _ := New().Guarantee(1, 100, true); name != "" {
		t.Errorf("it guarantees %s", name)
	}
}
