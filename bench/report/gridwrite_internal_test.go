package report

import (
	"strings"
	"testing"
)

// A manifest of a user has no source, and a note names a few of many cells.
func TestNamesOfGrids(t *testing.T) {
	g := &Grid{Preset: "mine"}
	if g.name() != "mine" {
		t.Errorf("%q", g.name())
	}
	if g.Source = "a paper"; g.name() != "mine · a paper" {
		t.Errorf("%q", g.name())
	}
	eight := strings.Fields("a b c d e f g h")
	if got := someCells(eight); got != "a, b, c, d, e, f, g, h" {
		t.Error(got)
	}
	if got := someCells(append(eight, "i")); got != "a, b, c, d, e, f, g and 2 more cells" {
		t.Error(got)
	}
}
