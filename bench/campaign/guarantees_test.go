package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/golden"
)

// released is the output of synod verify-claims --json that docs/guarantees.md shows.
type released struct {
	Violations uint64     `json:"violations"`
	Claims     []Verified `json:"claims"`
}

// TestGuarantees compares docs/guarantees.md with the claims, and with how often they were checked for the release
// (docs/guarantees.json, which synod verify-claims --json writes). After a change of claims: -rewrite.
func TestGuarantees(t *testing.T) {
	const page, begin, end = "../../docs/guarantees.md", "<!-- claims -->\n", "<!-- end of claims -->"
	b, err := os.ReadFile("../../docs/guarantees.json")
	if err != nil {
		t.Fatal(err)
	}
	var r released
	if err := json.Unmarshal(b, &r); err != nil || r.Violations > 0 || len(r.Claims) == 0 {
		t.Fatalf("docs/guarantees.json has %d claims and %d violations: %v", len(r.Claims), r.Violations, err)
	}
	checked := map[string]Verified{}
	for _, v := range r.Claims {
		checked[v.ID] = v
	}
	rows := table.Table{Head: []string{"claim", "what holds", "model", "checked"}, Align: "lllr"}
	for _, c := range AllClaims() {
		v, times := checked[c.ID], "not yet"
		if v.Executions > 0 {
			times = fmt.Sprint(v.Executions)
		}
		if v.Complete {
			times = "all " + times
		}
		rows.Add(c.ID, c.Property, c.Model, times)
	}
	var out strings.Builder
	if err := rows.Write(&out, "md"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no lines %q and %q", page, begin, end)
	}
	golden.Compare(t, page, before+begin+out.String()+end+after)
}
