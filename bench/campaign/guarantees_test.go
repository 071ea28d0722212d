package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/golden"
)

// The page of guarantees and the list of claims are made from the claims in code and from guarantees.json, which has
// what synod research verify-claims --json printed for the release.
const (
	guaranteesPage = "../../docs/guarantees.md"
	claimsList     = "../../docs/guarantees.txt"
	claimsFile     = "../../docs/guarantees.json"
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

// TestGuarantees compares docs/guarantees.txt with the claims and with how often they were checked for the release, and
// the tested claims of docs/guarantees.md. After a change of claims: -rewrite.
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
	var list strings.Builder
	list.WriteString("What is guaranteed, and how often each claim was checked for this release; all: in all cases\n" +
		"that it is about. docs/guarantees.md explains the models.\n\n")
	if err := rows.Write(&list, "md"); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, claimsList, list.String())
	tested := table.Table{Head: []string{"claim", "what holds", "model", "check"}, Align: "llll"}
	for _, c := range TestedClaims {
		tested.Add(c.ID, c.Property, c.Model, c.Check)
	}
	text, err := os.ReadFile(guaranteesPage)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, guaranteesPage, between(t, string(text), "tested claims", &tested))
}

// TestGuaranteesSummary: docs/guarantees.md says in short what every claim is about, and names none that there is not.
func TestGuaranteesSummary(t *testing.T) {
	text, err := os.ReadFile(guaranteesPage)
	if err != nil {
		t.Fatal(err)
	}
	_, summary, _ := strings.Cut(string(text), "| about | what holds | claims |\n")
	summary, _, _ = strings.Cut(summary, "\n\n")
	named := map[string]bool{}
	for line := range strings.Lines(summary) {
		cells := strings.Split(line, " | ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[len(cells)-1], -1) {
			named[m[1]] = false
		}
	}
	for _, c := range AllClaims() {
		found := false
		for pattern := range named {
			if match, _ := path.Match(pattern, c.ID); match {
				named[pattern], found = true, true
			}
		}
		if !found {
			t.Errorf("no row of the summary in %s has the claim %s", guaranteesPage, c.ID)
		}
	}
	for pattern, used := range named {
		if !used {
			t.Errorf("%s names %s in its summary, which is no claim", guaranteesPage, pattern)
		}
	}
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
		t.Fatalf("%s has no lines %q and %q", guaranteesPage, begin, end)
	}
	var out strings.Builder
	if err := rows.Write(&out, "md"); err != nil {
		t.Fatal(err)
	}
	return before + begin + out.String() + end + after
}
