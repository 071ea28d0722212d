package batch

import "slices"

// Capture says which hidden states of a job are wanted: of which layers, and
// pooled how. The zero value wants none.
//
//   - Query: after the last token of the prompt.
//   - Last: after the last token of the answer.
//   - Mean: the mean over all tokens of the answer.
//
// A state "after a token" is the layer's output at the position where that token
// is read. The tokens of an answer are those that were generated, without the one
// that ends the turn and without those that only begin where a stop string does;
// or those of a continuation, all of them.
type Capture struct {
	Layers            []int
	Query, Last, Mean bool
}

func (c *Capture) wanted() bool { return len(c.Layers) > 0 }

// query and answer are the layers to look at after the prompt, and in the answer.
func (c *Capture) query() []int  { return c.when(c.Query) }
func (c *Capture) answer() []int { return c.when(c.Last || c.Mean) }

func (c *Capture) when(yes bool) []int {
	if yes {
		return c.Layers
	}
	return nil
}

// States are pooled hidden states, a vector a layer, in the order of
// Capture.Layers; nil where none was wanted. Tokens counts the answer's tokens
// that were looked at; without any there is neither Last nor Mean.
type States struct {
	Query, Last, Mean [][]float32
	Tokens            int
}

// pooler pools the states of one answer while it comes.
type pooler struct {
	want  *Capture
	query [][]float32
	sum   [][]float64
	last  [][]float32
	n     int
	held  []heldRow // tokens that a stop string may still take back
}

type heldRow struct {
	start  int // where the token begins in the text
	states [][]float32
}

// rowOf copies the states after batch entry i.
func (r *Runner) rowOf(i int, layers []int) ([][]float32, error) {
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

// hold takes up a token's states; settled is the length of text that no stop
// string can reach into any more.
func (p *pooler) hold(start int, states [][]float32, settled int) {
	p.held = append(p.held, heldRow{start, states})
	p.fold(func(h heldRow) bool { return h.start <= settled })
}

// fold adds held tokens to the pools, from the first, as long as they belong.
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

// states are the pools; tokens still held are not part of the answer.
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

// openPools makes a pool for the answer, or for every continuation.
func (t *task) openPools() {
	if t.job.Capture.wanted() {
		t.pools = make([]*pooler, max(1, len(t.job.Continuations)))
		for i := range t.pools {
			t.pools[i] = &pooler{want: &t.job.Capture}
		}
	}
}

// asked takes up the state after the prompt, at batch entry i.
func (r *Runner) asked(t *task, i int) error {
	if t.job.Capture.query() == nil {
		return nil
	}
	row, err := r.rowOf(i, t.job.Capture.query())
	for _, p := range t.pools {
		p.query = row
	}
	return err
}

// answered takes up the states of a generated token, at batch entry i.
func (r *Runner) answered(t *task, i int) error {
	if t.job.Capture.answer() == nil {
		return nil
	}
	row, err := r.rowOf(i, t.job.Capture.answer())
	if err != nil {
		return err
	}
	reach := 0
	for _, stop := range t.job.Stop {
		reach = max(reach, len(stop))
	}
	t.pools[0].hold(t.start, row, len(t.text)-reach)
	return nil
}

// weighed takes up the states of a continuation's tokens.
func (r *Runner) weighed(t *task, u use) error {
	if t.job.Capture.answer() == nil {
		return nil
	}
	for j := range u.n {
		row, err := r.rowOf(u.at+j, t.job.Capture.answer())
		if err != nil {
			return err
		}
		t.pools[u.which].add(row)
	}
	return nil
}

// pooled are the states of a task that has ended: what is still held belongs to
// the answer if it begins in the text that is left.
func (t *task) pooled() (all []*States) {
	for _, p := range t.pools {
		p.fold(func(h heldRow) bool { return !t.cut || h.start < len(t.text) })
		all = append(all, p.states())
	}
	return all
}
