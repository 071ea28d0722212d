package odds

import "math"

// How many questions a mean counts as where a figure leans on it.
const (
	leanOnAll  = 4 // a member's accuracy on the mean accuracy of all members
	leanOnOwn  = 8 // its accuracy on a kind on its accuracy on all kinds
	leanOnPair = 8 // how often two are wrong alike on the mean of all pairs
)

// learn returns the members' log-odds by kind of question, and for all together.
func learn(members int, labelled []Labelled) map[string]KindOdds {
	right := map[string][]float64{"": make([]float64, members)} // by kind and member
	asked := map[string]int{"": len(labelled)}
	sum := 0.0
	for _, q := range labelled {
		if right[q.Kind] == nil {
			right[q.Kind] = make([]float64, members)
		}
		if q.Kind != "" {
			asked[q.Kind]++
		}
		for i, a := range q.Answers {
			if a == "" || a != q.Right {
				continue
			}
			sum++
			right[""][i]++
			if q.Kind != "" {
				right[q.Kind][i]++
			}
		}
	}
	mean := (sum + 1) / (float64(len(labelled)*members) + 2)
	kinds := map[string]KindOdds{}
	for kind, n := range asked {
		k := KindOdds{Labels: n, LogOdds: make([]float64, members)}
		for i := range k.LogOdds {
			p := (right[""][i] + leanOnAll*mean) / (float64(len(labelled)) + leanOnAll)
			if kind != "" {
				p = (right[kind][i] + leanOnOwn*p) / (float64(n) + leanOnOwn)
			}
			k.LogOdds[i] = math.Log(p / (1 - p))
		}
		kinds[kind] = k
	}
	return kinds
}

// alike returns by pair how often two members that are both wrong gave the same answer.
func alike(members int, labelled []Labelled) [][]float64 {
	same, both := square(members), square(members)
	sumSame, sumBoth := 1.0, 4.0 // a quarter, before anything is known
	for _, q := range labelled {
		for i, a := range q.Answers {
			for j, b := range q.Answers[:i] {
				if a == q.Right && a != "" || b == q.Right && b != "" || a == "" && b == "" {
					continue
				}
				both[i][j]++
				sumBoth++
				if a == b {
					same[i][j]++
					sumSame++
				}
			}
		}
	}
	for i := range same {
		for j := range i {
			p := (same[i][j] + leanOnPair*sumSame/sumBoth) / (both[i][j] + leanOnPair)
			same[i][j], same[j][i] = p, p
		}
	}
	return same
}

func square(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}
