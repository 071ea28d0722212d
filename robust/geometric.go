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

// weiszfeld moves the iterate until a step is shorter than the tolerance, and then
// once more from the best input if that is nearer to all. Near an input the steps are as
// short as the way to it, however hard the other vectors pull: without the second
// start, one vector sent to where the mean will be would hold the iterate there.
// From then on no input is nearer to all vectors than the iterate, the tolerance
// apart, and none can hold it.
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

// step moves the iterate once and returns how far.
func (w *Workspace) step() float64 {
	y := w.out
	weights, here := w.pulled(y)
	if weights == 0 {
		return 0 // every vector is here
	}
	share := 1.0
	if here > 0 { // the vectors here hold the iterate with a force of one each
		force := math.Sqrt(norm2(w.pull))
		if force <= here {
			return 0 // and nothing pulls it away
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

// restart puts the iterate one step from the input with the least sum of
// distances, if that is nearer to all vectors than where it was, by more than the
// tolerance.
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

// distances sums the distances from y to the rows.
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

// pulled sums the unit vectors from y towards the rows into w.pull and returns
// the sum of the weights 1/distance, and how many rows are at y itself, the
// tolerance apart: of inputs that differ by rounding all must hold the iterate, or
// none of them lets it go.
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
