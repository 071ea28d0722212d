package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol/sac"
)

var sacSubject = &subject{
	name: "sac", exchanges: true, share: 20,
	claims: append([]Claim{
		{ID: "I-SAC-1", Property: "a reliable member retains no answer that it scores below the lowest-scored " +
			"reliable one",
			Model: Local, Source: "SAC Property 4.2 (finding F1)", Margin: "score above the lowest reliable one"},
		{ID: "I-SAC-1s", Property: "with strict-trim this holds at every honest member with at most F Byzantine " +
			"neighbours",
			Model: Local, Source: "finding F1", Margin: "score above the lowest reliable one"},
		{ID: "I-SAC-2", Property: "a reliable member with an answer retains some neighbour, because silence uses up " +
			"the budget F",
			Model: Local, Source: "finding F3", Margin: "retained neighbours beyond the first"},
		{ID: "I-SAC-3", Property: "with r >= F+1 the retained links have a rooted out-branching", Model: Local,
			Source: "SAC Property 4.3"},
		{ID: "I-SAC-4", Property: "with r >= 2F+1 the retained links between reliable members alone have one",
			Model: Local, Source: "finding F2"},
		{ID: "I-SAC-5", Property: "messages that arrive twice at honest members change nothing", Model: Any,
			Source: "SAC Algorithm 1"},
		{ID: "I-SAC-6", Property: "what a sender says of its own confidence changes no score", Model: Any,
			Source: "SAC Eq. 2"},
		{ID: "I-SAC-7", Property: "at most F neighbours are dropped, and none that scores at least as high as one's " +
			"own answer",
			Model: Any, Source: "SAC Eq. 4"},
	}, slices.Concat(common, answering)...),
	states: []string{"answer own", "answer kept", "answer adopted", "answer new", "answer absent", "dropped one",
		"dropped F", "silent neighbour", "unreadable score", "r below 2F+1", "r at least 2F+1", "strict trim"},
	setup: func(c chance, x *Execution) {
		x.N = 4 + c.IntN(4)
		x.Params = fmt.Sprintf("{rounds: %d, strict-trim: %v}", 1+c.IntN(2), c.IntN(4) == 0)
		drawGraph(c, x)
	},
	horizon: func(x *Execution) synod.Tick { return 30 },
	build:   ofCatalogue("sac"),
	check:   checkSAC,
	again:   againSAC,
}

// drawGraph draws a graph with a robustness that allows F = 1 at least: a random one, or the complete one.
func drawGraph(c chance, x *Execution) {
	n := x.N
	if c.IntN(4) > 0 {
		density := .5 + .5*c.Float64()
		for i := range n {
			for j := i + 1; j < n; j++ {
				if c.Float64() < density {
					x.Edges = append(x.Edges, [2]int{i, j})
				}
			}
		}
		if x.R = robustnessOf(n, x.Edges); x.R < 2 {
			x.Edges = nil
		}
	}
	if x.Edges == nil {
		x.R = (n + 1) / 2
		for i := range n {
			for j := i + 1; j < n; j++ {
				x.Edges = append(x.Edges, [2]int{i, j})
			}
		}
	}
	if x.F = x.R - 1; x.F >= 2 && c.IntN(2) == 0 {
		x.F = (x.R - 1) / 2
	}
}

// robustnessOf returns the exact r of an undirected graph.
func robustnessOf(n int, edges [][2]int) int {
	g, err := graph.New(n, false, edges)
	if err != nil {
		panic(err)
	}
	return robustness.Find(g, nil).R
}

// checkSAC checks the claims about the filter, in each round at each honest member.
func checkSAC(t *trace) {
	p := t.protocol.(*sac.SAC)
	t.state("strict trim", p.StrictTrim)
	t.state("r below 2F+1", t.x.R < 2*t.x.F+1)
	t.state("r at least 2F+1", t.x.R >= 2*t.x.F+1)
	for i := range t.notes {
		id := synod.NodeID(i)
		if !t.honest(id) {
			continue
		}
		for _, n := range t.notes[i] {
			if n.Round > 0 && len(n.Scores) > 0 {
				t.filter(id, n.Opinion, p.StrictTrim)
			}
		}
	}
	if !t.x.Above {
		for round := 1; round <= p.Rounds; round++ {
			t.branching(round)
		}
	}
}

