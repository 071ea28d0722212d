//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
)

// watch copies layer outputs while the compute graph is evaluated. The library calls the
// callback for each node: first to ask whether its value is needed and, if so, again when
// the value has been computed. The output of layer l is the node "l_out-l". It has one row
// for each batch entry; in the last layer it may have rows only for entries whose logits are
// wanted. llama.h has no other access to the states of a layer.
type watch struct {
	lib    *Library
	width  int
	nameAt uintptr // offset of the name in a ggml_tensor, computed at the first call

	layers           []int // needed in this decode call, ascending
	rows, outs       []int // indexes of the entries with states: among the entries and among those with logits
	entries, outputs int
	states           map[int][]float32 // by layer: rows × width
	err              error
}

// errNoState means that the graph of this model has no such node.
var errNoState = errors.New("llama: the model's graph has no output of this layer")

// callback returns the address of the function for C.
func (w *watch) callback() uintptr {
	return purego.NewCallback(func(tensor unsafe.Pointer, ask uintptr, _ uintptr) uintptr {
		if len(w.layers) == 0 {
			return 1 - ask&1 // ask: not needed; otherwise: continue
		}
		layer := w.layerOf(tensor)
		if ask&0xff != 0 {
			if layer >= 0 && slices.Contains(w.layers, layer) {
				return 1
			}
			return 0
		}
		w.copyRows(tensor, layer)
		return 1 // 0 would stop the computation
	})
}

// prefix is the name, before the number, of the nodes that are outputs of layers.
const prefix = "l_out-"

// layerOf returns the layer whose output a node is, or -1.
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

// copyRows copies the needed rows of a layer's output.
func (w *watch) copyRows(tensor unsafe.Pointer, layer int) {
	rows := int(w.lib.tensorRows(tensor))
	from := w.rows
	switch {
	case int(w.lib.tensorBytes(tensor)) != 4*w.width*rows:
		w.err = fmt.Errorf("llama: the output of layer %d is not %d rows of %d float32", layer, rows, w.width)
		return
	case w.states[layer] != nil:
		w.err = fmt.Errorf("llama: layer %d was computed twice in one batch; its rows cannot be assigned", layer)
		return
	case rows == w.entries:
	case rows == w.outputs:
		from = w.outs
	default:
		w.err = fmt.Errorf("llama: the output of layer %d has %d rows for a batch of %d with %d outputs",
			layer, rows, w.entries, w.outputs)
		return
	}
	into := make([]float32, len(from)*w.width)
	for i, row := range from {
		w.lib.tensorGet(tensor, &into[i*w.width], uint64(4*w.width*row), uint64(4*w.width))
	}
	w.states[layer] = into
}

// expect prepares the fields for a decode call.
func (w *watch) expect(entries []Entry) {
	w.layers, w.rows, w.outs, w.err = w.layers[:0], w.rows[:0], w.outs[:0], nil
	w.entries, w.outputs = len(entries), 0
	for i, e := range entries {
		if len(e.Layers) > 0 {
			w.rows, w.outs = append(w.rows, i), append(w.outs, w.outputs)
			if !e.Logits {
				w.err = errors.New("llama: states need entries with Logits")
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

// State returns the output of a layer after batch entry i of the last Decode. The layer must
// be in the Layers of the entry. The slice is valid until the next Decode.
func (s *Session) State(i, layer int) ([]float32, error) {
	if s.watch == nil {
		return nil, errors.New("llama: this session was opened without hidden states")
	}
	if s.watch.err != nil {
		return nil, s.watch.err
	}
	all, ok := s.watch.states[layer]
	at, asked := slices.BinarySearch(s.watch.rows, i)
	if !ok || !asked {
		return nil, fmt.Errorf("%w (%d)", errNoState, layer)
	}
	return all[at*s.watch.width : (at+1)*s.watch.width], nil
}

// Layers returns the number of the model's layers.
func (s *Session) Layers() int { return int(s.lib.modelLayers(s.model)) }

// Width returns the length of one hidden state.
func (s *Session) Width() int { return int(s.lib.modelWidth(s.model)) }

// Ordered reports whether the library keeps the order of the entries of a batch, so that rows
// of a layer's output can be assigned to them. Recurrent memories change the order.
func (s *Session) Ordered() bool { return !s.whole }
