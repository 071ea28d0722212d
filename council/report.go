package council

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/sim"
)

// outcome puts together what a session came to.
func (c *Council) outcome(s *session, result sim.Result) Outcome {
	o := Outcome{
		Version: OutcomeVersion, Question: s.ask.Question.Text, Form: s.ask.Question.Form,
		Council: c.spec.Council, Protocol: c.entry.Name, Exact: c.spec.Exact, Rule: c.spec.Rule,
		Bound: c.bound, Stopped: result.Stopped, Seed: s.ask.Seed, Tokens: s.tokens,
		Calls: Calls{Made: s.made, Planned: c.Planned()},
	}
	shown := spelling(s.opinions)
	ballot := Ballot{Seats: make([]string, len(c.seats)), First: make([]synod.Answer, len(c.seats)), Final: make([]synod.Answer, len(c.seats))}
	garbled := make([]int, len(c.seats))
	for i, seat := range c.seats {
		ballot.Seats[i] = seat.id
	}
	for _, n := range s.opinions {
		if n.Round == 0 {
			ballot.First[n.Node] = n.Answer
		}
		ballot.Final[n.Node] = n.Answer
		garbled[n.Node] += n.Garbled
		o.Calls.Reused += n.Reused
	}
	v := c.spec.Rule.Decide(ballot)
	o.Status, o.Reason, o.Votes = v.Status, v.Reason, v.Votes
	if why, cut := cutOff[result.Stopped]; cut {
		o.Status, v.Answer = Undecided, synod.None
		o.Reason = fmt.Sprintf("%s; until then %s", why, v.Reason)
	}
	o.Answer = shown.of(v.Answer)
	for i := range o.Votes {
		o.Votes[i].Answer = *shown.of(o.Votes[i].Answer)
	}
	for i, seat := range c.seats {
		o.Members = append(o.Members, c.member(i, seat, s.accounts[i], garbled[i], shown.of(ballot.First[i]), shown.of(ballot.Final[i])))
	}
	o.Rounds = c.rounds(s.opinions, shown)
	return o
}

// cutOff says, for the reasons that cut a run short, what happened. Such a run
// has no decision: what is spent is no ground for a weaker answer (DE-2).
var cutOff = map[string]string{
	OverBudget:  "a limit on calls or tokens was reached",
	PastTime:    "the deadline passed",
	Interrupted: "the run was interrupted",
	sim.Stalled: "the run stalled before every member had finished",
}

func (c *Council) member(i int, seat seat, a account, garbled int, first, final *synod.Answer) Member {
	m := Member{
		ID: seat.id, Model: seat.model, Kind: c.models[seat.model].Info().Kind, Role: "member",
		First: first, Final: final, Calls: map[synod.Status]int{}, Trouble: a.trouble,
	}
	if a, can := c.models[seat.model].(llm.Adapter); can {
		m.Adapted = a.Adapted()
	}
	if len(seat.adversary) > 0 {
		name, _, _ := seat.adversary.split()
		m.Adversary = &name
	}
	for _, status := range synod.Statuses() {
		m.Calls[status] = a.by[status]
	}
	// What came back but could not be read is told apart only by the protocol.
	garbled = min(garbled, m.Calls[synod.OK])
	m.Calls[synod.OK] -= garbled
	m.Calls[synod.Unreadable] += garbled
	return m
}

func (c *Council) rounds(notes []sim.Noted, shown spellings) []Round {
	rounds := []Round{}
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b sim.Noted) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Node, b.Node))
	})
	for _, n := range notes {
		if len(rounds) == 0 || rounds[len(rounds)-1].T != n.Round {
			rounds = append(rounds, Round{T: n.Round})
		}
		r := &rounds[len(rounds)-1]
		seat := RoundSeat{
			ID: c.seats[n.Node].id, Answer: shown.of(n.Answer), Source: n.Source, Scores: map[string]synod.Score{},
			From: c.ids(n.From), Retained: c.ids(n.Retained), Dropped: c.ids(n.Dropped), Silent: c.ids(n.Silent),
			Failed: n.Failed, Garbled: n.Garbled,
		}
		for _, j := range n.Scores {
			seat.Scores[c.seats[j.Of].id] = j.Score
		}
		r.Members = append(r.Members, seat)
	}
	return rounds
}

func (c *Council) ids(nodes []synod.NodeID) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = c.seats[n].id
	}
	return ids
}

// spellings is how each canonical answer is shown to people: as most members
// spelled it.
type spellings map[synod.Answer]string

func (s spellings) of(a synod.Answer) *synod.Answer {
	if a == synod.None {
		return nil
	}
	if shown, ok := s[a]; ok {
		a = synod.Answer(shown)
	}
	return &a
}

func spelling(notes []sim.Noted) spellings {
	count := map[synod.Answer]map[string]int{}
	for _, n := range notes {
		if n.Surface == "" {
			continue
		}
		if count[n.Answer] == nil {
			count[n.Answer] = map[string]int{}
		}
		count[n.Answer][n.Surface]++
	}
	best := spellings{}
	for a, by := range count {
		for surface, k := range by {
			if was, ok := best[a]; !ok || k > by[was] || k == by[was] && surface < was {
				best[a] = surface
			}
		}
	}
	return best
}