// filter checks one verdict.
func (t *trace) filter(id synod.NodeID, o *synod.Opinion, strict bool) {
	f := t.x.F
	self, reliable := synod.Untrusted, synod.Score(2)
	scores := map[synod.NodeID]synod.Score{}
	for _, s := range o.Scores {
		scores[s.Of] = s.Score
		if s.Of == id {
			self = s.Score
		}
		if t.honest(s.Of) {
			reliable = min(reliable, s.Score)
		}
		t.state("unreadable score", s.Score == synod.Untrusted)
		t.claim(claimCall, s.Score == synod.Untrusted || t.stated[id]&tenths(float64(s.Score)) != 0,
			"n%d has the score %v of n%d, which its model has not given", id, s.Score, s.Of)
	}
	t.state("dropped one", len(o.Dropped) > 0)
	t.state("dropped F", len(o.Dropped) == f)
	t.state("silent neighbour", len(o.Silent) > 0)
	ok := len(o.Dropped) <= f
	for _, d := range o.Dropped {
		ok = ok && (strict || self == synod.Untrusted || scores[d] < self)
	}
	t.claim("I-SAC-7", ok, "n%d drops %v with F=%d; its scores are %v", id, o.Dropped, f, o.Scores)
	if t.against(id, o) > f {
		return
	}
	t.claim("I-SAC-2", len(o.Retained) > 0, "n%d retains nobody: scores %v, dropped %v, silent %v, F=%d", id, o.Scores,
		o.Dropped, o.Silent, f)
	t.margin("I-SAC-2", float64(len(o.Retained)-1))
	claim := "I-SAC-1"
	if strict {
		claim = "I-SAC-1s"
		t.applies("I-SAC-1")
	}
	for _, k := range o.Retained {
		t.claim(claim, scores[k] >= reliable, "n%d retains n%d with score %v; the lowest reliable one is %v: scores "+
			"%v, "+
			"dropped %v, silent %v, F=%d", id, k, scores[k], reliable, o.Scores, o.Dropped, o.Silent, f)
		t.margin(claim, float64(scores[k]-reliable))
	}
}

// against returns how many neighbours are Byzantine or silent: the claims are for at most F.
func (t *trace) against(id synod.NodeID, o *synod.Opinion) (n int) {
	for _, j := range t.peers[id] {
		if t.x.bad(j) || slices.Contains(o.Silent, j) {
			n++
		}
	}
	return n
}

// branching checks Property 4.3 in one round, and its strong form, if at most F neighbours of each honest member are
// Byzantine or silent. What Byzantine members retain is not known: at most F of their links are taken away by their own
// filter, and none is assumed to be.
func (t *trace) branching(round int) {
	n := t.x.total()
	kept, reliable := make([]int, n), 0
	for i := range n {
		id := synod.NodeID(i)
		if !t.honest(id) {
			for _, j := range t.peers[i] {
				kept[i] |= 1 << j
			}
			continue
		}
		reliable |= 1 << i
		at := slices.IndexFunc(t.notes[i], func(o noted) bool { return o.Round == round })
		if at < 0 {
			return
		}
		o := t.notes[i][at]
		if len(o.Scores) == 0 || t.against(id, o.Opinion) > t.x.F {
			return // it had no answer to compare with, or too many neighbours failed
		}
		for _, j := range o.Retained {
			kept[i] |= 1 << j
		}
	}
	if t.x.R >= t.x.F+1 {
		t.claim("I-SAC-3", rooted(kept, 1<<n-1), "round %d: the retained links %b have no root", round, kept)
	}
	if t.x.R >= 2*t.x.F+1 {
		t.claim("I-SAC-4", rooted(kept, reliable), "round %d: the retained links %b have no root among %b", round, kept,
			reliable)
	}
}

// rooted reports whether some node of a set reaches all others of it along links inside of it. kept has, for each node,
// the nodes that it hears.
func rooted(kept []int, set int) bool {
	for root := range kept {
		if set>>root&1 == 0 {
			continue
		}
		reached := 1 << root
		for grew := true; grew; {
			grew = false
			for i, from := range kept {
				if set>>i&1 == 1 && reached>>i&1 == 0 && from&reached != 0 {
					reached |= 1 << i
					grew = true
				}
			}
		}
		if reached&set == set {
			return true
		}
	}
	return set == 0
}

// againSAC plays a sample of executions with every message twice, or with other confidences in the messages.
func againSAC(p *Player, t *trace) {
	if !t.x.sampled(16) {
		return
	}
	claim, v := "I-SAC-5", variant{double: true}
	if t.x.Seed>>8&1 == 1 {
		claim, v = "I-SAC-6", variant{changed: func(to synod.NodeID, m *synod.Message) *synod.Message {
			return t.otherConfidence(to, m)
		}}
	}
	first := t.first
	second := p.play(t.subject, t.x, v)
	t.claim(claim, second.first == first, "the opinions of honest members differ")
}

// otherConfidence changes what a message to an honest member says of the sender's confidence.
func (t *trace) otherConfidence(to synod.NodeID, m *synod.Message) *synod.Message {
	var r synod.Response
	if !t.honest(to) || r.UnmarshalBinary(m.Body) != nil {
		return m
	}
	r.Confidence = float64(mix(t.x.Seed^uint64(m.From))%11) / 10
	changed := *m
	changed.Body, _ = r.AppendBinary(nil)
	return &changed
}
