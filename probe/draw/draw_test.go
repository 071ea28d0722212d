package draw

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"testing"

	"synod.dev/synod/probe"
)

func made() probe.Report {
	half, most := 0.5, 0.75
	r := probe.Report{Task: "made", Subject: probe.Subject{Model: "small"}}
	for l := range 3 {
		r.Sweep = append(r.Sweep, probe.Cell{Layer: l, Position: "mean", Components: 4, AUC: &half}, probe.Cell{Layer: l, Position: "mean", Components: 8, AUC: &most}, probe.Cell{Layer: l, Position: "last"})
	}
	r.Probe = probe.Measure([]probe.Judged{{Question: "a", Confidence: 0.2}, {Question: "b", Confidence: 0.9, Right: true}})
	r.Rivals = []probe.Rival{{Name: "stated", Figures: r.Probe}}
	return r
}

// Both drawings are pictures in both formats, the same every time.
func TestDrawings(t *testing.T) {
	for name, draw := range map[string]func(probe.Report, string) ([]byte, error){"layers": Layers, "reliability": Reliability} {
		svg, err := draw(made(), "svg")
		if err != nil || xml.Unmarshal(svg, new(struct{})) != nil || !bytes.Contains(svg, []byte("small, made")) {
			t.Errorf("%s: %v\n%s", name, err, svg)
		}
		if again, _ := draw(made(), "svg"); !bytes.Equal(again, svg) {
			t.Errorf("%s: the same report was drawn in two ways", name)
		}
		raster, err := draw(made(), "png")
		if _, bad := png.Decode(bytes.NewReader(raster)); err != nil || bad != nil {
			t.Errorf("%s: %v, %v", name, err, bad)
		}
		if _, err := draw(made(), "bmp"); err == nil {
			t.Error("bmp is drawn")
		}
	}
	if _, err := Layers(probe.Report{}, "svg"); err == nil {
		t.Error("no sweep is drawn")
	}
}
