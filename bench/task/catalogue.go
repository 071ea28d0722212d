package task

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// Catalogue lists the tasks by name.
var Catalogue = synod.NewCatalogue("task", slices.Concat(
	[]Entry{builtin, gsm8k, math500, sacMath, sacCommonsense, csqa, commonsense, mmluPro, xstest}, adapters())...)

// Open returns the set with the given name in the catalogue.
func Open(name string, o Options) (Set, error) {
	e, err := Catalogue.Find(name)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	return e.Open(o)
}
