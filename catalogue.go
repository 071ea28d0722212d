package synod

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is a line of a catalogue: a thing's name, its one home, and what to say
// about it in one line.
type Entry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// Line returns the entry itself, so that a struct that embeds Entry is Listed.
func (e Entry) Line() Entry { return e }

// Listed is anything that has a line in a catalogue.
type Listed interface{ Line() Entry }

// Catalogue is a table of things by name. Each package that offers named things
// has one, and CLI, configuration and documents are derived from it.
type Catalogue[T Listed] struct {
	kind string
	all  []T
}

// NewCatalogue sorts the entries by name. Two of one name are a broken
// invariant of ours, so they panic.
func NewCatalogue[T Listed](kind string, entries ...T) Catalogue[T] {
	slices.SortFunc(entries, func(a, b T) int { return strings.Compare(a.Line().Name, b.Line().Name) })
	for i := 1; i < len(entries); i++ {
		if entries[i].Line().Name == entries[i-1].Line().Name {
			panic("synod: two entries named " + entries[i].Line().Name)
		}
	}
	return Catalogue[T]{kind: kind, all: entries}
}

// All returns the entries in name order.
func (c Catalogue[T]) All() []T { return slices.Clone(c.all) }

// Names returns the names in order.
func (c Catalogue[T]) Names() []string {
	names := make([]string, len(c.all))
	for i, e := range c.all {
		names[i] = e.Line().Name
	}
	return names
}

// Find returns the entry of that name, or an error that names the nearest one.
func (c Catalogue[T]) Find(name string) (T, error) {
	for _, e := range c.all {
		if e.Line().Name == name {
			return e, nil
		}
	}
	var none T
	return none, fmt.Errorf("no %s is called %q%s; there are: %s", c.kind, name, Hint(name, c.Names()), strings.Join(c.Names(), ", "))
}

// Hint returns " (did you mean …?)" with the known name nearest to got, or ""
// when none is near enough to be a slip of the hand.
func Hint(got string, known []string) string {
	best, at := len(got)/2+2, ""
	for _, k := range known {
		d := distance(got, k)
		switch { // the first or the last word of a longer name is nearer than most misspellings
		case len(got) > 2 && strings.HasPrefix(k, got):
			d = min(d, 1)
		case len(got) > 2 && strings.HasSuffix(k, "-"+got):
			d = min(d, 2)
		}
		if d < best {
			best, at = d, k
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", at)
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
