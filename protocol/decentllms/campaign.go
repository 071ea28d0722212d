package decentllms

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
	"synod.dev/synod/protocol/grade"
)

// inCampaigns is how campaigns try the protocol.
var inCampaigns = check.Subject{
	Place: 3, Signs: true, Share: 2, Uncounted: Worker, Relies: []string{"AG-1", "AG-2"},
	Claims: []check.Claim{
		{ID: "I-DL-1", Property: "all honest evaluators hold the same answers and the same grades", Model: check.Sync,
			Source: "DecentLLMs §III.C"},
		{ID: "I-DL-2", Property: "all honest evaluators reply the same answer, with totals equal in every bit",
			Model: check.Sync, Source: "DecentLLMs §III.C; finding F5"},
		{ID: "I-DL-3", Property: "every honest evaluator replies with its signature, and the user accepts f+1 equal " +
			"replies",
			Model: check.Sync, Source: "DecentLLMs §III.C"},
		{ID: "I-DL-4", Property: "with median-total every total is in the range of the honest totals",
			Model: check.Sync, Source: "finding F6", Margin: "distance from the end of the range"},
		{ID: "I-DL-5", Property: "every total is between 0 and 100, and converged where that is promised",
			Model: check.Sync, Source: "DecentLLMs §III.C"},
		{ID: "I-DL-6", Property: "grades that are not five numbers from 0 to 20 for each answer do not count",
			Model: check.Any, Source: "DecentLLMs §III.B"},
		{ID: "I-DL-8", Property: "evaluators reply at the same tick, however many workers are Byzantine",
			Model: check.Any, Source: "DecentLLMs Fig. 7"},
		{ID: "I-DL-9", Property: "an evaluator that hears grades from an honest member after the end of their round, " +
			"and did not have them, marks its record as unsafe; if more than F members have signed such grades, it " +
			"decides nothing", Model: check.Any, Source: "DecentLLMs §III.C; own (DE-2)"},
		{ID: "I-DL-E", Property: "evidence of two values stands, and never accuses an honest member", Model: check.Any,
			Source: "own"},
	},
	Also: []string{"silent"},
	States: []string{"decision", "no decision", "equivocation", "unreadable grades", "evidence",
		"range of honest totals",
		"no grades of an honest evaluator"},
	Setup: func(c check.Chance, x *check.Case) {
		workers, evaluators := 1+c.IntN(3), 3+c.IntN(3)+c.IntN(8)/7*2
		x.N = workers + evaluators
		for i := range x.N {
			role := Evaluator
			if i < workers {
				role = Worker
			}
			x.Cast = append(x.Cast, role)
		}
		d := c.Few(6)
		all := slices.DeleteFunc(robust.Catalogue.All(),
			func(a robust.Aggregate) bool { return a.Bound(evaluators) < 1 })
		a := all[c.IntN(len(all))]
		x.F = min(a.Bound(evaluators), 1+c.IntN(2))
		judge := []string{"judge: one", "judge: one", "judge: all", "score: likelihood"}[d.IntN(4)]
		x.Params = fmt.Sprintf("{aggregate: %s, %s, rationale: %d}", a.Name, judge, d.IntN(2)*200)
	},
	Horizon: func(x *check.Case) synod.Tick { return synod.Tick(2*x.F+5) * check.Pace.Within },
	Check:   checkReplies, Watch: check.KeepDiary, Trials: grinding, Reply: spoiledGrades,
	Within: []reflect.Type{reflect.TypeFor[synod.Response](), reflect.TypeFor[marksBody]()},
}.Deciding("I-DL-D", "the answer with the highest total at each evaluator, and what f+1 of them reply to the user",
	"DecentLLMs §III.C", accept).Saying("I-DL-T", "DecentLLMs §III", tryTerms)

// panelist is an honest evaluator at the end.
type panelist struct {
	id synod.NodeID
	at synod.Tick
	*synod.Opinion
	record *Record
}

