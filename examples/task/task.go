package main

import (
	"fmt"
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// Sums is the entry of the catalogue of tasks: sums of two numbers below 100.
// Each item has a key, which only the grader sees.
var Sums = task.Entry{
	Entry: synod.Entry{Name: "sums", Summary: "sums of two numbers below 100, made from a seed"},
	Form:  string(synod.Number),
	Items: 20,
	Load: func(_ string, o task.Options) ([]task.Item, error) {
		random := rand.New(rand.NewPCG(o.Seed, 0))
		items := make([]task.Item, 20)
		for i := range items {
			a, b := random.IntN(100), random.IntN(100)
			q := synod.Question{ID: fmt.Sprint(i), Text: fmt.Sprintf("What is %d + %d?", a, b), Form: synod.Number}
			var err error
			if items[i], err = task.NewItem(q, fmt.Sprint(a+b)); err != nil {
				return nil, err
			}
		}
		return items, nil
	},
}
