package probing

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/llm/engine"
)

// Check says what is wrong with the layers and positions of a head.
func (h *Head) Check() error {
	for i, l := range h.Layers {
		if l < 0 || l >= h.Subject.Layers {
			return fmt.Errorf("probing: layer %d; the model has layers 0 to %d", l, h.Subject.Layers-1)
		}
		if slices.Contains(h.Layers[:i], l) {
			return fmt.Errorf("probing: layer %d is named twice", l)
		}
	}
	for i, p := range h.Positions {
		if !slices.Contains(engine.Positions(), p) || slices.Contains(h.Positions[:i], p) {
			return fmt.Errorf("probing: position %q; want each of %v once at most", p, engine.Positions())
		}
	}
	if len(h.Layers) == 0 || len(h.Positions) == 0 {
		return fmt.Errorf("probing: nothing is to be kept: %d layers at %d positions", len(h.Layers), len(h.Positions))
	}
	return nil
}

// Same says what differs between a folder and what is to be collected into it.
func (h *Head) Same(want Head) error {
	var differ []string
	for _, d := range []struct {
		what      string
		was, want any
	}{
		{"task", h.Task, want.Task}, {"seed", h.Seed, want.Seed}, {"member", h.Identity, want.Identity}, {"subject", h.Subject, want.Subject},
		{"layers", h.Layers, want.Layers}, {"positions", h.Positions, want.Positions}, {"stated confidence", h.Stated, want.Stated},
	} {
		if was, now := fmt.Sprint(d.was), fmt.Sprint(d.want); was != now {
			differ = append(differ, fmt.Sprintf("%s was %s and is %s", d.what, was, now))
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("probing: the folder was begun otherwise: %s", strings.Join(differ, "; "))
	}
	return nil
}