func checkReplies(t *check.Trace) {
	var held []panelist
	evaluators := 0
	for i := range t.Notes {
		id := synod.NodeID(i)
		if t.Case.Cast[i] != Evaluator {
			checkWorker(t, i)
			continue
		}
		if t.Honest(id) {
			evaluators++
		}
		if n := len(t.Notes[i]); n > 0 && t.Plain(id) {
			last := t.Notes[i][n-1]
			if r := RecordOf(last.Opinion); r != nil {
				held = append(held, panelist{id, last.At, last.Opinion, r})
			}
		}
	}
	for k := range held {
		checkPanelist(t, &held[k], &held[0])
	}
	if len(held) > 0 {
		checkAggregates(t, held[0].record)
	}
	if !t.Synchronous() {
		return
	}
	t.Claim("I-DL-3", len(held) == evaluators || slices.Contains(t.Hosted, true), "%d of %d honest evaluators reply",
		len(held), evaluators)
	last := make([]synod.Opinion, t.Case.Total())
	decided := 0
	for _, h := range held {
		last[h.id] = *h.Opinion
		if h.Answer != synod.None {
			decided++
		}
	}
	if decided > t.Case.F {
		a, _, why := t.Protocol.(*DecentLLMs).Accept(last, t.Case.Cast, t.Case.F, t.Verifier)
		t.Claim("I-DL-3", a == held[0].Answer, "the user accepts %q and not %q: %s", a, held[0].Answer, why)
	}
}

// checkPanelist checks what one honest evaluator holds, and compares it with the first.
func checkPanelist(t *check.Trace, h, first *panelist) {
	t.Claim("I-DL-8", h.at == first.at, "n%d replies at tick %d and n%d at tick %d", first.id, first.at, h.id, h.at)
	t.Claim("I-DL-3", t.Verifier.Verify(h.id, ReplyBytes(h.Answer), h.record.Signature),
		"the reply of n%d is not signed", h.id)
	broadcast.Framed(t, "I-DL-E", h.id, h.record.Evidence)
	var gave []synod.NodeID
	for _, a := range h.record.Answers {
		if h.Answer != synod.None && a.Answer == h.Answer && a.Total != nil {
			gave = append(gave, a.Of)
		}
	}
	t.Claim("I-DL-D", slices.Equal(h.From, gave), "n%d replies the answer of %v, which %v gave", h.id, h.From, gave)
	t.State("decision", h.Answer != synod.None)
	t.State("no decision", h.Answer == synod.None)
	for _, a := range h.record.Answers {
		t.State("equivocation", a.Bottom == "equivocated")
	}
	for _, g := range h.record.Grades {
		t.State("unreadable grades", g.Bottom == "unreadable")
		t.State("no grades of an honest evaluator", g.Bottom != "" && t.Honest(g.By))
	}
	if t.Synchronous() {
		a, b := sharedRecord(first.record), sharedRecord(h.record)
		if t.Applies("I-DL-1"); !reflect.DeepEqual(a, b) {
			one, _ := json.Marshal(a)
			other, _ := json.Marshal(b)
			t.Fail("I-DL-1", "n%d holds %s and n%d %s", first.id, one, h.id, other)
		}
		t.Claim("I-DL-2", h.Answer == first.Answer && slices.Equal(totalBits(h.record), totalBits(first.record)),
			"n%d replies %q and n%d %q", first.id, first.Answer, h.id, h.Answer)
	}
	checkTotals(t, h)
	checkRecord(t, h)
	checkVerified(t, h)
	checkDecision(t, h)
}

// sharedRecord is the part of a record that is equal at all honest evaluators. Signatures of the authors are not: who
// has a key can make several valid signatures of one statement.
func sharedRecord(r *Record) Record {
	p := *r
	p.Signature, p.Unsafe, p.Withheld, p.Evidence = nil, false, "", nil
	p.Answers, p.Grades = slices.Clone(r.Answers), slices.Clone(r.Grades)
	for i := range p.Answers {
		p.Answers[i].Signature = nil
	}
	for i := range p.Grades {
		p.Grades[i].Signature, p.Grades[i].CommitSignature = nil, nil
	}
	return p
}

func totalBits(r *Record) (bits []uint64) {
	for _, a := range r.Answers {
		if a.Total != nil {
			bits = append(bits, math.Float64bits(*a.Total))
		}
	}
	return bits
}

