package robust

import "math"

// The stopping rule of DecentLLMs §IV.
const (
	maxIterations = 1000
	tolerance     = 1e-5 // length of the last step, in units of the input
)

// GeometricMedian returns the point with the least sum of Euclidean distances to
// the vectors (DecentLLMs Eq. 1). It uses Weiszfeld's iteration from the mean with
// the step of Vardi and Zhang, because the plain iteration never leaves an input,
// even if that input is not the median. A start at the origin, which is common, can
// be captured by one all-zero vector [DL-3].
//
// With f < n/2 hostile vectors, if all honest vectors are within ρ of a point c, the
// result is within 2ρ(n-f)/(n-2f) of c, up to the tolerance. It may leave the range
// of the honest vectors (finding F6). With f ≥ n/2 it can be moved anywhere.
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

// weiszfeld moves the iterate until a step is shorter than the tolerance. It then
// starts once more near the input with the least sum of distances, if that is better.
// Near an input, steps are no longer than the distance to it, however strongly the
// other vectors pull. Without the second start, a hostile vector placed where the
// mean will be could hold the iterate there. After the second start no input is
// better than the iterate by more than the tolerance, so none can hold it.
func (w *Workspace) weiszfeld() (iterations int, converged bool) {
	again := false
	for i := 1; i <= maxIterations; i++ {
		if w.step() > tolerance {
			continue
		}
		if again || !w.restart() {
			return i, true
		}
		again = true
	}
	return maxIterations, false
}

// step moves the iterate once and returns the distance.
func (w *Workspace) step() float64 {
	y := w.out
	weights, here := w.pulled(y)
	if weights == 0 {
		return 0 // all vectors are here
	}
	share := 1.0
	if here > 0 { // each vector here holds the iterate with a force of one
		force := math.Sqrt(norm2(w.pull))
		if force <= here {
			return 0 // the other vectors do not pull hard enough
		}
		share -= here / force
	}
	square := 0.0
	for j := range y {
		move := float64(share * (w.pull[j] / weights))
		y[j] += move
		square += float64(move * move)
	}
	return math.Sqrt(square)
}

// restart moves the iterate to one step from the input with the least sum of
// distances, if that reduces the sum by more than the tolerance. It reports whether
// it did.
func (w *Workspace) restart() bool {
	reached, best := w.distances(w.out), math.Inf(1)
	w.column = append(w.column[:0], w.out...)
	for _, row := range w.rows {
		if s := w.distances(row); s < best {
			best = s
			copy(w.out, row)
		}
	}
	w.step()
	if w.distances(w.out) < reached-tolerance {
		return true
	}
	copy(w.out, w.column)
	return false
}

// distances returns the sum of the distances from y to the rows.
func (w *Workspace) distances(y []float64) (s float64) {
	for _, row := range w.rows {
		square := 0.0
		for j, x := range row {
			d := x - y[j]
			square += float64(d * d)
		}
		s += math.Sqrt(square)
	}
	return s
}

// pulled sums the unit vectors from y towards the rows into w.pull. It returns the
// sum of the weights 1/distance, and the number of rows within the tolerance of y.
// These do not pull: inputs that differ by rounding only must be treated alike, or
// the iterate could not leave them.
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
		if square <= tolerance*tolerance {
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
