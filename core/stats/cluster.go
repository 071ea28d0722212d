package stats

import "math"

// ClusterMean adds up observations that come in clusters, such as the answers of
// all members to one question in all of its repeats, and gives their mean an interval
// that allows for observations of one cluster being alike. The zero value is empty.
type ClusterMean struct {
	clusters, n, sum float64
	ss, sn, nn       float64 // sums over clusters of sum², sum·n and n²
}

// Add adds a cluster of n observations with the given sum. Empty clusters are ignored.
func (m *ClusterMean) Add(sum float64, n int) {
	if n <= 0 {
		return
	}
	k := float64(n)
	m.clusters, m.n, m.sum = m.clusters+1, m.n+k, m.sum+sum
	m.ss, m.sn, m.nn = m.ss+sum*sum, m.sn+sum*k, m.nn+k*k
}

// N returns the number of observations.
func (m *ClusterMean) N() int { return int(m.n) }

// Clusters returns the number of clusters.
func (m *ClusterMean) Clusters() int { return int(m.clusters) }

// Variance returns the variance of the mean as a ratio of sums over clusters (linearised;
// Cochran, Sampling Techniques, 1977, section 9A). It needs two clusters or more.
func (m *ClusterMean) Variance() float64 {
	mean, k := m.sum/m.n, m.clusters
	return max(m.ss-2*mean*m.sn+mean*mean*m.nn, 0) / (m.n * m.n) * k / (k - 1)
}

// Estimate returns the mean with the interval of Student's t with one degree of freedom less
// than there are clusters. It is not ok without observations, and the interval is
// infinite with a single cluster.
func (m *ClusterMean) Estimate() (e Estimate, ok bool) {
	if m.n == 0 {
		return e, false
	}
	mean, half := m.sum/m.n, math.Inf(1)
	if m.clusters > 1 {
		half = Student(m.clusters-1) * math.Sqrt(m.Variance())
	}
	return Estimate{mean, mean - half, mean + half}, true
}

// Share returns the mean of observations that are 0 or 1. With one observation in every
// cluster its interval is Wilson's. Else it is Wilson's with the effective number of
// observations, which is that of independent ones with the same variance, and with Student's
// quantile: Korn and Graubard, Survey Methodology 24 (1998) 193–201; Dean and Pagano, Journal of
// Survey Statistics and Methodology 3 (2015) 484–503. Where all clusters are equal the variance
// is unknown, and a cluster counts as one observation. It is not ok without observations.
func (m *ClusterMean) Share() (e Estimate, ok bool) {
	if m.n == 0 {
		return e, false
	}
	p := m.sum / m.n
	n, z := m.effective(p * (1 - p))
	low, high := score(p, n, z)
	return Estimate{p, low, high}, true
}

// effective returns the number of independent observations of the given variance whose mean
// varies as this one does, and the quantile for its interval.
func (m *ClusterMean) effective(variance float64) (n, z float64) {
	if m.clusters == m.n {
		return m.n, Z
	}
	if m.clusters > 1 {
		if v := m.Variance(); v > 1e-12*variance && variance > 0 {
			return variance / v, Student(m.clusters - 1)
		}
	}
	return m.clusters, Z
}
