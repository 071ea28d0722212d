package report_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/protocol"
)

// A page has the matrix as a picture and, for those who do not see it, as a table with intervals and kinds. A
// correlation that is not known is a dash, and without any there is no picture.
func TestErrorMatrix(t *testing.T) {
	r := &report.Report{MembersKind: []string{"recorded", "simulated"}}
	for i := range 12 {
		kind := []string{"simulated", "recorded"}[i%2]
		r.Seats = append(r.Seats, report.Member{ID: fmt.Sprint("member-", i), Kind: kind})
	}
	r.ErrorPairs = []report.ErrorPair{{A: "member-0", B: "member-1",
		Phi: &metrics.Rate{Value: .625, N: 40, Low: .25, High: .75, Count: true}}, {A: "member-0", B: "member-2"}}
	var b bytes.Buffer
	if err := r.Write(&b, "html"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`aria-label="Members that err together (recorded and simulated members)"`, ">0.62<",
		"member-1, recorded", "0.62<small>0.25 to 0.75</small>", ">–</td>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(b.String(), "member-3</text>") {
		t.Error("a member without a pair is drawn")
	}
	r.ErrorPairs = r.ErrorPairs[1:]
	for _, p := range r.Plots() {
		if p.Name == "error-correlation" {
			t.Error("a matrix without a correlation is drawn")
		}
	}
}

// Every table and file of figures states what is assumed to fool simulated members.
func TestFoolingIsStated(t *testing.T) {
	const assumed = "assumed, not measured: it believes everything"
	r := full()
	r.Seats[0].Fooling, r.Seats[2].Fooling = assumed, assumed
	g := gridOf(nil, report.Cell{Cell: "a", Report: r})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"csv":        func(b *bytes.Buffer) error { return r.Write(b, "csv") },
		"text":       func(b *bytes.Buffer) error { return r.Write(b, "text") },
		"grid csv":   func(b *bytes.Buffer) error { return g.Write(b, "csv", false) },
		"grid md":    func(b *bytes.Buffer) error { return g.Write(b, "md", false) },
		"grid latex": func(b *bytes.Buffer) error { return g.Write(b, "latex", false) },
		"plot": func(b *bytes.Buffer) error {
			data, err := r.Plots()[0].CSV()
			b.Write(data)
			return err
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if strings.HasSuffix(name, "csv") || name == "plot" {
			for _, line := range lines[1:] {
				if strings.Count(line, "recorded+simulated ("+assumed+")") != 1 {
					t.Errorf("%s: %q", name, line)
				}
			}
		} else if !strings.Contains(b.String(), assumed) || strings.Contains(b.String(), assumed+"; ") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}

// Guarantees are in the order of their names, and a grid adds those of its cells.
func TestGuarantees(t *testing.T) {
	r := sample()
	for _, name := range []string{"none", "4.3-strong", "none", "4.3-strong", "none"} {
		r.AddGuarantee(name, 1)
	}
	r.AddClaims(nil)
	if r.Claims != nil {
		t.Error("claims without any")
	}
	r.AddClaims([]protocol.ClaimVerdict{protocol.Supported, protocol.Open, protocol.Supported})
	g := gridOf(nil, report.Cell{Cell: "a", Report: r})
	g.Add(report.NewCell("b", nil, r, nil, nil))
	if want := []report.Guaranteed{{"4.3-strong", 4}, {"none", 6}}; !slices.Equal(g.Guarantees, want) {
		t.Errorf("%v, want %v", g.Guarantees, want)
	}
	var b bytes.Buffer
	if err := r.Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"guarantee[none],3,4,", "guarantee[4.3-strong],2,4,", "claims_supported,2,3,",
		"claims_disputed,0,3,", "claims_open,1,3,"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
