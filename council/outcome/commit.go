package outcome

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/read"
)

// dropUncommitted takes the first answers from members of which too few others say that they committed to them in
// time: they may have copied them. Where nobody has opened anything, nobody had seen an answer.
func (j *judgment) dropUncommitted() {
	p := j.plan
	if !p.Commits() || !slices.ContainsFunc(j.seats, func(r *Record) bool { return r.Opened != nil }) {
		return
	}
	var asked []synod.NodeID
	c := plan.Committing(p)
	if c.Asked != nil {
		asked = c.Asked(&j.in.Question)
	}
	for i, a := range j.first {
		if a == synod.None || c.Asked != nil && !slices.Contains(asked, synod.NodeID(i)) {
			continue
		}
		if j.witnesses(synod.NodeID(i), a) >= min(max(1, p.Full().F), len(plan.FirstPeers(p, i))) {
			continue
		}
		j.first[i] = synod.None
		if j.uncommitted == nil {
			j.uncommitted = make([]bool, len(j.seats))
		}
		j.uncommitted[i] = true
	}
}

// witnesses returns how many others say that a member committed to an answer in time and opened it. With F of them one
// is honest, because the member is Byzantine itself where it lies.
func (j *judgment) witnesses(of synod.NodeID, a synod.Answer) (n int) {
	for i, r := range j.seats {
		if synod.NodeID(i) == of {
			continue
		}
		if k, ok := slices.BinarySearchFunc(r.Opened, of, func(g synod.Given, id synod.NodeID) int {
			return int(g.Of - id)
		}); ok && meansSame(j, r.Opened[k].Answer, a) {
			n++
		}
	}
	return n
}

// meansSame reports whether an answer that was sent is the one that its sender noted.
func meansSame(j *judgment, sent, noted synod.Answer) bool {
	if sent == noted.Brief() {
		return true
	}
	q := j.in.Question
	if a, ok := read.Canonical(&q, string(sent)); ok || !j.plan.Guards().Untyped {
		return a == noted && ok
	}
	q.Form, q.Options = synod.Text, nil // as members read it
	a, ok := read.Canonical(&q, string(sent))
	return ok && a == noted
}
