package task

import (
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod"
)

// dataDir returns the folder of public data beside the repository. It skips the test if there is none.
func dataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	if env := os.Getenv("SYNOD_TEST_DATA"); env != "" {
		return env
	}
	data := filepath.Join(dir, "..", "shared", "data")
	if _, err := os.Stat(data); err != nil {
		t.Skip("SKIPPED: there is no public data at ../shared/data; set SYNOD_TEST_DATA to where it is")
	}
	return data
}

// open returns the items of a set of the public data.
func open(t testing.TB, name string) []Item {
	t.Helper()
	set, err := Open(name, Options{Data: dataDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func questionOf(form synod.Form) *synod.Question {
	q := &synod.Question{Form: form}
	if form == synod.Choice {
		q.Options = []synod.Option{{Label: "A", Text: "Paris"}, {Label: "B", Text: "Rome"}, {Label: "C", Text: "Oslo"}}
	}
	return q
}
