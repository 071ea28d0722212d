package catalog_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol/catalog"
)

// others are folders that hold no protocol.
var others = []string{"answer", "bargain", "broadcast", "catalog", "check", "grade", "leader", "reveal"}

// Every other folder is a protocol with a line in the catalogue, and the other way
// round. Its defaults are valid and its templates can be parsed.
func TestCatalogue(t *testing.T) {
	var folders []string
	here, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range here {
		if d.IsDir() && !slices.Contains(others, d.Name()) {
			folders = append(folders, d.Name())
		}
	}
	names := slices.DeleteFunc(catalog.Protocols.Names(), func(name string) bool { return name == tallyEntry.Name })
	for i, name := range names { // a package's name has no hyphen
		names[i] = strings.ReplaceAll(name, "-", "")
	}
	if slices.Sort(names); !slices.Equal(names, folders) {
		t.Errorf("the catalogue has %v, the folders are %v", names, folders)
	}
	for _, e := range catalog.Protocols.All() {
		if e.Name == tallyEntry.Name {
			continue
		}
		if e.Summary == "" || e.Source == "" || e.About == "" {
			t.Errorf("%s: its line is not complete", e.Name)
		}
		p := e.New()
		if err := e.Verify(p); err != nil {
			t.Errorf("%s: the defaults: %v", e.Name, err)
		}
		if p.Paper(); e.Verify(p) != nil || p.Settles() {
			t.Errorf("%s: to the paper's letter it must be valid, and stop only when it is over", e.Name)
		}
		if b, err := prompt.NewTemplates(e.Name, e.Prompts()); err != nil || len(b.Names()) == 0 {
			t.Errorf("%s: prompts: %v", e.Name, err)
		}
	}
}

// Every protocol says what "exact: paper" restores and what it does not.
func TestExactIsListed(t *testing.T) {
	for _, e := range catalog.Protocols.All() {
		if e.Name != tallyEntry.Name && !strings.HasPrefix(e.Exact, "restored    ") ||
			e.Name != tallyEntry.Name && !strings.Contains(e.Exact, "\ndiffers     ") {
			t.Errorf("%s does not say what exact: paper restores and what differs: %q", e.Name, e.Exact)
		}
	}
}
