// Program capitals is synod with one more task: run it like synod, for example
//
//	go run . grade --help
//	go run . bench run capitals --data capitals.jsonl -c ../simulated.yaml
package main

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/cli"
	"synod.dev/synod/task"
)

type row struct {
	Country string `json:"country"`
	Capital string `json:"capital"`
}

var capitals = task.Entry{
	Entry: synod.Entry{Name: "capitals", Summary: "capitals of countries"},
	Form:  string(synod.Text), Items: 3,
	Layout: "one JSON object on each line: country, capital",
	Files:  []string{"capitals.jsonl"},
	Load: func(path string, _ task.Options) ([]task.Item, error) {
		return task.ReadRows(path, func(n int, r row) (task.Item, error) {
			return task.NewItem(synod.Question{ID: fmt.Sprint(n), Text: "What is the capital of " + r.Country + "?", Form: synod.Text}, r.Capital)
		})
	},
}

func main() {
	task.Catalogue.Add(capitals)
	cli.Main()
}
