package stats

import "math"

// ClusterPhi adds up pairs of observations that are yes or no and come in clusters, such as the errors of two
// members in the repeats of a question, and gives their correlation. The zero value is empty.
type ClusterPhi struct {
	clusters float64
	cells    [4]float64    // pairs by the bits of their outcome: 1 the first is yes, 2 the second is yes
	products [4][4]float64 // sums over clusters of the products of their cells
}

// Add adds a cluster with so many pairs of each outcome. Empty clusters are ignored.
func (p *ClusterPhi) Add(neither, onlyFirst, onlySecond, both int) {
	if neither+onlyFirst+onlySecond+both <= 0 {
		return
	}
	p.clusters++
	cells := [4]float64{float64(neither), float64(onlyFirst), float64(onlySecond), float64(both)}
	for i, n := range cells {
		p.cells[i] += n
		for j, m := range cells {
			p.products[i][j] += n * m
		}
	}
}

// N returns the number of pairs.
func (p *ClusterPhi) N() int { return int(p.cells[0] + p.cells[1] + p.cells[2] + p.cells[3]) }

// Clusters returns the number of clusters.
func (p *ClusterPhi) Clusters() int { return int(p.clusters) }

// Estimate returns the correlation of the pairs (phi coefficient), from -1 to 1, with its interval: that of the
// table of the effective number of pairs (as in ClusterMean.Share), joined with that of the same table with half a
// pair more of each outcome (Agresti and Min, Statistics in Medicine 24 (2005) 729–740). The first interval alone is
// too narrow if one of the two is rarely yes; the second alone is too narrow if both nearly always agree. ok is false
// if one of the two is always yes or never yes.
func (p *ClusterPhi) Estimate() (e Estimate, ok bool) {
	phi, influence, ok := correlation(p.cells)
	if !ok {
		return e, false
	}
	n, quantile := p.effective(influence)
	table, more := p.cells, p.cells
	for i := range table {
		table[i] *= n / float64(p.N())
		more[i] = table[i] + 0.5
	}
	low, high := fisher(more, quantile)
	if math.Abs(phi) > 1-1e-12 { // atanh phi is infinite
		return Estimate{phi, min(low, phi), max(high, phi)}, true
	}
	l, h := fisher(table, quantile)
	return Estimate{phi, min(low, l), max(high, h)}, true
}

// fisher returns the interval of phi of a table of independent pairs that is normal on Fisher's scale, atanh phi,
// with the variance of Bishop, Fienberg and Holland, Discrete Multivariate Analysis (1975), section 11.3.
func fisher(cells [4]float64, quantile float64) (low, high float64) {
	phi, influence, _ := correlation(cells)
	n := cells[0] + cells[1] + cells[2] + cells[3]
	half := quantile * math.Sqrt(variance(cells, influence)) / n / (1 - phi*phi)
	return math.Tanh(math.Atanh(phi) - half), math.Tanh(math.Atanh(phi) + half)
}

// effective returns the number of independent pairs for which phi varies as much, and the quantile for its
// interval.
func (p *ClusterPhi) effective(influence [4]float64) (n, quantile float64) {
	if n = float64(p.N()); p.clusters == n {
		return n, Z
	}
	clustered := 0.0 // the sum over clusters of the square of what a cluster adds to phi
	for i, a := range influence {
		for j, b := range influence {
			clustered += a * b * p.products[i][j]
		}
	}
	clustered *= p.clusters / (p.clusters - 1)
	alone := variance(p.cells, influence)
	if p.clusters > 1 && alone > 1e-12*n && clustered > 1e-12*alone {
		return n * alone / clustered, Student(p.clusters - 1)
	}
	return p.clusters, Z
}

// correlation returns phi of a table, and how much a pair of each outcome changes it, times the number of pairs. It
// is not ok if one of the two is always or never yes.
func correlation(cells [4]float64) (phi float64, influence [4]float64, ok bool) {
	n := cells[0] + cells[1] + cells[2] + cells[3]
	first, second := cells[1]+cells[3], cells[2]+cells[3]
	if first <= 0 || second <= 0 || first >= n || second >= n {
		return 0, influence, false
	}
	// The outcomes as numbers of mean 0 and variance 1.
	standard := func(yes int, share float64) float64 { return (float64(yes) - share) / math.Sqrt(share*(1-share)) }
	var x, y [4]float64
	for i := range cells {
		x[i], y[i] = standard(i&1, first/n), standard(i>>1, second/n)
		phi += cells[i] / n * x[i] * y[i]
	}
	for i := range cells {
		influence[i] = x[i]*y[i] - phi/2*(x[i]*x[i]+y[i]*y[i])
	}
	return min(max(phi, -1), 1), influence, true
}

// variance returns the sum of the squares of what all pairs of a table add to phi, if they are independent.
func variance(cells, influence [4]float64) (sum float64) {
	for i, n := range cells {
		sum += n * influence[i] * influence[i]
	}
	return sum
}
