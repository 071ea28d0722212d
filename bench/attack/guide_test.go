package attack_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/golden"
)

// preset drafts cells of the preset attack-table with simulated members.
func preset(t *testing.T, cells string, n int) *bench.Grid {
	t.Helper()
	p, err := manifest.Presets().Find(attack.GuideExperiment)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Manifest.Draft(manifest.Options{N: n, Only: cells})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The preset plays each protocol against every adversary that applies to it, one and two of it, and against no other.
func TestPresetHasEveryAdversary(t *testing.T) {
	g := preset(t, "", 1)
	played, applicable := map[string][]string{}, map[string][]string{}
	for i, c := range g.Cells {
		protocol, name := c.Params["protocol"].(string), c.Params["adversary"].(string)
		if name == "none" {
			spec, err := g.Runs[i].Spec()
			if err != nil {
				t.Fatal(err)
			}
			plan, err := plan.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			applicable[protocol] = attack.Applicable(plan, false)
			continue
		}
		played[protocol] = append(played[protocol], name)
	}
	if len(applicable) != 8 {
		t.Errorf("%d protocols are played without adversaries, not 8", len(applicable))
	}
	for protocol, want := range applicable {
		got := played[protocol]
		slices.Sort(got)
		twice := slices.Sorted(slices.Values(append(slices.Clone(want), want...)))
		if !slices.Equal(got, twice) {
			t.Errorf("%s is played against\n%q\nand these apply to it, each for one and two seats:\n%q", protocol, got,
				twice)
		}
	}
}

// guide plays some cells of the preset and computes the guide.
func guide(t *testing.T, cells string) (*attack.Guide, error) {
	t.Helper()
	grid := preset(t, cells, 10)
	if err := grid.Create(filepath.Join(t.TempDir(), "grid")); err != nil {
		t.Fatal(err)
	}
	if _, err := grid.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	return attack.NewGuide(grid)
}

// The guide names the worst adversary, says what kind the members are, and survives being written and read.
func TestGuide(t *testing.T) {
	g, err := guide(t, "cp-wbft-s[iy]*") // without adversaries, and with sybil-clones
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guide(t, "cp-wbft-colluder-*"); err == nil || !strings.Contains(err.Error(), "without adversaries") {
		t.Errorf("a grid without the cell that attacks are compared with: %v", err)
	}
	if err := g.Join(g); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("the same figures again: %v", err)
	}
	all := map[string]string{}
	for _, format := range attack.GuideFormats() {
		var b bytes.Buffer
		if err := g.Write(&b, format); err != nil || !strings.Contains(b.String(), "simulated") ||
			!strings.Contains(b.String(), "prefers the right one of two answers with probability 0.61") {
			t.Errorf("%s does not say that the members are simulated and how they judge: %v", format, err)
		}
		all[format] = b.String()
	}
	again, err := attack.ReadGuide(strings.NewReader(all["json"]))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := again.Write(&b, "md"); err != nil || b.String() != all["md"] {
		t.Errorf("%v: it was read as\n%s\nand is\n%s", err, &b, all["md"])
	}
	if strings.Contains(all["html"], "<script") || strings.Count(all["html"], "<table") != 2 {
		t.Errorf("the page:\n%s", all["html"])
	}
}

// The worst of several adversaries leaves the fewest right decisions; among equals it has the most captures.
func TestWorst(t *testing.T) {
	const text = `{"version": 1, "parts": [{"members": "simulated", "note": "<b>", "unfinished": 2, "cells": [
		{"protocol": "p", "questions": 10, "right": 9, "decided": 10},
		{"protocol": "p", "adversary": "a", "members": 1, "questions": 10, "right": 4, "decided": 5},
		{"protocol": "p", "adversary": "b", "members": 1, "questions": 10, "right": 4, "decided": 8, "captured": 3},
		{"protocol": "p", "adversary": "a", "members": 2, "questions": 10, "right": 9, "decided": 10}]}]}`
	g, err := attack.ReadGuide(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := g.Write(&b, "md"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| p | 1 | b | 40.0 % | 16.8 to 68.7 | 80.0 % | 30.0 % | – |", "| a | 40 / 90 |",
		"| p | 2 | none costs a right decision | 90.0 % |", "| b | 40 / – |", "2 cells are not finished"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is missing:\n%s", line, &b)
		}
	}
	for was, wrong := range map[string]string{`"right": 9`: `"right": 11`, `"version": 1`: `"version": 7`,
		`"members": 2`: `"members": 0`, `"decided": 5`: `"decide": 5`} {
		if _, err := attack.ReadGuide(strings.NewReader(strings.Replace(text, was, wrong, 1))); err == nil {
			t.Errorf("%s was read", wrong)
		}
	}
}

