package campaign

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/leader"
)

// framed checks that evidence stands, and that it is against Byzantine members only.
func (t *trace) framed(claim string, id synod.NodeID, proofs [][]byte) {
	t.applies(claim)
	for _, b := range proofs {
		var e broadcast.Evidence
		ok := e.UnmarshalBinary(b) == nil && e.Verify(t.verifier)
		t.claim(claim, ok, "the evidence of n%d does not stand", id)
		t.claim(claim, !ok || t.x.bad(e.Sender), "honest n%d is accused by n%d", e.Sender, id)
	}
	t.state("evidence", len(proofs) > 0)
}

// verified checks that a third party accepts what honest members recorded.
func (t *trace) verified(claim string, id synod.NodeID, o *synod.Opinion) {
	c, ok := t.protocol.(protocol.Certified)
	if !ok {
		return
	}
	_, err := c.Verify(protocol.VerifyInput{Self: id, Opinion: o, Question: t.question(), N: t.x.total(),
		Cast: t.x.Cast,
		F:    t.x.F, Check: t.verifier, Name: func(id synod.NodeID) string { return "n" + itoa(int(id)) }})
	t.claim(claim, err == nil, "a third party rejects the record of honest n%d: %v", id, err)
}

// leaders returns the subject of a leaders' protocol.
func leaders(name string, share float64, most func(n int) int, params func(c chance, f int) string,
	agree func(*trace)) *subject {
	s := &subject{
		name: name, signs: true, share: share,
		claims: append([]Claim{
			{ID: "I-LB-2", Property: "a leader that proposes twice leaves evidence, which never accuses an honest " +
				"member",
				Model: Any, Source: "DecentLLMs §II; own"},
			{ID: "LB-C", Property: "every decision has a certificate that a third party verifies", Model: Any,
				Source: "DecentLLMs §II"},
		}, common...),
		states: []string{"decided", "undecided", "later than the first view", "evidence"},
		setup: func(c chance, x *Execution) {
			x.N = []int{4, 4, 4, 5, 7}[c.IntN(5)]
			x.F = most(x.N)
			x.Params = params(c, x.F)
		},
		horizon: func(*Execution) synod.Tick { return 60 },
		build:   ofCatalogue(name),
	}
	s.check = func(t *trace) {
		for i := range t.notes {
			id, o := synod.NodeID(i), t.last(i)
			if !t.honest(id) || o == nil {
				continue
			}
			r := leader.RecordOf(o)
			if t.plain(id) && t.ended.Stopped != "limit" {
				t.claim("LB-C", (o.Answer == synod.None) == (r.Certificate == nil),
					"n%d decides %q, certificate %v", id,
					o.Answer, r.Certificate)
				t.verified("LB-C", id, o)
			}
			for _, n := range t.notes[i] {
				t.framed("I-LB-2", id, leader.RecordOf(n.Opinion).Evidence)
			}
			t.state("decided", o.Answer != synod.None)
			t.state("undecided", o.Answer == synod.None)
			t.state("later than the first view", r.Certificate != nil && r.Certificate.Round > 1)
		}
		agree(t)
	}
	return s
}

// sameDecisions checks that no two honest members decide differently.
func (t *trace) sameDecisions(claim string) {
	t.applies(claim)
	first, by := synod.None, 0
	for i := range t.notes {
		o := t.last(i)
		if !t.honest(synod.NodeID(i)) || o == nil || leader.RecordOf(o).Certificate == nil {
			continue
		}
		if first == synod.None {
			first, by = o.Answer, i
		}
		t.claim(claim, o.Answer == first, "n%d decides %q and n%d %q", by, first, i, o.Answer)
	}
}

var rotatingSubject = func() *subject {
	s := leaders("rotating-leader", 2, func(n int) int { return (n - 1) / 3 },
		func(c chance, f int) string {
			return fmt.Sprintf("{views: %d, rationale: 0, propose: %s}", f+2, []string{"own", "best",
				"quorum"}[c.IntN(3)])
		},
		func(t *trace) {
			if !t.x.Above {
				t.sameDecisions("I-LB-1")
			}
		})
	s.claims = append([]Claim{{ID: "I-LB-1", Property: "with f < n/3 there are no two decisions, however long " +
		"messages " +
		"take", Model: Async, Source: "DecentLLMs §II; HotStuff"}}, s.claims...)
	return s
}()

