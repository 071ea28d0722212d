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

// The page of claims, and the output of synod research verify-claims --json for the release that the page shows.
const (
	claimsPage = "../../docs/guarantees.md"
	claimsFile = "../../docs/guarantees.json"
)

// releasedClaims is what claimsFile has.
type releasedClaims struct {
	Version     int        `json:"version"`
	Program     string     `json:"program"`
	Seed        uint64     `json:"seed"`
	Seconds     float64    `json:"seconds"`
	Interrupted bool       `json:"interrupted"`
	Executions  uint64     `json:"executions"`
	Violations  uint64     `json:"violations"`
	Claims      []Verified `json:"claims"`
}

func readReleased(t *testing.T) (r releasedClaims) {
	t.Helper()
	b, err := os.ReadFile(claimsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &r); err != nil || r.Violations > 0 || len(r.Claims) == 0 {
		t.Fatalf("%s has %d claims and %d violations: %v", claimsFile, len(r.Claims), r.Violations, err)
	}
	return r
}

// TestGuarantees compares docs/guarantees.md with the claims, and with how often they were checked for the release.
// After a change of claims: -rewrite.
func TestGuarantees(t *testing.T) {
	checked := map[string]Verified{}
	for _, v := range readReleased(t).Claims {
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
	tested := table.Table{Head: []string{"claim", "what holds", "model", "check"}, Align: "llll"}
	for _, c := range TestedClaims {
		tested.Add(c.ID, c.Property, c.Model, c.Check)
	}
	text, err := os.ReadFile(claimsPage)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, claimsPage, between(t, between(t, string(text), "claims", &rows), "tested claims", &tested))
}

// TestGuaranteesTexts compares the texts of docs/guarantees.json with the claims; its figures are those of the release.
// After a change of texts: -rewrite.
func TestGuaranteesTexts(t *testing.T) {
	texts := map[string]Claim{}
	for _, c := range AllClaims() {
		texts[c.ID] = c
	}
	r := readReleased(t)
	for i := range r.Claims {
		v := &r.Claims[i]
		c, ok := texts[v.ID]
		if !ok {
			t.Errorf("%s has the claim %s, which there is no more", claimsFile, v.ID)
		}
		c.Protocols = v.Protocols // those with which the release checked it
		v.Claim = c
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, claimsFile, out.String())
}

// between returns a page with a table between the two comments that have its name.
func between(t *testing.T, page, name string, rows *table.Table) string {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no lines %q and %q", claimsPage, begin, end)
	}
	var out strings.Builder
	if err := rows.Write(&out, "md"); err != nil {
		t.Fatal(err)
	}
	return before + begin + out.String() + end + after
}
