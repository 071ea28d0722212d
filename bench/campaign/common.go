package campaign

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// The claims that every subject has.
const (
	claimCrash  = "EN-1"
	claimEnds   = "EN-2"
	claimCost   = "EN-3"
	claimSource = "I-SAC-9"
	claimSame   = "RU-1"
	claimReplay = "RU-2"
)

// common are the claims of every subject.
var common = []Claim{
	{ID: claimCrash, Property: "no machine panics, whatever it is sent", Model: Any, Source: "reliability, SC-16"},
	{ID: claimEnds, Property: "every run ends: each member that is up decides within the rounds", Model: Any,
		Source: "SAC Algorithm 1; DecentLLMs §III.C"},
	{ID: claimSame, Property: "one seed and one set of replies give one record", Model: Any, Source: "own"},
	{ID: claimReplay, Property: "a member that is restarted from its journal does again what it did, and goes on",
		Model: Crash, Source: "own"},
	callClaim,
}

// answering are the claims of protocols whose members exchange answers in rounds.
var answering = []Claim{
	{ID: claimCost, Property: "members play at most the announced rounds, in order, with at most the announced calls",
		Model: Any, Source: "SAC §4.1 (I-SAC-8)", Margin: "calls below the bound"},
	{ID: claimSource, Property: "the source of every answer is right: own, kept, adopted from a neighbour, or new",
		Model: Any, Source: "SAC §4.1 (I-SAC-9)"},
}

// parsed returns a new protocol of the catalogue with parameters.
func parsed(name, params string) (protocol.Protocol, error) {
	entry, err := catalog.Protocols.Find(name)
	if err != nil {
		return nil, err
	}
	p, with := entry.New(), map[string]any{}
	if err := yaml.Unmarshal([]byte(params), &with); err != nil {
		return nil, fmt.Errorf("campaign: the parameters %q are not YAML: %w", params, err)
	}
	if len(with) > 0 {
		if err := param.Decode(with, p); err != nil {
			return nil, fmt.Errorf("campaign: %s: %w", name, err)
		}
	}
	return p, p.Validate()
}

// ofCatalogue builds a protocol of the catalogue.
func ofCatalogue(name string) func(*Player, string) (synod.Protocol, error) {
	return func(_ *Player, params string) (synod.Protocol, error) {
		p, err := parsed(name, params)
		return p, err
	}
}

// question returns the question of an execution.
func (t *trace) question() *synod.Question { return questions[t.subject.form] }

var questions = map[synod.Form]*synod.Question{
	"":           {Text: "How many?", Form: synod.Number},
	synod.Prose:  {Text: "What do you think?", Form: synod.Prose},
	synod.Number: {Text: "How many?", Form: synod.Number},
}

// judge checks all claims of the execution.
func (t *trace) judge() {
	t.applies(claimCrash)
	t.claim(claimEnds, t.ended.Stopped == sim.Finished || t.ended.Stopped == "limit", "it ended as %q at tick %d",
		t.ended.Stopped, t.ended.Ticks)
	if len(t.result.Violations) > 0 {
		return
	}
	if t.subject.exchanges {
		t.cost()
		t.sources()
	}
	t.subject.check(t)
}

// cost checks rounds and calls of honest members whose process does not fail.
func (t *trace) cost() {
	p := t.protocol.(protocol.Protocol)
	most, degrees := p.MaxRounds(), make([]int, t.x.total())
	calls, all := 0, true
	for i := range degrees {
		degrees[i] = len(t.peers[i])
		if !t.plain(synod.NodeID(i)) {
			all = false
			continue
		}
		for k, n := range t.notes[i] {
			t.claim(claimCost, n.Round == k && k <= most, "n%d has round %d as note number %d of at most %d", i,
				n.Round,
				k, most+1)
		}
		t.claim(claimCost, len(t.notes[i]) == most+1 || len(t.notes[i]) == 0, "n%d noted %d rounds, not %d", i,
			len(t.notes[i]), most+1)
		calls += t.callsOf[i]
	}
	bound := p.Calls(degrees) + len(degrees)*most
	t.claim(claimCost, calls <= bound, "%d calls; the bound is %d", calls, bound)
	if all && !t.stranger {
		t.margin(claimCost, float64(bound-calls))
	}
}

// sources checks that the source of every answer is right.
func (t *trace) sources() {
	for i := range t.notes {
		if !t.plain(synod.NodeID(i)) {
			continue
		}
		held := synod.None
		for _, n := range t.notes[i] {
			ok := false
			switch n.Source {
			case synod.Own:
				ok = held == synod.None && n.Answer != synod.None
			case synod.Absent:
				ok = n.Answer == synod.None
			case synod.Kept:
				ok = n.Answer == held || held == synod.None
			case synod.Adopted, synod.New:
				ok = n.Round > 0 && n.Answer != held && (len(n.From) > 0) == (n.Source == synod.Adopted)
			}
			t.claim(claimSource, ok, "n%d held %q and notes %s", i, held, n.Opinion)
			t.state("answer "+string(n.Source), true)
			held = n.Answer
		}
	}
}

// digest is a hash of all opinions of honest members and of when they came.
func (t *trace) digest(ticks bool) uint64 {
	h := uint64(1)
	for i := range t.notes {
		if !t.plain(synod.NodeID(i)) {
			continue
		}
		for _, n := range t.notes[i] {
			h = mix(h ^ uint64(i)<<32 ^ uint64(n.Round))
			if ticks {
				h = mix(h ^ uint64(n.at))
			}
			h = hashText(hashText(h, n.Answer), n.Source)
			for _, s := range n.Scores {
				h = mix(h ^ uint64(s.Of)<<40 ^ math.Float64bits(float64(s.Score)))
			}
			for k, ids := range [][]synod.NodeID{n.Retained, n.Dropped, n.Silent, n.Suspects, n.From} {
				for _, id := range ids {
					h = mix(h ^ uint64(id)<<8 ^ uint64(k))
				}
			}
			if n.Record != nil {
				h = hashText(h, n.Record.String())
			}
		}
	}
	return h
}

// sampled reports whether one of so many executions, by its seed, is this one.
func (x *Execution) sampled(of uint64) bool {
	h := x.Seed
	for _, parts := range x.Twins { // a sweep has one seed
		h = mix(h ^ uint64(parts))
	}
	return h%of == 0
}

// repeatShare is one of how many executions is played a second time, to compare the two.
const repeatShare = 64

// again plays an execution a second time, or with a change that must change nothing.
func (p *Player) again(t *trace) {
	x := t.x
	if t.subject.again != nil {
		t.subject.again(p, t)
	}
	if !x.sampled(repeatShare) {
		return
	}
	first, ticks, calls := t.first, t.ended.Ticks, t.calls
	second := p.play(t.subject, x, variant{})
	t.claim(claimSame, second.first == first && second.ended.Ticks == ticks && second.calls == calls,
		"two runs of one seed differ: %d and %d ticks, %d and %d calls", ticks, second.ended.Ticks, calls, second.calls)
}
