package llm

import (
	"context"
	"sync"

	"synod.dev/synod/llm/engine"
)

// weighings remembers the likelihoods that a model file gave to continuations of a text. They depend on nothing else,
// so the seats of one model, which ask for the same ones, have them computed once. What a member says still differs by
// its seed and its temperature.
type weighings struct {
	mu   sync.Mutex
	done map[continued]*weight
}

type continued struct{ before, continuation string }

// weight is a likelihood, or the computation of it.
type weight struct {
	ready  chan struct{} // closed when the computation has ended
	ok     bool          // it has succeeded
	score  engine.LogProb
	prefix int // tokens of the prefix
}

// maxWeighings bounds the memory. When it is reached, everything is forgotten.
const maxWeighings = 1 << 16

// remembered are the likelihoods by engine. They outlive the process of the engine, because the councils of an
// experiment open and close the same model one after another.
var remembered = struct {
	mu  sync.Mutex
	all map[engineKey]*weighings
}{all: map[engineKey]*weighings{}}

// remembering returns a completer that asks c for likelihoods only where none is remembered.
func (e *sharedEngine) remembering(c completer) completer {
	remembered.mu.Lock()
	defer remembered.mu.Unlock()
	w := remembered.all[e.key]
	if w == nil {
		w = &weighings{done: map[continued]*weight{}}
		remembered.all[e.key] = w
	}
	return &remembering{c, w}
}

type remembering struct {
	completer
	weighings *weighings
}

// Weigh is completer's. The usage is what the call takes where nothing is remembered. A call that wants hidden states
// is computed.
func (r *remembering) Weigh(ctx context.Context, prefix string, list []string, want *engine.Capture,
) ([]engine.LogProb, []*engine.States, engine.Usage, error) {
	if want != nil || len(list) == 0 {
		return r.completer.Weigh(ctx, prefix, list, want)
	}
	weights, mine := r.weighings.claim(prefix, list)
	if err := r.compute(ctx, prefix, mine); err != nil {
		return nil, nil, engine.Usage{}, err
	}
	scores, usage := make([]engine.LogProb, len(list)), engine.Usage{}
	for i, w := range weights {
		select {
		case <-w.ready:
		case <-ctx.Done():
			return nil, nil, usage, ctx.Err()
		}
		if !w.ok { // the call of another member that computed it has failed; this one's need not
			return r.completer.Weigh(ctx, prefix, list, nil)
		}
		scores[i] = w.score
		usage.PromptTokens = max(usage.PromptTokens, w.prefix)
	}
	for _, s := range scores {
		usage.PromptTokens += s.Tokens
	}
	return scores, make([]*engine.States, len(list)), usage, nil
}

// claimed is a weight that the caller of claim computes.
type claimed struct {
	continued
	*weight
}

// claim returns the weights of continuations, and those of them that the caller has to compute.
func (w *weighings) claim(prefix string, list []string) (all []*weight, mine []claimed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.done) >= maxWeighings {
		clear(w.done)
	}
	for _, continuation := range list {
		key := continued{prefix, continuation}
		x := w.done[key]
		if x == nil {
			x = &weight{ready: make(chan struct{})}
			w.done[key] = x
			mine = append(mine, claimed{key, x})
		}
		all = append(all, x)
	}
	return all, mine
}

// compute asks the engine for the claimed weights. Those of a failed call are forgotten.
func (r *remembering) compute(ctx context.Context, prefix string, mine []claimed) error {
	if len(mine) == 0 {
		return nil
	}
	var list []string
	for _, c := range mine {
		list = append(list, c.continuation)
	}
	scores, _, usage, err := r.completer.Weigh(ctx, prefix, list, nil)
	r.weighings.mu.Lock()
	defer r.weighings.mu.Unlock()
	for _, s := range scores {
		usage.PromptTokens -= s.Tokens
	}
	for i, c := range mine {
		if c.weight.ok = err == nil; c.weight.ok {
			c.weight.score, c.weight.prefix = scores[i], usage.PromptTokens
		} else if r.weighings.done[c.continued] == c.weight {
			delete(r.weighings.done, c.continued)
		}
		close(c.weight.ready)
	}
	return err
}
