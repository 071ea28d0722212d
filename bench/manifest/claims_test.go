package manifest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
)

const claimed = `
experiment: study
base:
  task: builtin
  questions: 2
  seats: [{id: s, model: m, count: 4}]
members: {simulated: {models: {m: {provider: simulated}}}}
axes:
  protocol: {sac: {protocol: {name: sac}}, majority: {}}
  graph: [complete, star]
claims:
  - name: gain
    text: SAC gains
    cite: § 1
    figure: bfti
    of: {protocol: sac}
    than: {protocol: majority}
    each: [graph]
    is: more
    margin: 1
    control: {name: no-exchange, text: no exchange, set: {protocol: {rounds: 0}}, where: {protocol: sac}}
`

func study(t *testing.T, text string) (*Manifest, error) {
	t.Helper()
	return Parse([]byte(text), t.TempDir())
}

// A control with an overlay has an extra cell for each cell that it changes, after the others, without figures of the
// paper; the other side of the comparison stays.
func TestControlCells(t *testing.T) {
	m, err := study(t, claimed)
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.Draft(Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, c := range g.Cells {
		names = append(names, c.Name)
		if rounds := g.Runs[i].RunManifest.Planned; c.Control != "" && rounds != 4 {
			t.Errorf("%s: %d calls of a question, and without exchange there are 4", c.Name, rounds)
		}
	}
	want := []string{"sac-complete", "sac-star", "majority-complete", "majority-star", "no-exchange.sac-complete",
		"no-exchange.sac-star"}
	if !slices.Equal(names, want) {
		t.Errorf("cells %v", names)
	}
	c := g.Claims[0]
	if len(c.Comparisons) != 2 || c.Comparisons[1].At != "star" || c.Comparisons[1].Than[0] != "majority-star" {
		t.Errorf("%+v", c.Comparisons)
	}
	if k := c.Control.Comparisons[1]; k.Of[0] != "no-exchange.sac-star" || k.Than[0] != "majority-star" {
		t.Errorf("%+v", k)
	}
	// A claim about a cell that was not chosen is left out with its control.
	if g, err = m.Draft(Options{Only: "*-star"}); err != nil || len(g.Claims) != 0 || len(g.Cells) != 2 {
		t.Errorf("%v: %d claims, %d cells", err, len(g.Claims), len(g.Cells))
	}
	if g, err = m.Draft(Options{Only: "*-*"}); err != nil || len(g.Claims) != 1 || len(g.Cells) != 6 {
		t.Errorf("%v: %d claims, %d cells", err, len(g.Claims), len(g.Cells))
	}
}

// What is wrong in a claim is an error that says what to write.
func TestBadClaims(t *testing.T) {
	for _, c := range [][3]string{
		{"control: {name: no-exchange, text: no exchange, set: {protocol: {rounds: 0}}, where: {protocol: sac}}", "",
			"control needs a name"},
		{"set: {protocol: {rounds: 0}}, where: {protocol: sac}", "where: {protocol: sac}", "neither set, of nor than"},
		{"is: more", "is: better", "is"},
		{"is: more", "", "is is missing"},
		{"cite: § 1", "", "text and cite"},
		{"name: gain", "name: The Gain", "lower-case"},
		{"each: [graph]", "each: [grahp]", "grahp"},
		{"of: {protocol: sac}", "of: {protokol: sac}", "protokol"},
		{"than: {protocol: majority}", "than: {protocol: debate}", "no cell meets it"},
		{"set: {protocol: {rounds: 0}}", "set: {protocoll: {rounds: 0}}", "protocoll"},
		{"margin: 1", "margin: -1", "margin"},
	} {
		m, err := study(t, strings.Replace(claimed, c[0], c[1], 1))
		if err == nil {
			_, err = m.Draft(Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q in place of %q: %v", c[1], c[0], err)
		}
	}
}

// A manifest that extends another has its own cells, so it does not inherit the claims.
func TestClaimsAreNotInherited(t *testing.T) {
	m, err := study(t, "experiment: mine\nextends: sac-table1\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Claims) != 0 || len(m.Cases) == 0 {
		t.Errorf("%d claims and %d cases", len(m.Claims), len(m.Cases))
	}
}

// Every claim of a preset has cells and a control with simulated members, and cites the paper. Its cells of SAC are
// those of the text's adversary.
func TestClaimsOfPresets(t *testing.T) {
	claims := 0
	for _, p := range Presets().All() {
		if len(p.Manifest.Claims) == 0 {
			continue
		}
		g := wholePreset(t, p.Name)
		if len(g.Claims) != len(p.Manifest.Claims) {
			t.Errorf("%s: %d of %d claims have cells", p.Name, len(g.Claims), len(p.Manifest.Claims))
		}
		for _, c := range g.Claims {
			claims++
			if len(c.Control.Comparisons) == 0 || slices.EqualFunc(c.Comparisons, c.Control.Comparisons, equalSides) {
				t.Errorf("%s: %s: the control is the claim itself, or it has no cell", p.Name, c.Name)
			}
			for _, s := range c.Comparisons {
				if strings.HasPrefix(p.Name, "sac-") && strings.Contains(strings.Join(s.Of, " "), "weak-answer") {
					t.Errorf("%s: %s is about another adversary than that of the text", p.Name, c.Name)
				}
			}
		}
	}
	if claims < 40 {
		t.Errorf("%d claims", claims)
	}
}

func equalSides(a, b report.Sides) bool {
	return slices.Equal(a.Of, b.Of) && slices.Equal(a.Than, b.Than)
}

// A claim is judged from a run to its verdict: with members of which most are right, a majority gains nothing from
// rounds that it does not have, and the same run again gives the same result.
func TestClaimOfARun(t *testing.T) {
	m, err := study(t, claimed)
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for range 2 {
		g, err := m.Draft(Options{N: 6})
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "grid")
		if err := g.Create(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Work(t.Context(), bench.Options{Parallel: 2}); err != nil {
			t.Fatal(err)
		}
		if g, err = bench.OpenGrid(dir); err != nil { // the claims are in the folder
			t.Fatal(err)
		}
		r, err := g.Report()
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Cells) != 4 || len(r.Controls) != 2 || len(r.Claims) != 1 || r.Claims[0].Verdict == report.NotRun {
			t.Fatalf("%d cells, %d controls, claims %+v", len(r.Cells), len(r.Controls), r.Claims)
		}
		if c := r.Claims[0].Comparisons[0]; c.Questions != 6 || c.Difference == nil {
			t.Errorf("%+v", c)
		}
		var b strings.Builder
		if err := r.Write(&b, "json", false); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(b.String(), `"claims": [`)
		if last != "" && text != last {
			t.Error("the same run has another result")
		}
		last = text
	}
}
