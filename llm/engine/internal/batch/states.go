package batch

import "slices"

// Capture selects the hidden states to return for a job: the layers and the kinds of
// pooling. The zero value selects none.
//
//   - Query: after the last token of the prompt.
//   - Last: after the last token of the answer.
//   - Mean: the mean over all tokens of the answer.
//
// A state "after a token" is the output of the layer at the position of that token. The
// tokens of a generated answer are the generated tokens without the end token and without
// those that begin at or after a stop string. The tokens of a continuation are all its tokens.
type Capture struct {
	Layers            []int
	Query, Last, Mean bool
}

func (c *Capture) any() bool { return len(c.Layers) > 0 }

// query and answer return the layers to capture after the prompt and in the answer.
func (c *Capture) query() []int  { return c.layersIf(c.Query) }
func (c *Capture) answer() []int { return c.layersIf(c.Last || c.Mean) }

func (c *Capture) layersIf(yes bool) []int {
	if yes {
		return c.Layers
	}
	return nil
}

// States has the pooled hidden states: one vector for each layer, in the order of
// Capture.Layers, or nil for a pooling that was not selected. Tokens is the number of tokens
// of the answer; if it is 0, Last and Mean are nil.
type States struct {
	Query, Last, Mean [][]float32
	Tokens            int
}

// pooler pools the states of one answer while it is generated.
type pooler struct {
	want  *Capture
	query [][]float32
	sum   [][]float64
	last  [][]float32
	n     int
	held  []heldRow // tokens that a stop string may still remove
}

type heldRow struct {
	start  int // offset of the token in the text
	states [][]float32
}

// copyStates copies the states after batch entry i.
func (r *Runner) copyStates(i int, layers []int) ([][]float32, error) {
	row := make([][]float32, len(layers))
	for k, l := range layers {
		s, err := r.model.State(i, l)
		if err != nil {
			return nil, err
		}
		row[k] = slices.Clone(s)
	}
	return row, nil
}

// hold adds the states of a token. Settled is the length of the text that no later stop
// string can overlap.
func (p *pooler) hold(start int, states [][]float32, settled int) {
	p.held = append(p.held, heldRow{start, states})
	p.fold(func(h heldRow) bool { return h.start <= settled })
}

// fold adds held tokens to the pools in order, until belongs returns false.
func (p *pooler) fold(belongs func(heldRow) bool) {
	for len(p.held) > 0 && belongs(p.held[0]) {
		p.add(p.held[0].states)
		p.held = p.held[1:]
	}
}

func (p *pooler) add(states [][]float32) {
	if p.sum == nil && p.want.Mean {
		p.sum = make([][]float64, len(states))
		for k := range states {
			p.sum[k] = make([]float64, len(states[k]))
		}
	}
	for k := range p.sum {
		for i, x := range states[k] {
			p.sum[k][i] += float64(x)
		}
	}
	p.last = states
	p.n++
}

// states returns the pooled states. Held tokens are not part of the answer.
func (p *pooler) states() *States {
	s := &States{Query: p.query, Tokens: p.n}
	if p.n == 0 {
		return s
	}
	if p.want.Last {
		s.Last = p.last
	}
	for k := range p.sum {
		mean := make([]float32, len(p.sum[k]))
		for i, x := range p.sum[k] {
			mean[i] = float32(x / float64(p.n))
		}
		s.Mean = append(s.Mean, mean)
	}
	return s
}

// makePoolers makes a pooler for the answer, or for each continuation.
func (t *task) makePoolers() {
	if t.job.Capture.any() {
		t.poolers = make([]*pooler, max(1, len(t.job.Continuations)))
		for i := range t.poolers {
			t.poolers[i] = &pooler{want: &t.job.Capture}
		}
	}
}

// captureQuery stores the states after the prompt, at batch entry i.
func (r *Runner) captureQuery(t *task, i int) error {
	if t.job.Capture.query() == nil {
		return nil
	}
	row, err := r.copyStates(i, t.job.Capture.query())
	for _, p := range t.poolers {
		p.query = row
	}
	return err
}

// captureGenerated stores the states of a generated token, at batch entry i.
func (r *Runner) captureGenerated(t *task, i int) error {
	if t.job.Capture.answer() == nil {
		return nil
	}
	row, err := r.copyStates(i, t.job.Capture.answer())
	if err != nil {
		return err
	}
	longest := 0
	for _, stop := range t.job.Stop {
		longest = max(longest, len(stop))
	}
	t.poolers[0].hold(t.start, row, len(t.text)-longest)
	return nil
}

// captureContinuation stores the states of a continuation's tokens.
func (r *Runner) captureContinuation(t *task, u use) error {
	if t.job.Capture.answer() == nil {
		return nil
	}
	for j := range u.n {
		row, err := r.copyStates(u.at+j, t.job.Capture.answer())
		if err != nil {
			return err
		}
		t.poolers[u.index].add(row)
	}
	return nil
}

// states returns the states of a task that has ended. A held token belongs to the answer if
// it begins in the remaining text.
func (t *task) states() (all []*States) {
	for _, p := range t.poolers {
		p.fold(func(h heldRow) bool { return !t.stopped || h.start < len(t.text) })
		all = append(all, p.states())
	}
	return all
}
