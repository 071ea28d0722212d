// Package presets has the experiments of the papers: a manifest for each, as package manifest reads
// it, and the figures that the papers print, in CSV files that the manifests name.
package presets

import (
	"embed"
	"strings"
)

//go:embed *.yaml *.csv
var files embed.FS

// Names lists the presets.
func Names() (names []string) {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // an embedded folder can be read
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	return names
}

// File returns a file of this package, such as sac-table1.yaml or sac.csv.
func File(name string) ([]byte, error) { return files.ReadFile(name) }
