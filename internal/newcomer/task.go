package newcomer

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// Task is the entry of the task.
var Task = task.Entry{
	Entry: synod.Entry{Name: "newcomer-sums", Summary: "three sums"},
	Form:  string(synod.Number),
	Items: 3,
	Load: func(string, task.Options) (all []task.Item, err error) {
		for i := range 3 {
			n := strconv.Itoa(i)
			item, err := task.NewItem(synod.Question{ID: n, Text: "What is " + n + " + 40?", Form: synod.Number},
				strconv.Itoa(i+40))
			if err != nil {
				return nil, err
			}
			all = append(all, item)
		}
		return all, nil
	},
}
