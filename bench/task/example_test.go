package task_test

import (
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// A row of the file of an own set.
type capital struct {
	Country string `json:"country"`
	Capital string `json:"capital"`
}

// A program of another module adds its own set at the start of main. From then on it
// can be used by name, with every command.
func ExampleEntry() {
	task.Catalogue.Add(task.Entry{
		Entry: synod.Entry{Name: "capitals", Summary: "capitals of countries"},
		Form:  string(synod.Text), Items: 2,
		Layout: "one JSON object on each line: country, capital",
		Files:  []string{"capitals.jsonl"},
		Load: func(path string, _ task.Options) ([]task.Item, error) {
			return task.ReadRows(path, func(n int, row capital) (task.Item, error) {
				return task.NewItem(synod.Question{ID: fmt.Sprint(n), Text: "What is the capital of " +
					row.Country + "?", Form: synod.Text}, row.Capital)
			})
		},
	})

	file := filepath.Join(os.TempDir(), "capitals.jsonl")
	defer os.Remove(file)
	os.WriteFile(file, []byte(`{"country": "France", "capital": "Paris"}
{"country": "Norway", "capital": "Oslo"}
`), 0o600)
	set, err := task.Open("capitals", task.Options{Data: file})
	if err != nil {
		fmt.Println(err)
		return
	}
	items, _ := set.Items()
	fmt.Println(items[1].Question.Text, items[1].GradeReply("The answer is Oslo.").Verdict)
	// Output: What is the capital of Norway? right
}
