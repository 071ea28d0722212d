package scale_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench/scale"
	"synod.dev/synod/graph/robustness"
)

var rewrite = flag.Bool("rewrite", false, "write the page and its plots anew")

// The graphs that are grown are r-robust by the exact search, and their least degree shows that r is not more where
// they are large. One edge less, at the node that came last, makes them less robust.
func TestGrown(t *testing.T) {
	for r := 1; r <= 5; r++ {
		for n := 2*r - 1; n <= 26; n += 3 {
			for seed := range uint64(4) {
				g, err := scale.Grown(n, r, seed)
				if err != nil {
					t.Fatal(err)
				}
				if yes, known := robustness.IsRobust(g, r, nil); !yes || !known {
					t.Errorf("n=%d r=%d seed %d: it is not r-robust", n, r, seed)
				}
				if over, _ := robustness.IsRobust(g, r+1, nil); over && n > 2*r-1 {
					t.Errorf("n=%d r=%d seed %d: it is even more robust, although the last node has r edges", n, r,
						seed)
				}
			}
		}
	}
}

// Honest members come together and never leave their range, with as many splitters as fit. Members that drop nothing do
// not: the splitters are no paper tigers.
func TestSplitters(t *testing.T) {
	const f = 2
	g, err := scale.Grown(200, 2*f+1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, beyond := range []float64{0, 1} {
		set := scale.Setting{F: f, Trim: f, Beyond: beyond, Rounds: 300, Seed: 1}
		s, err := scale.Play(g, set)
		if err != nil || s.Rounds == 0 || s.Outside != 0 || s.Byzantine < 10 {
			t.Errorf("%+v %v", s, err)
		}
		t.Logf("%+v", s)
	}
	s, err := scale.Play(g, scale.Setting{F: f, Beyond: 1, Rounds: 60, Seed: 1})
	if err != nil || s.Rounds != 0 || s.Outside == 0 {
		t.Errorf("without dropping: %+v %v", s, err)
	}
}

const page = "../../docs/research/scale.md"

// The page has what the command prints, and its plots are those that it draws.
func TestPage(t *testing.T) {
	p, err := scale.Committees()
	if err != nil {
		t.Fatal(err)
	}
	parts := []scale.Page{p}
	if p, err = scale.Limits(); err != nil {
		t.Fatal(err)
	}
	parts = append(parts, p)
	if !testing.Short() {
		if p, err = scale.Runs(scale.Sizes); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	text := ""
	defer func() {
		if *rewrite && !t.Failed() {
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Error(err)
			}
		}
	}()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text = string(b)
	for _, part := range parts {
		text = shown(t, part, text)
	}
}

// shown compares a part with the page, and returns the page with it.
func shown(t *testing.T, p scale.Page, text string) string {
	for name, table := range p.Tables {
		begin, end := "<!-- generated: "+name+" -->\n", "<!-- end -->\n"
		head, rest, found := strings.Cut(text, begin)
		shown, tail, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("the page has no part %s", name)
		}
		if shown != table && !*rewrite {
			t.Errorf("%s has other figures than synod graph scale prints; run: go test ./bench/scale "+
				"-run TestPage -rewrite", name)
		}
		text = head + begin + table + end + tail
	}
	for name, svg := range p.Plots {
		file := filepath.Join(filepath.Dir(page), name)
		if *rewrite {
			if err := os.WriteFile(file, svg, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if shown, err := os.ReadFile(file); err != nil || string(shown) != string(svg) {
			t.Errorf("%s is not what is drawn: %v", file, err)
		}
	}
	return text
}
