package draw

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"testing"

	"synod.dev/synod/llm/probe"
)

func report() probe.Report {
	half, most := 0.5, 0.75
	r := probe.Report{Task: "toy", Subject: probe.Subject{Model: "small"}}
	for l := range 3 {
		r.Sweep = append(r.Sweep,
			probe.SweepPoint{Layer: l, Position: "mean", Components: 4, AUC: &half},
			probe.SweepPoint{Layer: l, Position: "mean", Components: 8, AUC: &most},
			probe.SweepPoint{Layer: l, Position: "last"})
	}
	r.Probe = probe.Measure([]probe.Graded{{Question: "a", Confidence: 0.2},
		{Question: "b", Confidence: 0.9, Right: true}})
	r.Rivals = []probe.Rival{{Name: "stated", Figures: r.Probe}}
	return r
}

// Both drawings are valid files in both formats, and equal for the same report.
func TestDrawings(t *testing.T) {
	for name, draw := range map[string]func(probe.Report, string) ([]byte, error){"layers": Layers,
		"reliability": Reliability} {
		svg, err := draw(report(), "svg")
		if err != nil || xml.Unmarshal(svg, new(struct{})) != nil || !bytes.Contains(svg, []byte("small, toy")) {
			t.Errorf("%s: %v\n%s", name, err, svg)
		}
		if again, _ := draw(report(), "svg"); !bytes.Equal(again, svg) {
			t.Errorf("%s: two drawings of the same report differ", name)
		}
		raster, err := draw(report(), "png")
		if _, bad := png.Decode(bytes.NewReader(raster)); err != nil || bad != nil {
			t.Errorf("%s: %v, %v", name, err, bad)
		}
		if _, err := draw(report(), "bmp"); err == nil {
			t.Error("the format bmp was accepted")
		}
	}
	if _, err := Layers(probe.Report{}, "svg"); err == nil {
		t.Error("a report without a sweep was accepted")
	}
}
