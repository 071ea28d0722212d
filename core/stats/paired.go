package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// PairedDifference returns the share of successes after minus the share before, of
// pairs counted by outcome: success both times, only before, only after, neither.
// The interval is that of the score test: Tango, Statistics in Medicine 17 (1998) 891–908.
// There must be at least one pair.
func PairedDifference(both, onlyBefore, onlyAfter, neither int) Estimate {
	return tango(float64(onlyBefore), float64(onlyAfter), float64(both+onlyBefore+onlyAfter+neither), Z)
}

// tango returns the difference (won − lost)/n of paired shares with its score interval for a
// quantile z. The counts need not be whole.
func tango(lost, won, n, z float64) Estimate {
	d := (won - lost) / n
	rejected := func(delta float64) bool {
		// q is the likeliest probability of "only before" if the difference is delta.
		b, c := (2*n-won+lost)*delta-lost-won, -lost*delta*(1-delta)
		q := (math.Sqrt(max(b*b-8*n*c, 0)) - b) / (4 * n)
		variance := n * (2*q + delta*(1-delta))
		off := won - lost - n*delta
		return off*off > z*z*max(variance, 0)
	}
	return Estimate{d, edge(d, -1, rejected), edge(d, 1, rejected)}
}

// ClusterPairs adds up pairs of outcomes, before and after, that come in clusters, such as the repeats
// of a question or the members that answer it. The zero value is empty.
type ClusterPairs struct {
	lost, won float64
	change    ClusterMean
}

// Add adds a cluster of n pairs, of which lost are successes only before and won only after.
func (p *ClusterPairs) Add(lost, won, n int) {
	p.lost, p.won = p.lost+float64(lost), p.won+float64(won)
	p.change.Add(float64(won-lost), n)
}

// Clusters returns the number of clusters.
func (p *ClusterPairs) Clusters() int { return p.change.Clusters() }

// Difference returns the share of successes after minus the share before. If every cluster has one pair, its interval
// is the interval of PairedDifference. Otherwise it is computed in the same way from the effective number of pairs and
// Student's quantile, as in ClusterMean.Share. ok is false if there are no pairs.
func (p *ClusterPairs) Difference() (e Estimate, ok bool) {
	n := p.change.n
	if n == 0 {
		return e, false
	}
	d := (p.won - p.lost) / n
	effective, z := p.change.effective((p.won+p.lost)/n - d*d)
	weight := effective / n
	return tango(p.lost*weight, p.won*weight, effective, z), true
}

// McNemar returns the two-sided p-value of McNemar's exact test for b pairs that
// changed one way and c that changed the other way: the probability of a split at
// least as uneven if both ways are equally likely. It is 1 without changed pairs.
func McNemar(b, c int) float64 {
	if b+c == 0 {
		return 1
	}
	n, k := float64(b+c), float64(min(b, c))
	return min(1, 2*mathext.RegIncBeta(n-k, k+1, 0.5)) // twice the binomial probability of at most k of n
}

// McNemarSize returns how many pairs McNemar's test at 5 % needs to show a difference of two shares with a power of
// 80 %, where the share discordant of all pairs differ: Connor, "Sample size for testing differences in
// proportions for the paired-sample design", Biometrics 43 (1987), 207–211. It is 0 for no difference. The exact
// test needs a few more.
func McNemarSize(discordant, difference float64) int {
	if difference == 0 {
		return 0
	}
	const power = 0.8416212335729143 // 80 % quantile of the standard normal distribution
	d := difference * difference
	root := (Z*math.Sqrt(discordant) + power*math.Sqrt(max(discordant-d, 0))) / math.Abs(difference)
	return int(math.Ceil(root * root))
}

// PairedPermutation returns the two-sided p-value of paired differences, one whole number for each question, if each of
// them was as likely to have the other sign: the share of all choices of signs whose sum is at least as far from 0.
// For differences of −1, 0 and 1 this is McNemar's exact test. Repeats of a question must be added up before, because
// they are not independent. It is computed exactly while the number of differences times the sum of their sizes is at
// most 2·10⁸, and else with the normal distribution, from which it does not differ there by what is printed.
func PairedPermutation(differences []int) float64 {
	sum, size, squares := 0, 0, 0.0
	for _, d := range differences {
		sum, size, squares = sum+d, size+max(d, -d), squares+float64(d)*float64(d)
	}
	sum = max(sum, -sum)
	switch {
	case sum == 0:
		return 1
	case float64(len(differences))*float64(size) > 2e8:
		return math.Erfc(float64(sum) / math.Sqrt(2*squares))
	}
	chance, next := make([]float64, 2*size+1), make([]float64, 2*size+1) // of the sums −size to size
	chance[size] = 1
	reached := 0 // the largest sum so far
	for _, d := range differences {
		if d = max(d, -d); d == 0 {
			continue
		}
		clear(next)
		for s := size - reached; s <= size+reached; s++ {
			next[s-d] += chance[s] / 2
			next[s+d] += chance[s] / 2
		}
		reached += d
		chance, next = next, chance
	}
	p := 0.0
	for s := sum; s <= size; s++ {
		p += chance[size+s]
	}
	return min(2*p, 1)
}
