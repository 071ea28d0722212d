package robust

import "math"

// The stopping rule of DecentLLMs §IV.
const (
	maxIterations = 1000
	tolerance     = 1e-5 // length of a step, in units of the input
)

// GeometricMedian is the point with the least sum of Euclidean distances to the
// vectors (DecentLLMs Eq. 1), by Weiszfeld's iteration from the mean with the
// step of Vardi and Zhang: at an input the plain iteration would stay for ever,
// whether or not that input is the median. A start at the origin, as common code
// has it, is captured by one all-zero vector [DL-3].
//
// With f < n/2 hostile vectors it lies within 2(n-f)/(n-2f) times the honest
// radius of any centre: if honest vectors are within ρ of c, so is it within
// 2ρ(n-f)/(n-2f), the tolerance apart. It may leave the range of the honest
// (F6). With f ≥ n/2 it may be dragged anywhere.
func (w *Workspace) GeometricMedian(vectors [][]float64) (Result, error) {
	if err := w.load(vectors); err != nil {
		return Result{}, err
	}
	w.mean()
	iterations, converged := w.weiszfeld()
	r := w.result()
	r.Iterations, r.Converged = iterations, converged
	return r, nil
}

// mean sets the iterate to the mean of the rows.
func (w *Workspace) mean() {
	clear(w.out)
	for _, row := range w.rows {
		for j, x := range row {
			w.out[j] += x
		}
	}
	n := float64(len(w.rows))
	for j := range w.out {
		w.out[j] /= n
	}
}

// weiszfeld moves the iterate until a step is shorter than the tolerance.
func (w *Workspace) weiszfeld() (iterations int, converged bool) {
	y := w.out
	for i := 1; i <= maxIterations; i++ {
		weights, here := w.pulled(y)
		if weights == 0 {
			return i, true // every vector is here
		}
		share := 1.0
		if here > 0 { // the vectors here hold the iterate with a force of one each
			force := math.Sqrt(norm2(w.pull))
			if force <= here {
				return i, true // and nothing pulls it away
			}
			share -= here / force
		}
		step := 0.0
		for j := range y {
			move := float64(share * (w.pull[j] / weights))
			y[j] += move
			step += float64(move * move)
		}
		if step <= tolerance*tolerance {
			return i, true
		}
	}
	return maxIterations, false
}

// pulled sums the unit vectors from y towards the rows into w.pull and returns
// the sum of the weights 1/distance, and how many rows are at y itself.
func (w *Workspace) pulled(y []float64) (weights, here float64) {
	pull := w.pull[:len(y)]
	clear(pull)
	for _, row := range w.rows {
		row = row[:len(y)]
		square := 0.0
		for j, x := range row {
			d := x - y[j]
			square += float64(d * d)
		}
		if square == 0 {
			here++
			continue
		}
		weight := 1 / math.Sqrt(square)
		weights += weight
		for j, x := range row {
			pull[j] += float64(weight * (x - y[j]))
		}
	}
	return weights, here
}

func norm2(v []float64) (s float64) {
	for _, x := range v {
		s += float64(x * x)
	}
	return s
}