// published is the guide of docs/research/which-protocol.json.
func published(t *testing.T) *attack.Guide {
	t.Helper()
	f, err := os.Open("../../docs/research/which-protocol.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := attack.ReadGuide(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const guidePage = "../../docs/research/adversaries.md"

// docs/research/which-protocol.txt has the table of judges that which-protocol.json beside it makes. New figures:
// -rewrite.
func TestGuideTable(t *testing.T) {
	var b bytes.Buffer
	if err := published(t).Write(&b, "md"); err != nil {
		t.Fatal(err)
	}
	judges, _, _ := strings.Cut(b.String(), "\n### Members")
	_, judges, _ = strings.Cut(judges, "\n\n")
	golden.Compare(t, "../../docs/research/which-protocol.txt", "Which protocol decides how much rightly, by how well "+
		"judges judge. docs/research/adversaries.md draws conclusions from it.\n\n"+judges)
}

// What docs/research/adversaries.md concludes holds in its data: over the whole range of judges, and for captures
// with recorded members.
func TestGuideConclusions(t *testing.T) {
	g := published(t)
	counted := map[string]bool{"majority": true, "plurality": true, "cascade": true}
	at := map[string][]float64{} // shares of right decisions by protocol and colluders, worst judges first
	captured, supported, open := 0.0, 0.0, 0.0
	for _, c := range g.Range.Counts {
		key := fmt.Sprint(c.Protocol, c.Members)
		at[key] = append(at[key], 100*float64(c.Right)/float64(c.Questions))
		held := 100 * float64(c.Captured) / float64(c.Questions)
		switch {
		case counted[c.Protocol]:
			captured = max(captured, held)
		case c.Protocol == "sac-support":
			supported = max(supported, held)
		case c.Protocol == "sac-reasons":
			open = max(open, held)
		case c.Protocol == "cp-wbft" && c.Members == 1 && c.Captured < c.Questions:
			t.Errorf("one colluder captures %d of %d questions of cp-wbft", c.Captured, c.Questions)
		}
	}
	for key, shares := range at {
		protocol, b := key[:len(key)-1], key[len(key)-1:]
		if counted[protocol] && slices.Min(shares) != slices.Max(shares) {
			t.Errorf("%s hangs on judges: %v", key, shares)
		}
		for i, share := range shares {
			ahead := share - at["plurality"+b][i]
			if !counted[protocol] && (b == "0" && ahead > 2 || b != "0" && ahead > -2) {
				t.Errorf("%s at judges %d is right in %.1f %%, plurality in %.1f %%", key, i, share,
					at["plurality"+b][i])
			}
		}
	}
	span := func(key string) string { return fmt.Sprintf("%.1f to %.1f", slices.Min(at[key]), slices.Max(at[key])) }
	held := 0.0
	for _, p := range g.Parts {
		for _, c := range p.Counts {
			if p.Members == "recorded" && counted[c.Protocol] {
				held = max(held, 100*float64(c.Captured)/float64(c.Questions))
			}
		}
	}
	page, err := os.ReadFile(guidePage)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, claim := range []string{
		fmt.Sprintf("decides %.1f, %.1f and %.1f %% of the questions rightly", at["plurality0"][0], at["plurality1"][0],
			at["plurality2"][0]),
		fmt.Sprintf("decides %s, %s and %s %% rightly", span("sac0"), span("sac1"), span("sac2")),
		fmt.Sprintf("at measured judges (0.61) %.1f, %.1f and %.1f %%", at["sac0"][1], at["sac1"][1], at["sac2"][1]),
		fmt.Sprintf("a colluder held are at most %.1f %% with counted answers", captured),
		fmt.Sprintf("keeps them to at most %.1f %%", supported), fmt.Sprintf("without it they are up to %.1f %%", open),
		fmt.Sprintf("without a decision, at most %.0f %% were captured", held),
	} {
		if !strings.Contains(text, claim) {
			t.Errorf("the page does not say %q, which its data does", claim)
		}
	}
}
