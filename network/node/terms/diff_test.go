package terms_test

import (
	"slices"
	"testing"

	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// A change shows as the lines that changed, and not as two whole council files.
func TestDiffShowsChangedLines(t *testing.T) {
	a := &roster.Roster{Council: "council: seven\nprotocol:\n  rounds: 4\nf: 2\n",
		Parameters: `{"rounds":4,"score":"stated"}`}
	b := &roster.Roster{Council: "council: seven\nprotocol:\n  rounds: 3\nf: 2\n",
		Parameters: `{"rounds":3,"score":"stated"}`}
	want := []string{`parameters: - "rounds":4`, `parameters: + "rounds":3`, "council file: - rounds: 4",
		"council file: + rounds: 3"}
	if got := terms.Diff(a, b); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := terms.Diff(a, a); len(got) > 0 {
		t.Errorf("the same: %q", got)
	}
	b.Council = "protocol:\n  rounds: 4\ncouncil: seven\nf: 2\n"
	b.Parameters = a.Parameters
	if got := terms.Diff(a, b); len(got) != 1 {
		t.Errorf("another order: %q", got)
	}
}