var fixedSubject = func() *subject {
	s := leaders("fixed-leader", 1.5, func(n int) int { return (n - 1) / 2 },
		func(c chance, f int) string {
			return fmt.Sprintf("{leaders: %d, rounds: %d, rationale: 0}", f+1, 1+c.IntN(2))
		},
		func(t *trace) {
			if t.synchronous() && !t.lies() {
				t.sameDecisions("LB-1F")
			}
		})
	s.claims = append([]Claim{{ID: "LB-1F", Property: "with members that are silent at worst there are no two " +
		"decisions",
		Model: Sync, Source: "DecentLLMs §II (BlockAgents)"}}, s.claims...)
	return s
}()

// lies reports whether some member does worse than to be silent.
func (t *trace) lies() bool {
	return slices.ContainsFunc(t.x.Seats, func(s Seated) bool { return s.Name != "silent" }) ||
		slices.ContainsFunc(t.x.Events, func(e Event) bool {
			return kinds[e.kind].Charge == Byzantine || kinds[e.kind].Charge == Omission && e.Kind != "crash"
		})
}

var decentSubject = &subject{
	name: "decentllms", signs: true, share: 2,
	claims: append([]Claim{
		{ID: "I-DL-1", Property: "all honest evaluators hold the same answers and the same grades", Model: Sync,
			Source: "DecentLLMs §III.C"},
		{ID: "I-DL-2", Property: "all honest evaluators reply the same answer, with totals equal in every bit",
			Model:  Sync,
			Source: "DecentLLMs §III.C; finding F5"},
		{ID: "I-DL-3", Property: "every honest evaluator replies with its signature, and the user accepts f+1 equal " +
			"replies",
			Model: Sync, Source: "DecentLLMs §III.C"},
		{ID: "I-DL-4", Property: "with median-total every total is in the range of the honest totals", Model: Sync,
			Source: "finding F6", Margin: "distance from the end of the range"},
		{ID: "I-DL-5", Property: "every total is between 0 and 100, and converged where that is promised", Model: Sync,
			Source: "DecentLLMs §III.C"},
		{ID: "I-DL-6", Property: "grades that are not five numbers from 0 to 20 for each answer do not count",
			Model:  Any,
			Source: "DecentLLMs §III.B"},
		{ID: "I-DL-8", Property: "evaluators reply at the same tick, however many workers are Byzantine", Model: Any,
			Source: "DecentLLMs Fig. 7"},
		{ID: "I-DL-E", Property: "evidence of two values stands, and never accuses an honest member", Model: Any,
			Source: "own"},
	}, common...),
	also: []string{"silent"},
	states: []string{"decision", "no decision", "equivocation", "unreadable grades", "evidence",
		"range of honest totals",
		"no grades of an honest evaluator"},
	setup: func(c chance, x *Execution) {
		workers, evaluators := 1+c.IntN(3), 3+c.IntN(3)
		x.N = workers + evaluators
		for i := range x.N {
			role := decentllms.Evaluator
			if i < workers {
				role = decentllms.Worker
			}
			x.Cast = append(x.Cast, role)
		}
		aggregate := []string{"geometric-median", "median-total", "median-total", "coordinate-median",
			"trimmed-mean"}[c.IntN(5)]
		x.Params = fmt.Sprintf("{aggregate: %s, judge: %s, rationale: 0}", aggregate, []string{"one", "one", "one",
			"all"}[c.IntN(4)])
		x.F = c.IntN((evaluators+1)/2-1) + 1
	},
	horizon: func(x *Execution) synod.Tick { return synod.Tick(2*x.F+5) * pace.Within },
	build:   ofCatalogue("decentllms"),
	check:   checkDecent,
}

// panelist is an honest evaluator at the end.
type panelist struct {
	id synod.NodeID
	at synod.Tick
	*synod.Opinion
	record *decentllms.Record
}

