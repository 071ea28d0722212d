package synod

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entry is what every line of a catalogue has: a unique name, and a summary in one
// line.
type Entry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

// Line returns the entry itself, so that a struct that embeds Entry is Listed.
func (e Entry) Line() Entry { return e }

// Listed is implemented by everything that a Catalogue can hold.
type Listed interface{ Line() Entry }

// Catalogue is a table of things by name. Each package that offers things by name
// has one. The command line, configuration files and documents are derived from it.
//
// A program of another module adds its own entries with Add at the start of main.
type Catalogue[T Listed] struct {
	kind string
	all  []T // by name
}

// NewCatalogue returns a catalogue of the given entries. Error messages call an
// entry a kind, for example "protocol". It panics if two entries have one name.
func NewCatalogue[T Listed](kind string, entries ...T) *Catalogue[T] {
	c := &Catalogue[T]{kind: kind}
	c.Add(entries...)
	return c
}

// Add adds entries. It panics if an entry has no name or the name of another one.
// It must not be called at the same time as any other method; call it from main
// before anything else.
func (c *Catalogue[T]) Add(entries ...T) {
	byName := make(map[string]T, len(c.all)+len(entries))
	for _, e := range slices.Concat(c.all, entries) {
		name := e.Line().Name
		if name == "" {
			panic("synod: a " + c.kind + " has no name")
		}
		if _, taken := byName[name]; taken {
			panic("synod: two entries named " + name)
		}
		byName[name] = e
	}
	// Names are sorted, not entries: a sort compiled for each type of entry adds 0.3 MB to the program.
	c.all = nil
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		c.all = append(c.all, byName[name])
	}
}

// All returns the entries in the order of their names.
func (c *Catalogue[T]) All() []T { return slices.Clone(c.all) }

// Names returns the names in order.
func (c *Catalogue[T]) Names() []string {
	names := make([]string, len(c.all))
	for i, e := range c.all {
		names[i] = e.Line().Name
	}
	return names
}

// Find returns the entry with a name, or an error that suggests the nearest name.
func (c *Catalogue[T]) Find(name string) (T, error) {
	for _, e := range c.all {
		if e.Line().Name == name {
			return e, nil
		}
	}
	var none T
	return none, fmt.Errorf("no %s is called %q%s; there are: %s", c.kind, name, Hint(name, c.Names()),
		strings.Join(c.Names(), ", "))
}

// Hint returns " (did you mean …?)" with the known name that is nearest to got, or
// "" if none is near enough for a spelling mistake.
func Hint(got string, known []string) string {
	best, nearest := len(got)/3+2, ""
	for _, k := range known {
		d := distance(got, k)
		switch { // a name given by its first or last part is nearer than most misspellings
		case len(got) > 2 && strings.HasPrefix(k, got):
			d = min(d, 1)
		case len(got) > 2 && strings.HasSuffix(k, "-"+got):
			d = min(d, 2)
		}
		if d < best {
			best, nearest = d, k
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", nearest)
}

// distance returns the Levenshtein distance in bytes.
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
