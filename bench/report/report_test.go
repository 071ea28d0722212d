package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

func sample() *report.Report {
	r := &report.Report{
		Version: 1, Task: "mine\x1b[2J", Council: "a|b", Protocol: "sac", Rule: "majority", Repeat: 1, Questions: 5,
		Finished: 4, Failed: 1,
		MembersKind: []string{"recorded", "simulated"}, Rounds: []metrics.Round{{T: 0}},
		Failures: []report.Failure{{Question: "q5", Reason: "the deadline\npassed"}},
	}
	r.Metrics.IAA, r.Metrics.IAAPresent = metrics.Share(3, 4), metrics.Share(3, 4)
	r.Levels = []metrics.Part{{Name: "1", Questions: 3, FAA: metrics.Share(2, 3)}, {Name: "2", Questions: 1}}
	r.Topics = []metrics.Part{{Name: "a|\x1b[2J", Questions: 3}, {Name: "b", Questions: 1}}
	r.Withstands = []metrics.Withstood{{K: 0, Ignored: metrics.Robustness{Decided: metrics.Share(4, 5)}}}
	var sure metrics.Calibrator
	high, low := 0.9, 0.25
	sure.Add(&metrics.GradedQuestion{}, []metrics.Forecast{{Confidence: &high, Right: true}, {Confidence: &low}})
	sure.Add(&metrics.GradedQuestion{}, []metrics.Forecast{{Confidence: &high}, {}})
	r.Calibration = &report.Calibration{Calibration: *sure.Calibration(),
		Models: []report.ModelCalibration{{Model: "gpt\x1b[2J", Calibration: *sure.Calibration()}}}
	return r
}

// Every format names the members' kinds, prints no NaN for missing figures, and
// removes control characters from names.
func TestFormats(t *testing.T) {
	for _, format := range report.Formats() {
		var b bytes.Buffer
		if err := sample().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		for _, want := range []string{"recorded", "simulated"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not name %s members:\n%s", format, want, out)
			}
		}
		if want := map[string]string{"text": "66.7 % (20.8 to 93.9, n 3)", "md": `| a\|[2J | 3 |`,
			"csv": "faa[level=1],0.666", "json": `"levels": [`,
			"html": "Figures by topic"}[format]; !strings.Contains(out, want) {
			t.Errorf("%s: no %q:\n%s", format, want, out)
		}
		if want := map[string]string{"text": "decided, any k answers ignored", "md": "| 0 | 80.0 % (37.6 to 96.4",
			"csv": "withstands_ignored[k=0],0.8,5", "json": `"withstands": [`,
			"html": "What decisions withstand"}[format]; !strings.Contains(out, want) {
			t.Errorf("%s: no %q:\n%s", format, want, out)
		}
		if prose := format != "csv" && format != "json"; prose != strings.Contains(out, "of finished questions only") {
			t.Errorf("%s does not say that the calls of the failed question are left out:\n%s", format, out)
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s contains an escape character:\n%q", format, out)
		}
		if strings.Contains(out, "NaN") {
			t.Errorf("%s: %s", format, out)
		}
	}
	if err := sample().Write(&bytes.Buffer{}, "yaml"); err == nil {
		t.Error("an unknown format must be refused")
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files; then read the diff")

// The layout of text and Markdown, of a run and of a grid with and without the paper.
func TestGolden(t *testing.T) {
	paper := map[string]report.Figure{"iaa": {Value: .75, N: 4}, "latency": {Value: 3, Count: true}}
	g := gridOf(paper, report.Cell{Cell: "a|b", Report: sample(), Assumed: report.Assume("it was built in", "iaa")})
	g.Add(report.NewBlank("none", nil, map[string]report.Figure{"faa": {Value: .5, N: 9}}, "there is no data"))
	var b bytes.Buffer
	for _, format := range []string{"text", "md"} {
		for _, write := range []func() error{
			func() error { return sample().Write(&b, format) },
			func() error { return g.Write(&b, format, false) },
			func() error { return g.Write(&b, format, true) },
		} {
			fmt.Fprintf(&b, "=== %s\n", format)
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
	}
	const golden = "testdata/layout.txt"
	if *rewrite {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the layout has changed; rewrite the file with -rewrite and read the diff:\n%s", b.String())
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	figures := map[string][]string{}
	for _, l := range lines {
		figures[l[3]] = l[4:]
	}
	if figures["iaa"][0] != "0.75" || figures["iaa"][1] != "4" || figures["faa"][0] != "" || figures["faa"][1] != "0" ||
		figures["failed"][0] != "1" {
		t.Errorf("%v", figures)
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b, "json"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metrics map[string]*metrics.Rate
		Groups  map[string]any
		Rounds  []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	faa, has := got.Metrics["faa"]
	if !has || faa != nil || got.Metrics["iaa"].N != 4 || len(got.Groups) != 2 || got.Groups["weak"] != nil ||
		got.Rounds[0]["accuracy"] != nil {
		t.Errorf("%+v", got)
	}
}

// [CP-1] The calibration is in every format; a bin without answers has no figure.
func TestCalibration(t *testing.T) {
	for format, wants := range map[string][]string{
		"text": {"confidence of gpt[2J in its first answers: Brier 0.294", "ECE 0.35", "n 3, 1 without one",
			"0.90: 50 % (9 to 91) of 2"},
		"md":   {"Brier 0.294", "0.25: 0 %"},
		"csv":  {"brier,0.29", "ece,0.35", "confidence_missing,1", "right_at_confidence_0.9,0.5,2"},
		"json": {`"missing": 1`, `"ece": 0.35`, `"model": "gpt`, `"confidence": null`},
	} {
		var b bytes.Buffer
		if err := sample().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", format, want, b.String())
			}
		}
	}
}
