package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/stats"
)

// texts returns the texts of a picture, which must be well-formed XML.
func texts(t *testing.T, svg []byte) (all []string) {
	t.Helper()
	inText := false
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.CharData:
			if inText {
				all = append(all, string(e))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// Every plot names the members' kinds in the picture and in its data, and rates are
// drawn over the whole range.
func TestPlots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "plots")
	plots := full().Plots()
	if err := report.Save(dir, plots); err != nil {
		t.Fatal(err)
	}
	drawn := map[string][]string{"accuracy": {"0 %", "100 %", "all", "weak", "strong", "round"},
		"accuracy-by-model": {"0 %", "gpt", "qwen", "round", "1"},
		"groups":            {"0 %", "100 %", "before", "after", "weak"},
		"dropped":           {"a", "b", "m", "adversary", "weak"},
		"error-correlation": {"a", "b", "-0.25", "1.0", "-1.0"},
		"calibration":       {"gpt[2J", "0.2", "confidence"}}
	data := map[string][]string{
		"accuracy":          {"recorded+simulated", "strong", "1", "", "0", "", ""},
		"accuracy-by-model": {"recorded+simulated", "qwen", "1", "0.9", "10"},
		"groups":            {"recorded+simulated", "weak", "after", "0.5", "10"},
		"calibration":       {"recorded+simulated", "gpt[2J", "0.9", "1", "0.9", "0.5", "2"},
		"error-correlation": {"recorded+simulated", "a", "simulated", "b", "recorded", "0.05", "-0.25", "40"},
		"dropped":           {"recorded+simulated", "a", "strong", "m", "adversary", "8", "1", "8"},
	}
	for _, f := range plots {
		read := func(ending string) []byte {
			b, err := os.ReadFile(filepath.Join(dir, f.Name+ending))
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		svg := texts(t, read(".svg"))
		for _, want := range append(drawn[f.Name], f.Title) {
			if !slices.Contains(svg, want) {
				t.Errorf("%s: no %q in %q", f.Name, want, svg)
			}
		}
		if !strings.Contains(f.Title, "recorded and simulated members") {
			t.Errorf("%s has the title %q", f.Name, f.Title)
		}
		if img, err := png.Decode(bytes.NewReader(read(".png"))); err != nil || img.Bounds().Dx() < 700 {
			t.Errorf("%s: %v", f.Name, err)
		}
		rows, err := csv.NewReader(bytes.NewReader(read(".csv"))).ReadAll()
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if !slices.ContainsFunc(rows, func(row []string) bool {
			return slices.Equal(row[:min(len(row),
				len(data[f.Name]))], data[f.Name])
		}) {
			t.Errorf("%s: no %q in %q", f.Name, data[f.Name], rows)
		}
		delete(drawn, f.Name)
	}
	if len(drawn) > 0 {
		t.Errorf("not drawn: %v", drawn)
	}
	if none := (&report.Report{}).Plots(); len(none) > 0 {
		t.Errorf("%d plots without data", len(none))
	}
}

// The diagram names how many answers each bin has.
func TestReliabilityDiagram(t *testing.T) {
	list := slices.Repeat([]stats.Forecast{{Confidence: .97, Right: true}}, 31)
	list = append(list, stats.Forecast{Confidence: .55})
	svg, err := report.ReliabilityDiagram("a <b> team", metrics.NewStated(list, 1))
	if err != nil || !bytes.Contains(svg, []byte(">31</text>")) || !bytes.Contains(svg, []byte(">1</text>")) ||
		bytes.Contains(svg, []byte("<b>")) {
		t.Errorf("%v %s", err, svg)
	}
}
