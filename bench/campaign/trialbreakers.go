package campaign

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
)

// breaks shows a run to breakers, tick by tick, and to the reference.
func breaks(t *ClaimTried) {
	n := 3 + t.Rand.IntN(5)
	b := &reference.Breaking{Rule: reference.Rule{Name: []string{plan.Plurality, plan.Majority,
		plan.Supermajority}[t.Rand.IntN(3)]}, Said: make([][]synod.Answer, n), Dead: make([]bool, n)}
	b.F, b.Quorum, b.Equivocation = t.Rand.IntN(3), t.Rand.IntN(3) > 0, t.Rand.IntN(2) == 0
	rounds := []*int{&b.NoProgress, &b.Oscillation, &b.Drift}
	for _, r := range rounds {
		*r = max(0, t.Rand.IntN(6)-2)
	}
	p := t.watched(b)
	if p == nil {
		return // no council may be like that
	}
	watch, paths, records := outcome.NewBreaker(p), t.paths(b), make([]outcome.Record, n)
	for i := range records {
		records[i] = outcome.Record{Seat: synod.NodeID(i), Stopped: outcome.Tripped}
		records[i].Statuses.Count(map[bool]synod.Status{false: synod.OK, true: synod.Unavailable}[b.Dead[i]])
	}
	for tick := range synod.Tick(60) {
		notes := t.ticked(b, paths)
		for _, o := range notes {
			records[o.Node].Opinions = append(records[o.Node].Opinions, outcome.Noted{Tick: tick, Opinion: o.Opinion})
		}
		want, round := b.Trips()
		got := watch.After(notes, func(seat int) bool { return b.Dead[seat] })
		var tripped outcome.Trip
		if got != nil {
			tripped = *got
		}
		t.Check(tripped.Breaker == want && tripped.Round == round, "F=%d, rule %s, voices %v, no_progress %d, "+
			"oscillation %d, drift %d, quorum %v, dead %v: %+v, and by the reference %q after round %d, of %q", b.F,
			b.Rule.Name, b.Voice, b.NoProgress, b.Oscillation, b.Drift, b.Quorum, b.Dead, tripped, want, round, b.Said)
		if want == "" && got == nil {
			continue
		}
		off, is := map[string]string{"no-quorum": "quorum=false", "equivocation": "equivocation=false"}[want]
		if !is {
			off = strings.ReplaceAll(want, "-", "_") + "=0"
		}
		t.Check(tripped.Continue == "breakers."+off, "%s: goes on with %s", want, tripped.Continue)
		o := outcome.Judge(p, plan.Instance{Question: synod.Question{Text: "How many?"}}, records)
		t.Check(o.Trip != nil && *o.Trip == tripped, "its records trip %+v, and it %+v", o.Trip, tripped)
		return
	}
}

// watchedRounds is how many rounds a run has that breakers watch.
const watchedRounds = 20

// inRounds returns the name of a protocol that plays so many rounds; runs under breakers have it.
var inRounds = sync.OnceValue(func() string {
	return nameWhere(fmt.Sprint("rounds: ", watchedRounds), func(p synod.Protocol) bool {
		return p.(protocol.Protocol).MaxRounds() == watchedRounds
	})
})

// watched returns the plan of a council with breakers, and says who is one voice.
func (t *ClaimTried) watched(b *reference.Breaking) *plan.Plan {
	models := 1 + t.Rand.IntN(len(b.Said))
	for i := range b.Said {
		b.Voice = append(b.Voice, i*models/len(b.Said))
	}
	p := planFor(fmt.Sprintf("protocol: {name: %s, rounds: %d}\ngraph: {family: complete}\nf: %d\nrule: {name: %s}\n"+
		"breakers: {no_progress: %d, oscillation: %d, drift: %d, quorum: %v, equivocation: %v}\n", inRounds(),
		watchedRounds, b.F, b.Rule.Name, b.NoProgress, b.Oscillation, b.Drift, b.Quorum, b.Equivocation) +
		seatsOf(b.Voice))
	if p != nil {
		b.Hostile = min(plan.HostileVoices(p), plan.CountVoices(p)-1)
	}
	return p
}

// paths draws what each seat says round by round: numbers or words that it keeps, that it returns to, that differ each
// time, or that come together.
func (t *ClaimTried) paths(b *reference.Breaking) [][]synod.Answer {
	paths, usual, period := make([][]synod.Answer, len(b.Said)), t.Rand.IntN(5), 2+t.Rand.IntN(4)
	for i := range paths {
		way, base := usual, 10*t.Rand.IntN(4)
		if t.Rand.IntN(4) == 0 {
			way = t.Rand.IntN(5)
		}
		b.Dead[i] = t.Rand.IntN(6) == 0
		for r := range watchedRounds {
			x := base
			switch way {
			case 1:
				x += (r + i) % period
			case 2:
				x = 100*i + t.Rand.IntN(9)
			case 3:
				x = 100 * i / (r + 1)
			case 4:
				x = t.Rand.IntN(5)
			}
			answer := synod.Answer(fmt.Sprint(x))
			if b.Dead[i] && t.Rand.IntN(4) > 0 || t.Rand.IntN(20) == 0 {
				answer = synod.None
			} else if t.Rand.IntN(12) == 0 {
				answer = "many"
			}
			paths[i] = append(paths[i], answer)
		}
	}
	return paths
}

// ticked lets seats note their next rounds.
func (t *ClaimTried) ticked(b *reference.Breaking, paths [][]synod.Answer) (notes []sim.Noted) {
	for _, i := range t.Rand.Perm(len(paths)) {
		round := len(b.Said[i])
		if round == len(paths[i]) || b.Dead[i] && round == 0 && i%2 == 0 || t.Rand.IntN(3) == 0 {
			continue
		}
		o := &synod.Opinion{Round: round, Answer: paths[i][round]}
		if t.Rand.IntN(200) == 0 {
			o.Suspects, b.Accused = []synod.NodeID{synod.NodeID(t.Rand.IntN(len(paths)))}, true
		}
		notes, b.Said[i] = append(notes, sim.Noted{Node: synod.NodeID(i), Opinion: o}), append(b.Said[i], o.Answer)
	}
	slices.SortFunc(notes, func(x, y sim.Noted) int { return int(x.Node - y.Node) })
	return notes
}