// checkTotals checks the aggregated grades. An honest evaluator whose model fails counts as one of the f faulty ones.
func checkTotals(t *check.Trace, h *panelist) {
	aggregate := t.Protocol.(*DecentLLMs).Aggregate
	at, faults := 0, 0
	for _, g := range h.record.Grades {
		if g.Bottom != "" || !t.Honest(g.By) {
			faults++
		}
	}
	for _, a := range h.record.Answers {
		if a.Bottom != "" {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, g := range h.record.Grades {
			if g.Bottom != "" {
				continue
			}
			ok := len(g.Grades) > at && g.Grades[at].Valid()
			if t.Claim("I-DL-6", ok, "the grades %v of n%d count", g.Grades, g.By); !ok {
				return
			}
			if t.Honest(g.By) {
				total := 0.0
				for _, v := range g.Grades[at] {
					total += v
				}
				low, high = min(low, total), max(high, total)
			}
		}
		at++
		if a.Total == nil || !t.Synchronous() {
			continue
		}
		t.Claim("I-DL-5", *a.Total >= -1e-6 && *a.Total <= 100+1e-6 && (a.Converged || aggregate == "geometric-median"),
			"a total of %v", *a.Total)
		if aggregate == "median-total" && faults <= t.Case.F {
			t.State("range of honest totals", true)
			t.Claim("I-DL-4", *a.Total >= low && *a.Total <= high, "n%d has %v outside of [%v, %v]", a.Of, *a.Total,
				low, high)
			t.Margin("I-DL-4", min(*a.Total-low, high-*a.Total))
		}
	}
}

// checkAggregates compares all aggregates of the grades of a record, and of a vector that a liar chose who knows the
// others, with the reference.
func checkAggregates(t *check.Trace, r *Record) {
	var vectors [][]float64
	for _, g := range r.Grades {
		for k := range g.Grades {
			vectors = append(vectors, g.Grades[k][:])
		}
	}
	vectors = vectors[:min(len(vectors), 7)]
	if len(vectors) == 0 {
		return
	}
	if t.Case.Sampled(2) {
		r := rand.New(rand.NewPCG(t.Case.Seed, 0x91ace))
		if r.IntN(2) == 0 { // members of campaigns give few different grades
			vectors = anyGrades(r)
		}
		vectors = append(vectors, placed(vectors, r))
	}
	var w robust.Workspace
	for _, a := range robust.Catalogue.All() {
		for f := range a.Bound(len(vectors)) + 1 {
			got, err := a.Of(&w, vectors, f)
			if a.Name == "geometric-median" { // it does not depend on f
				least := excess(&got)
				t.Claim("I-DL-D", err == nil && reference.Excess(vectors, got.Vector) < least, "%s of %v is %+v (%v), "+
					"where the sum of distances is by more than %v too large", a.Name, vectors, got, err, least)
				break
			}
			want, within, ok := reference.Total(a.Name, vectors, f)
			t.Claim("I-DL-D", err == nil && ok && math.Abs(got.Total-want) <= within, "%s of %v with f=%d is %v "+
				"(%v), and by the reference %v ± %v", a.Name, vectors, f, got.Total, err, want, within)
		}
	}
}

// excess is how much the sum of distances to all vectors may be above the least one at the geometric median. Nearly on
// one line a thousand steps may not lead to the end.
func excess(r *robust.Result) float64 {
	if r.Converged {
		return 1e-3
	}
	return 0.02
}

// anyGrades draws the grades of some evaluators.
func anyGrades(r *rand.Rand) (vectors [][]float64) {
	for range 2 + r.IntN(5) {
		v := make([]float64, len(grade.Grades{}))
		for k := range v {
			v[k] = float64(r.IntN(41)) / 2
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// placed is a vector that holds an iteration best: where the mean of others is, or so little beside it that steps get
// short, towards one of them, away from it or anywhere.
func placed(vectors [][]float64, r *rand.Rand) []float64 {
	at, far := make([]float64, len(vectors[0])), 0.0
	for _, v := range vectors {
		for k := range v {
			at[k] += v[k] / float64(len(vectors))
		}
	}
	if r.IntN(4) == 0 {
		return at
	}
	aside, to := make([]float64, len(at)), vectors[r.IntN(len(vectors))]
	sign, anywhere := float64(2*r.IntN(2)-1), r.IntN(3) == 0
	for k := range at {
		if aside[k] = sign * (to[k] - at[k]); anywhere {
			aside[k] = r.NormFloat64()
		}
		far += aside[k] * aside[k]
	}
	size := math.Pow(10, -3-3*r.Float64()) / max(math.Sqrt(far), 1e-9)
	for k := range at {
		at[k] += size * aside[k]
	}
	return at
}

// checkDecision compares what an evaluator replies, and its totals, with the reference, from the answers and grades
// that it holds.
func checkDecision(t *check.Trace, h *panelist) {
	p, r := t.Protocol.(*DecentLLMs), h.record
	d := reference.DecentLLMs{F: t.Case.F, Aggregate: p.Aggregate, Salt: r.Salt}
	for _, a := range r.Answers {
		d.Answers = append(d.Answers, a.Answer)
	}
	for _, g := range r.Grades {
		var vectors [][]float64
		if g.Bottom == "" {
			vectors = [][]float64{}
		}
		for k := range g.Grades {
			vectors = append(vectors, g.Grades[k][:])
		}
		d.Grades = append(d.Grades, vectors)
	}
	want, totals, within, near := d.Decide()
	if r.Undecided == late {
		want, near = synod.None, false
	}
	t.Claim("I-DL-D", near || h.Answer == want, "n%d replies %q (%s), and the reference %q: totals %v of %v", h.id,
		h.Answer, r.Undecided, want, totals, d)
	for i, a := range r.Answers {
		same := (a.Total == nil) == math.IsNaN(totals[i]) &&
			(a.Total == nil || math.Abs(*a.Total-totals[i]) <= within[i])
		t.Claim("I-DL-D", same, "the total of n%d at n%d is not that of the reference, %v ± %v: %v", a.Of, h.id,
			totals[i], within[i], d)
	}
}

// accept is what the user takes of the signed replies.
func accept(t *check.Trace) reference.Step {
	s := reference.Step{Decides: true, Alone: true, Voting: make([]bool, t.Case.N)}
	var signed []synod.Answer
	for i, role := range t.Case.Cast {
		o := t.Last(i)
		if s.Voting[i] = role == Evaluator; role != Evaluator || o == nil {
			continue
		}
		said := append([]byte("decentllms/reply/1\x00"), o.Answer...)
		if r := RecordOf(o); r != nil && t.Verifier.Verify(synod.NodeID(i), said, r.Signature) {
			signed = append(signed, o.Answer)
		}
	}
	s.Answer, s.Lacking = reference.Accept(signed, t.Case.F)
	return s
}

// tryTerms checks which casts a council accepts, and its number of calls.
func tryTerms(t *check.Tried) {
	p, f := New(), t.Rand.IntN(6)-1
	p.Aggregate, p.Judge = check.Among(t, robust.Catalogue.Names()...), check.Among(t, One, All)
	cast := make([]synod.Role, t.Rand.IntN(10))
	workers := 0
	for i := range cast {
		if cast[i] = check.Among(t, Worker, Evaluator, Evaluator); cast[i] == Worker {
			workers++
		}
	}
	rule, err := robust.Catalogue.Find(p.Aggregate)
	if !t.Need(err) {
		return
	}
	most := rule.Bound(len(cast) - workers)
	t.Tolerates(p.CheckCast(cast, f), f, most, workers > 0 && most >= 0)
	name, note := p.Guarantee(f, 0, true)
	t.Says(name, note, "agreement", fmt.Sprintf("F=%d ", f))

	calls := len(cast) // by the paper an evaluator judges all answers in one call
	for w := range len(cast) + 1 {
		if p.Judge == One {
			calls = max(calls, w+(len(cast)-w)*w)
		}
	}
	t.Check(len(cast) == 0 || p.Calls(make([]int, len(cast))) == calls, "%d seats, judge %s: at most %d calls, and by "+
		"the formula %d", len(cast), p.Judge, p.Calls(make([]int, len(cast))), calls)
}
