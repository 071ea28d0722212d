package batch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod/llm/engine/internal/llama"
)

const toyVocab = 40 // token 0 is the end token

// toy is a model whose logits depend on all tokens of a sequence, so that a wrong token,
// position or shared cell changes its output. It counts shared cells once, as the real
// cache does.
type toy struct {
	seqs      map[int][]*cell
	maxCells  int
	batches   [][]llama.Entry
	logits    map[int][]float32
	fail      error             // returned by the next Decode
	noSharing bool              // like a recurrent memory
	err       error             // the first incorrect call
	states    map[int][]float32 // by entry and layer
	noStates  bool
}

type cell struct{ token llama.Token }

func newToy(maxCells int) *toy { return &toy{seqs: map[int][]*cell{}, maxCells: maxCells} }

func (m *toy) inUse() int {
	seen := map[*cell]bool{}
	for _, s := range m.seqs {
		for _, c := range s {
			seen[c] = true
		}
	}
	return len(seen)
}

func (m *toy) Decode(entries []llama.Entry) error {
	if m.fail != nil {
		err := m.fail
		m.fail = nil
		return err
	}
	m.batches = append(m.batches, slices.Clone(entries))
	m.logits, m.states = map[int][]float32{}, map[int][]float32{}
	for i, e := range entries {
		if e.Pos != len(m.seqs[e.Seq]) {
			m.err = fmt.Errorf("sequence %d has %d tokens, position %d decoded", e.Seq, len(m.seqs[e.Seq]), e.Pos)
			return m.err
		}
		m.seqs[e.Seq] = append(m.seqs[e.Seq], &cell{token: e.Token})
		if e.Logits {
			m.logits[i] = toyLogits(m.seqs[e.Seq])
		}
		for _, l := range e.Layers {
			m.states[1000*i+l] = toyState(m.seqs[e.Seq], l)
		}
	}
	if n := m.inUse(); n > m.maxCells {
		m.err = fmt.Errorf("%d cells in use of %d", n, m.maxCells)
		return llama.ErrFull
	}
	return nil
}

func toyLogits(cells []*cell) []float32 {
	h := uint64(len(cells))
	for _, c := range cells {
		h = mix(h*31 + uint64(c.token) + 1)
	}
	r := rand.New(rand.NewPCG(h, 1))
	out := make([]float32, toyVocab)
	for i := range out {
		out[i] = float32(r.NormFloat64() * 2)
	}
	return out
}

func (m *toy) Logits(i int) []float32 { return m.logits[i] }

func (m *toy) State(i, layer int) ([]float32, error) {
	if s := m.states[1000*i+layer]; s != nil && !m.noStates {
		return s, nil
	}
	return nil, fmt.Errorf("no state of layer %d after entry %d", layer, i)
}

// toyState depends on all tokens of the sequence and on the layer.
func toyState(cells []*cell, layer int) []float32 {
	h := uint64(layer + 77)
	for _, c := range cells {
		h = mix(h*31 + uint64(c.token) + 1)
	}
	r := rand.New(rand.NewPCG(h, 2))
	return []float32{r.Float32(), r.Float32(), r.Float32()}
}

func (m *toy) Keep(seq, n int) bool {
	if m.noSharing && n > 0 {
		m.seqs[seq] = nil
		return false
	}
	m.seqs[seq] = m.seqs[seq][:min(n, len(m.seqs[seq]))]
	return true
}

func (m *toy) Copy(src, dst, n int) bool {
	if m.noSharing {
		return false
	}
	if len(m.seqs[dst]) != 0 {
		m.err = errors.New("copied onto a sequence that is not empty")
	}
	m.seqs[dst] = slices.Clone(m.seqs[src][:n])
	return true
}

func (m *toy) Piece(t llama.Token) []byte { return fmt.Appendf(nil, "%d ", t) }
func (m *toy) EOG(t llama.Token) bool     { return t == 0 }

func (m *toy) decoded() int {
	n := 0
	for _, b := range m.batches {
		n += len(b)
	}
	return n
}

// evens is a grammar that allows even tokens, and the end token only after three others.
type evens struct {
	n      int
	closed *int
}

func (g *evens) Allows(t llama.Token) bool { return t%2 == 0 && (t != 0 || g.n >= 3) }
func (g *evens) Accept(t llama.Token) {
	if !g.Allows(t) {
		panic("a token that is not allowed was accepted")
	}
	g.n++
}
func (g *evens) Close() { *g.closed++ }
func (g *evens) Mask(logits []float32) {
	for i := range logits {
		if !g.Allows(llama.Token(i)) {
			logits[i] = float32(negInf)
		}
	}
}
