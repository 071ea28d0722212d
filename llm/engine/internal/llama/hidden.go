//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
)

// watch looks into the compute graph while it is evaluated. The library calls
// back for every node: first to ask whether its value is wanted, and, if so, again
// when it is there. The output of layer l is the node "l_out-l". It has one row a
// batch entry; in the last layer only those rows may be left whose distribution is
// wanted. There is no other way in llama.h to the states of a chosen layer.
type watch struct {
	lib    *Library
	width  int
	nameAt uintptr // offset of the name in a ggml_tensor, learned from the library

	layers           []int // wanted in this decode call, ascending
	rows, outs       []int // of the entries that want states: which entry, which output
	entries, outputs int
	states           map[int][]float32 // layer: rows × width
	bad              error
}

// errNoState means that the graph of this model showed no such node.
var errNoState = errors.New("llama: the model's graph shows no output of this layer")

// callback is the address C calls.
func (w *watch) callback() uintptr {
	return purego.NewCallback(func(tensor unsafe.Pointer, ask uintptr, _ uintptr) uintptr {
		if len(w.layers) == 0 {
			return 1 - ask&1 // nothing is wanted; a value that was not asked for does not stop the graph
		}
		layer := w.layerOf(tensor)
		if ask&0xff != 0 {
			if layer >= 0 && slices.Contains(w.layers, layer) {
				return 1
			}
			return 0
		}
		w.take(tensor, layer)
		return 1 // 0 would end the computation
	})
}

// prefix names the nodes that are layers' outputs, before the number.
const prefix = "l_out-"

// layerOf is the layer whose output a node is, or -1.
func (w *watch) layerOf(tensor unsafe.Pointer) int {
	if w.nameAt == 0 {
		w.nameAt = uintptr(w.lib.tensorName(tensor)) - uintptr(tensor)
	}
	name := unsafe.Slice((*byte)(unsafe.Add(tensor, w.nameAt)), len(prefix)+8)
	if string(name[:len(prefix)]) != prefix {
		return -1
	}
	n := 0
	for i, c := range name[len(prefix):] {
		switch {
		case c == 0 && i > 0:
			return n
		case c < '0' || c > '9':
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return -1
}

// take copies the wanted rows of a layer's output.
func (w *watch) take(tensor unsafe.Pointer, layer int) {
	rows := int(w.lib.tensorRows(tensor))
	from := w.rows
	switch {
	case int(w.lib.tensorBytes(tensor)) != 4*w.width*rows:
		w.bad = fmt.Errorf("llama: the output of layer %d is not %d rows of %d float32", layer, rows, w.width)
		return
	case w.states[layer] != nil:
		w.bad = fmt.Errorf("llama: layer %d was computed twice in one batch: its rows cannot be told apart", layer)
		return
	case rows == w.entries:
	case rows == w.outputs:
		from = w.outs
	default:
		w.bad = fmt.Errorf("llama: the output of layer %d has %d rows for a batch of %d with %d outputs", layer, rows, w.entries, w.outputs)
		return
	}
	into := make([]float32, len(from)*w.width)
	for i, row := range from {
		w.lib.tensorGet(tensor, &into[i*w.width], uint64(4*w.width*row), uint64(4*w.width))
	}
	w.states[layer] = into
}

// expect prepares for a decode call.
func (w *watch) expect(entries []Entry) {
	w.layers, w.rows, w.outs, w.bad = w.layers[:0], w.rows[:0], w.outs[:0], nil
	w.entries, w.outputs = len(entries), 0
	for i, e := range entries {
		if len(e.Layers) > 0 {
			w.rows, w.outs = append(w.rows, i), append(w.outs, w.outputs)
			if !e.Logits {
				w.bad = errors.New("llama: states are kept only of entries whose distribution is wanted")
			}
		}
		for _, l := range e.Layers {
			if at, found := slices.BinarySearch(w.layers, l); !found {
				w.layers = slices.Insert(w.layers, at, l)
			}
		}
		if e.Logits {
			w.outputs++
		}
	}
	w.states = make(map[int][]float32, len(w.layers))
}

// State is the output of a layer after batch entry i of the last Decode. The
// entry must have asked for it. The slice lives until the next Decode.
func (s *Session) State(i, layer int) ([]float32, error) {
	if s.watch == nil {
		return nil, errors.New("llama: this session was not opened to look at hidden states")
	}
	if s.watch.bad != nil {
		return nil, s.watch.bad
	}
	all, ok := s.watch.states[layer]
	at, asked := slices.BinarySearch(s.watch.rows, i)
	if !ok || !asked {
		return nil, fmt.Errorf("%w (%d)", errNoState, layer)
	}
	return all[at*s.watch.width : (at+1)*s.watch.width], nil
}

// Layers is the number of the model's layers, and Width the length of a state.
func (s *Session) Layers() int { return int(s.lib.modelLayers(s.model)) }

// Width is the length of one hidden state.
func (s *Session) Width() int { return int(s.lib.modelWidth(s.model)) }

// Ordered reports whether the library keeps the order of a batch's entries, so
// that a row of a layer's output can be attributed. Recurrent memories regroup them.
func (s *Session) Ordered() bool { return !s.whole }
