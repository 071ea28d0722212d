package graph

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// maxSpectral limits AlgebraicConnectivity, whose time grows with n³.
const maxSpectral = 1024

// AlgebraicConnectivity returns λ₂, the second smallest eigenvalue of the Laplacian of an undirected graph: 0 if the
// graph is not connected, n if it is complete. The error is below 1e-9·n. It returns an error for a directed graph and
// unless there are 2 to 1024 nodes.
func AlgebraicConnectivity(g Graph) (float64, error) {
	switch {
	case g.directed:
		return 0, errors.New("graph: algebraic connectivity is defined for undirected graphs only")
	case g.n < 2 || g.n > maxSpectral:
		return 0, fmt.Errorf("graph: algebraic connectivity of %d nodes: want 2 to %d", g.n, maxSpectral)
	}
	laplacian := mat.NewSymDense(g.n, nil)
	for i := range g.n {
		laplacian.SetSym(i, i, float64(g.InDegree(i)))
		for _, j := range g.In(i) {
			laplacian.SetSym(i, j, -1)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(laplacian, false) {
		return 0, errors.New("graph: the eigenvalues of the Laplacian did not converge")
	}
	return max(0, eigen.RawValues()[1]), nil // rounding can leave a 0 below 0
}

// Betweenness returns, for each node, the sum over all ordered pairs of other nodes of the share of
// their shortest paths that lead through the node (Freeman 1977, computed with the accumulation of
// Brandes 2001).
func Betweenness(g Graph) []float64 {
	score := make([]float64, g.n)
	out := make([][]int, g.n)
	for i := range out {
		out[i] = g.Out(i)
	}
	for s := range g.n {
		distance, paths, share := make([]int, g.n), make([]float64, g.n), make([]float64, g.n)
		distance[s], paths[s] = 1, 1 // distances count from 1, so that 0 means not reached
		queue := []int{s}
		for k := 0; k < len(queue); k++ {
			i := queue[k]
			for _, j := range out[i] {
				if distance[j] == 0 {
					distance[j] = distance[i] + 1
					queue = append(queue, j)
				}
				if distance[j] == distance[i]+1 {
					paths[j] += paths[i]
				}
			}
		}
		for k := len(queue) - 1; k > 0; k-- {
			i := queue[k]
			for _, j := range out[i] {
				if distance[j] == distance[i]+1 {
					share[i] += paths[i] / paths[j] * (1 + share[j])
				}
			}
			score[i] += share[i]
		}
	}
	return score
}