func checkDecent(t *trace) {
	var held []panelist
	evaluators := 0
	for i := range t.notes {
		id := synod.NodeID(i)
		if t.x.Cast[i] != decentllms.Evaluator {
			continue
		}
		if t.honest(id) {
			evaluators++
		}
		if n := len(t.notes[i]); n > 0 && t.plain(id) {
			last := t.notes[i][n-1]
			if r := decentllms.RecordOf(last.Opinion); r != nil {
				held = append(held, panelist{id, last.at, last.Opinion, r})
			}
		}
	}
	for k := range held {
		t.panelist(&held[k], &held[0])
	}
	if !t.synchronous() {
		return
	}
	t.claim("I-DL-3", len(held) == evaluators || slices.Contains(t.hosted, true), "%d of %d honest evaluators reply",
		len(held), evaluators)
	last := make([]synod.Opinion, t.x.total())
	decided := 0
	for _, h := range held {
		last[h.id] = *h.Opinion
		if h.Answer != synod.None {
			decided++
		}
	}
	if decided > t.x.F {
		a, _, why := t.protocol.(*decentllms.DecentLLMs).Accept(last, t.x.Cast, t.x.F, t.verifier)
		t.claim("I-DL-3", a == held[0].Answer, "the user accepts %q and not %q: %s", a, held[0].Answer, why)
	}
}

// panelist checks what one honest evaluator holds, and compares it with the first.
func (t *trace) panelist(h, first *panelist) {
	t.claim("I-DL-8", h.at == first.at, "n%d replies at tick %d and n%d at tick %d", first.id, first.at, h.id, h.at)
	t.claim("I-DL-3", t.verifier.Verify(h.id, decentllms.ReplyBytes(h.Answer), h.record.Signature),
		"the reply of n%d is not signed", h.id)
	t.framed("I-DL-E", h.id, h.record.Evidence)
	t.state("decision", h.Answer != synod.None)
	t.state("no decision", h.Answer == synod.None)
	for _, a := range h.record.Answers {
		t.state("equivocation", a.Bottom == "equivocated")
	}
	for _, g := range h.record.Grades {
		t.state("unreadable grades", g.Bottom == "unreadable")
		t.state("no grades of an honest evaluator", g.Bottom != "" && t.honest(g.By))
	}
	if t.synchronous() {
		a, b := sharedRecord(first.record), sharedRecord(h.record)
		if t.applies("I-DL-1"); !reflect.DeepEqual(a, b) {
			one, _ := json.Marshal(a)
			other, _ := json.Marshal(b)
			t.fail("I-DL-1", "n%d holds %s and n%d %s", first.id, one, h.id, other)
		}
		t.claim("I-DL-2", h.Answer == first.Answer && slices.Equal(totalBits(h.record), totalBits(first.record)),
			"n%d replies %q and n%d %q", first.id, first.Answer, h.id, h.Answer)
	}
	t.totals(h)
}

// sharedRecord is the part of a record that is equal at all honest evaluators.
func sharedRecord(r *decentllms.Record) decentllms.Record {
	p := *r
	p.Signature, p.Unsafe, p.Withheld, p.Evidence = nil, false, "", nil
	return p
}

func totalBits(r *decentllms.Record) (bits []uint64) {
	for _, a := range r.Answers {
		if a.Total != nil {
			bits = append(bits, math.Float64bits(*a.Total))
		}
	}
	return bits
}

// totals checks the aggregated grades. An honest evaluator whose model fails counts as one of the f faulty ones.
func (t *trace) totals(h *panelist) {
	aggregate := t.protocol.(*decentllms.DecentLLMs).Aggregate
	at, faults := 0, 0
	for _, g := range h.record.Grades {
		if g.Bottom != "" || t.x.bad(g.By) {
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
			if t.claim("I-DL-6", ok, "the grades %v of n%d count", g.Grades, g.By); !ok {
				return
			}
			if t.honest(g.By) {
				total := 0.0
				for _, v := range g.Grades[at] {
					total += v
				}
				low, high = min(low, total), max(high, total)
			}
		}
		at++
		if a.Total == nil || !t.synchronous() {
			continue
		}
		t.claim("I-DL-5", *a.Total >= -1e-6 && *a.Total <= 100+1e-6 && (a.Converged || aggregate == "geometric-median"),
			"a total of %v", *a.Total)
		if aggregate == "median-total" && faults <= t.x.F {
			t.state("range of honest totals", true)
			t.claim("I-DL-4", *a.Total >= low && *a.Total <= high, "n%d has %v outside of [%v, %v]", a.Of, *a.Total,
				low, high)
			t.margin("I-DL-4", min(*a.Total-low, high-*a.Total))
		}
	}
}

