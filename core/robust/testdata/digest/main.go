// Command digest prints two digests of many random inputs: one of all aggregates of
// package robust, which must be the same on every machine, and one of an iteration
// without explicit roundings, which differs between builds.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"synod.dev/synod/core/robust"
)

func main() {
	ours, naive := fnv.New64a(), fnv.New64a()
	var w robust.Workspace
	r := rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		vectors := draw(r)
		for _, a := range robust.Catalogue.All() {
			if a.Bound(len(vectors)) < 0 {
				continue
			}
			got, err := a.Of(&w, vectors, a.Bound(len(vectors)))
			if err != nil {
				panic(err)
			}
			for _, x := range append(got.Vector, got.Total) {
				binary.Write(ours, binary.BigEndian, math.Float64bits(x))
			}
		}
		for _, x := range fused(vectors) {
			binary.Write(naive, binary.BigEndian, math.Float64bits(x))
		}
	}
	fmt.Printf("%016x %016x\n", ours.Sum64(), naive.Sum64())
}

func draw(r *rand.Rand) [][]float64 {
	vectors := make([][]float64, 1+r.IntN(15))
	d := 1 + r.IntN(6)
	for i := range vectors {
		vectors[i] = make([]float64, d)
		for j := range vectors[i] {
			vectors[i][j] = float64(r.IntN(2001)) / 100
		}
	}
	return vectors
}

// fused is ten of Weiszfeld's steps without explicit roundings.
func fused(vectors [][]float64) []float64 {
	y := make([]float64, len(vectors[0]))
	for range 10 {
		next, weights := make([]float64, len(y)), 0.0
		for _, v := range vectors {
			square := 1e-9
			for j := range v {
				square += (v[j] - y[j]) * (v[j] - y[j])
			}
			weight := 1 / math.Sqrt(square)
			weights += weight
			for j := range v {
				next[j] += weight * v[j]
			}
		}
		for j := range y {
			y[j] = next[j] / weights
		}
	}
	return y
}
