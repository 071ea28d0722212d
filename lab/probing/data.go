package probing

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"synod.dev/synod/llm/engine"
	"synod.dev/synod/probe"
	"synod.dev/synod/task"
)

// Left counts the answers that no probe is trained or measured on, and why.
type Left struct {
	Unreadable int `json:"unreadable"` // nothing that could be graded
	Empty      int `json:"empty"`      // no tokens, so no states
}

// Data are the graded answers as package probe takes them. States are read from disk,
// one layer and position at a time.
func (f *Folder) Data() (probe.Data, Left, error) {
	d := probe.Data{Task: f.Head.Task, Subject: f.Head.Subject, Layers: f.Head.Layers}
	for _, p := range f.Head.Positions {
		d.Positions = append(d.Positions, string(p))
	}
	var left Left
	var rows []int64
	for i, l := range f.Lines {
		switch {
		case l.Verdict == task.Unreadable:
			left.Unreadable++
			continue
		case l.Tokens == 0:
			left.Empty++
			continue
		}
		rows = append(rows, int64(i))
		d.Samples = append(d.Samples, probe.Sample{Question: l.Question, Right: l.Verdict == task.Right, Logprob: l.Logprob, Stated: l.Stated, Asked: f.Head.Stated})
	}
	d.States = func(layer int, position string) ([][]float32, error) { return f.layer(rows, layer, position) }
	if len(rows) == 0 {
		return d, left, fmt.Errorf("probing: none of the %d answers in %s can be used", len(f.Lines), f.Dir)
	}
	return d, left, nil
}

// layer reads one layer and position of some answers.
func (f *Folder) layer(rows []int64, layer int, position string) ([][]float32, error) {
	h := f.Head
	at, err := h.offset(layer, engine.Position(position))
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.Dir, statesFile))
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	defer file.Close()
	raw := make([]byte, 4*h.Subject.Width)
	out := make([][]float32, len(rows))
	for i, r := range rows {
		if _, err := file.ReadAt(raw, r*h.record()+at); err != nil {
			return nil, fmt.Errorf("probing: %s: %w", statesFile, err)
		}
		out[i] = make([]float32, h.Subject.Width)
		for j := range out[i] {
			out[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
	}
	return out, nil
}

// offset is where in a record a layer's state at a position begins.
func (h *Head) offset(layer int, position engine.Position) (int64, error) {
	for i, p := range h.Positions {
		for j, l := range h.Layers {
			if p == position && l == layer {
				return 4 * int64((i*len(h.Layers)+j)*h.Subject.Width), nil
			}
		}
	}
	return 0, fmt.Errorf("probing: layer %d at %s was not collected: there are layers %v at %v", layer, position, h.Layers, h.Positions)
}