var gameSubject = &subject{
	name: "game", signs: true, private: true, share: 2,
	claims: append([]Claim{
		{ID: "I-GM-1", Property: "a player ends the game if and only if two thirds of all players vote to stop",
			Model:  Any,
			Source: "Can AI Agents Agree? §3", Margin: "thirds of a vote from the threshold"},
		{ID: "I-GM-2", Property: "a game has exactly one of the four outcomes, and none only at its last round",
			Model:  Any,
			Source: "Can AI Agents Agree? §3"},
		{ID: "I-GM-3", Property: "valid means that all honest players hold one number that one of them was given",
			Model: Any, Source: "Can AI Agents Agree? §3"},
		{ID: "I-GM-5", Property: "all honest players end the game after the same round", Model: Sync,
			Source: "own (GM-7)"},
		{ID: claimPrivate, Property: "what an honest player notes for itself is in no message, in no opinion " +
			"and in no prompt of another", Model: Any, Source: "Can AI Agents Agree? §3; own (GM-2)"},
		{ID: "I-GM-E", Property: "nobody accuses an honest player of having sent two votes", Model: Any, Source: "own"},
	}, common...),
	states: []string{"valid", "none", "evidence", "stopped"},
	setup: func(c chance, x *Execution) {
		x.N = 4 + c.IntN(3)
		x.F = (x.N - 1) / 3
		x.Params = fmt.Sprintf("{rounds: %d, attempts: 1, high: 3, rule: %s}", 1+c.IntN(3), []string{"none", "mode",
			"median"}[c.IntN(3)])
	},
	horizon: func(*Execution) synod.Tick { return 80 },
	build:   ofCatalogue("game"),
	check:   checkGame,
}

func checkGame(t *trace) {
	g := t.protocol.(*game.Game)
	notes, honest := make([][]*synod.Opinion, t.x.total()), make([]bool, t.x.total())
	for i := range t.notes {
		honest[i] = t.honest(synod.NodeID(i))
		for _, n := range t.notes[i] {
			notes[i] = append(notes[i], n.Opinion)
		}
	}
	outcome, stop := g.Ended(notes, honest)
	t.claim("I-GM-2", slices.Contains(g.Endings(), outcome), "the outcome is %q", outcome)
	t.state(outcome, true)
	t.state("stopped", stop > 0)
	first := -1
	for i := range t.notes {
		id := synod.NodeID(i)
		if !t.plain(id) || len(t.notes[i]) == 0 {
			continue
		}
		rounds := t.last(i).Round
		t.claim("I-GM-2", rounds <= g.MaxRounds(), "n%d plays %d rounds", i, rounds)
		if first < 0 {
			first = i
		}
		if t.synchronous() {
			t.claim("I-GM-5", rounds == t.last(first).Round, "n%d ends after round %d and n%d after round %d", first,
				t.last(first).Round, i, rounds)
		}
		for _, n := range t.notes[i] {
			t.framed("I-GM-E", id, g.Accusations(n.Opinion))
			t.counted(id, n.Opinion)
		}
		t.applies("I-GM-E")
	}
	if outcome == string(game.Valid) {
		t.validGame(notes, honest, stop)
	}
}

// counted checks that a player ends the game if and only if two thirds of all players voted to stop.
func (t *trace) counted(id synod.NodeID, o *synod.Opinion) {
	r, err := synod.RecordOf[game.Record](o)
	if r == nil || err != nil {
		return
	}
	t.claim("I-GM-1", r.Over == (3*len(r.Stops) >= 2*t.x.N), "n%d counts %d votes to stop of %d, and ends the game: "+
		"%v", id,
		len(r.Stops), t.x.N, r.Over)
	t.margin("I-GM-1", math.Abs(float64(3*len(r.Stops)-2*t.x.N)))
}

// validGame checks that all honest players hold one number after a round, and that one of them was given it.
func (t *trace) validGame(notes [][]*synod.Opinion, honest []bool, round int) {
	var held, given []synod.Answer
	for i, of := range notes {
		for _, o := range of {
			if honest[i] && o.Round == round {
				held = append(held, o.Answer)
			}
			if honest[i] && o.Round == 0 {
				given = append(given, o.Answer)
			}
		}
	}
	ok := len(held) > 0 && slices.Contains(given, held[0])
	for _, a := range held {
		ok = ok && a == held[0]
	}
	t.claim("I-GM-3", ok, "valid after round %d, where honest players hold %v of the given %v", round, held, given)
}
