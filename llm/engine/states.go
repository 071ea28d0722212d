package engine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod/llm/engine/internal/batch"
)

// Position defines how the hidden states of a prompt and its answer are pooled to one
// vector (CP-WBFT, "Representation Type Analysis" and Eq. 2). The state at a token is
// the output of a layer when the model reads that token, as the input of the next
// layer: before the final norm, also in the last layer. Layers count from 0, the
// first after the embedding.
//
// The tokens of an answer are the generated ones, without the token that ends the
// message and without tokens that start at or after a stop string. For Weigh they are
// all tokens of the continuation. An answer without tokens has neither Last nor Mean.
type Position string

// The positions, in the order in which they are listed.
const (
	Query Position = "query" // at the last token of the prompt, including the template
	Last  Position = "last"  // at the last token of the answer
	Mean  Position = "mean"  // the mean over all tokens of the answer
)

// Positions lists every Position.
func Positions() []Position { return []Position{Query, Last, Mean} }

// Capture selects the hidden states to return with a reply. The child records them
// during the computation and sends only the pooled vectors.
type Capture struct {
	Layers    []int      `json:"layers"`
	Positions []Position `json:"positions"`
}

// States are the pooled hidden states of one answer.
type States struct {
	Capture
	Width  int    `json:"width"`
	Tokens int    `json:"tokens"` // of the answer
	Data   packed `json:"data"`   // by position and layer, Width numbers each
}

// At returns the vector of a layer at a position, or nil if it was not captured or the
// answer has no tokens. The caller must not change it.
func (s *States) At(layer int, p Position) []float32 {
	l, at := slices.Index(s.Layers, layer), slices.Index(s.Positions, p)
	if l < 0 || at < 0 || s.Tokens == 0 && p != Query {
		return nil
	}
	from := (at*len(s.Layers) + l) * s.Width
	return s.Data[from : from+s.Width : from+s.Width]
}

// whole reports whether Data has the right length.
func (s *States) whole() bool {
	return s != nil && len(s.Data) == s.Width*len(s.Layers)*len(s.Positions)
}

// Check returns an error unless the states are those that were asked for, of this width, and are numbers: a server may
// send anything.
func (s *States) Check(want Capture, width int) error {
	switch {
	case s == nil:
		return errors.New("engine: the hidden states are missing")
	case !slices.Equal(s.Layers, want.Layers) || !slices.Equal(s.Positions, want.Positions) || s.Width != width ||
		!s.whole() || s.Tokens < 0:
		return fmt.Errorf("engine: %d numbers for hidden states of layers %v at %v, of width %d; want layers %v at "+
			"%v, of width %d", len(s.Data), s.Layers, s.Positions, s.Width, want.Layers, want.Positions, width)
	}
	for _, x := range s.Data {
		if !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return errors.New("engine: the hidden states are not all finite numbers")
		}
	}
	return nil
}

// check returns an error if a model with this number of layers and this width cannot
// return these states for n answers.
func (c Capture) check(layers, width, n int) error {
	for i, l := range c.Layers {
		if l < 0 || l >= layers {
			return fmt.Errorf("engine: %w: layer %d; the model has layers 0 to %d", ErrRequest, l, layers-1)
		}
		if slices.Contains(c.Layers[:i], l) {
			return fmt.Errorf("engine: %w: layer %d is given twice", ErrRequest, l)
		}
	}
	for i, p := range c.Positions {
		if !slices.Contains(Positions(), p) || slices.Contains(c.Positions[:i], p) {
			return fmt.Errorf("engine: %w: position %q; want each of %v at most once", ErrRequest, p, Positions())
		}
	}
	if len(c.Layers) == 0 || len(c.Positions) == 0 {
		return fmt.Errorf("engine: %w: hidden states of %d layers at %d positions; want at least one of each",
			ErrRequest, len(c.Layers), len(c.Positions))
	}
	if bytes := 16 * (width*len(c.Layers)*len(c.Positions) + 64) / 3 * n; bytes > maxFrame-1<<16 { // base64 of float32
		return fmt.Errorf("engine: %w: hidden states of %d answers would be %d MB; ask for fewer layers or positions",
			ErrRequest, n, bytes>>20)
	}
	return nil
}

func (c *Capture) forBatch() batch.Capture {
	if c == nil {
		return batch.Capture{}
	}
	has := func(p Position) bool { return slices.Contains(c.Positions, p) }
	return batch.Capture{Layers: c.Layers, Query: has(Query), Last: has(Last), Mean: has(Mean)}
}

// pack puts pooled vectors in the order of States.Data. Vectors that an answer without
// tokens does not have become zeros, which At does not return.
func (c Capture) pack(in *batch.States, width int) *States {
	out := &States{Capture: c, Width: width, Tokens: in.Tokens}
	for _, p := range c.Positions {
		rows := map[Position][][]float32{Query: in.Query, Last: in.Last, Mean: in.Mean}[p]
		for k := range c.Layers {
			if rows == nil {
				out.Data = append(out.Data, make([]float32, width)...)
				continue
			}
			out.Data = append(out.Data, rows[k]...)
		}
	}
	return out
}

// packed is encoded as base64 of little-endian numbers.
type packed []float32

// MarshalJSON encodes the numbers as one string.
func (p packed) MarshalJSON() ([]byte, error) {
	raw := make([]byte, 0, 4*len(p))
	for _, x := range p {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return json.Marshal(raw)
}

// UnmarshalJSON decodes what MarshalJSON has written.
func (p *packed) UnmarshalJSON(text []byte) error {
	var raw []byte
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("engine: %d bytes are not float32 numbers", len(raw))
	}
	*p = make(packed, len(raw)/4)
	for i := range *p {
		(*p)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}
