package council

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/sim"
)

// outcome puts together what a session came to.
func (c *Council) outcome(s *session, result sim.Result) Outcome {
	o := Outcome{
		Version: OutcomeVersion, Question: s.ask.Question.Text, Form: s.ask.Question.Form,
		Council: c.spec.Council, Protocol: c.entry.Name, Exact: c.spec.Exact, Rule: c.spec.Rule,
		Bound: c.bound, Stopped: result.Stopped, Ticks: result.Ticks, Seed: s.ask.Seed, Tokens: s.tokens,
		Calls: Calls{Made: s.made, Planned: c.Planned()},
	}
	shown, ballot := spelling(s.opinions), c.ballot()
	garbled, last := make([]int, len(c.seats)), make([]synod.Opinion, len(c.seats))
	for _, n := range s.opinions {
		if n.Round == 0 {
			ballot.First[n.Node] = n.Answer
		}
		ballot.Final[n.Node], last[n.Node] = n.Answer, *n.Opinion
		garbled[n.Node] += n.Unreadable
		o.Calls.Reused += n.Reused
	}
	ballot.Concluded = c.conclude(&s.ask.Question, s.ask.Seed, last)
	v := c.spec.Rule.Decide(ballot.Without(c.mute))
	o.Status, o.Reason, o.Votes = v.Status, v.Reason, v.Votes
	if why := c.outOfReach(s); v.Status == Undecided && why != "" {
		o.Status, o.Reason = Degraded, fmt.Sprintf("%s; %s", why, v.Reason)
	}
	if why, cut := cutOff[result.Stopped]; cut {
		o.Status, v.Answer = Undecided, synod.None
		if o.Trip = s.trip; o.Trip != nil && o.Trip.Breaker == NoQuorum {
			o.Status = Degraded
		}
		if o.Trip != nil {
			why = o.Trip.Detail
		}
		o.Reason = fmt.Sprintf("%s; until then %s", why, v.Reason)
		o.again = s.again(&o)
	}
	o.Answer = shown.of(v.Answer)
	for i := range o.Votes {
		o.Votes[i].Answer = *shown.of(o.Votes[i].Answer)
	}
	o.Members = make([]Member, 0, len(c.seats))
	for i, seat := range c.seats {
		o.Members = append(o.Members, c.member(i, seat, s.accounts[i], garbled[i], shown.of(ballot.First[i]), shown.of(ballot.Final[i])))
	}
	o.Rounds = c.rounds(s.opinions, shown)
	o.Presented = c.present(&s.ask.Question, s.ask.Seed, v.Answer, last, shown)
	o.Money = c.bill(s.accounts)
	o.Cost = o.Money.Cost()
	return o
}

// ballot is one on which nobody has voted yet.
func (c *Council) ballot() Ballot {
	b := Ballot{Seats: make([]string, len(c.seats)), First: make([]synod.Answer, len(c.seats)), Final: make([]synod.Answer, len(c.seats))}
	for i, seat := range c.seats {
		b.Seats[i] = seat.id
	}
	return b
}

// bill is what the seats' calls cost.
func (c *Council) bill(accounts []account) llm.Money {
	uses := make([]llm.Use, len(accounts))
	for i, a := range accounts {
		uses[i] = a.use
		uses[i].Model, uses[i].Info = c.seats[i].model, c.models[c.seats[i].model].Info()
	}
	return c.prices.Bill(uses)
}

// again is the command that goes on with a journal, past what has cut the run off.
func (s *session) again(o *Outcome) string {
	line, short := cmp.Or(s.ask.Again, "synod ask --resume")+" %s", s.budget.Short()
	if o.Trip != nil {
		line += " --set " + o.Trip.Continue
	}
	if short.Calls > 0 {
		line += fmt.Sprintf(" --set limits.calls=%d", 2*short.Calls)
	}
	if short.Tokens > 0 {
		line += fmt.Sprintf(" --set limits.tokens=%d", 2*short.Tokens)
	}
	if short.USD > 0 {
		line += fmt.Sprintf(" --set limits.usd=%.2g", 2*short.USD)
	}
	return line
}

// cutOff says, for the reasons that cut a run short, what happened. Such a run
// has no decision: what is spent is no ground for a weaker answer (DE-2).
var cutOff = map[string]string{
	Tripped:     "a breaker tripped",
	OverBudget:  "a limit on calls, tokens or money was reached",
	PastTime:    "the deadline passed",
	Interrupted: "the run was interrupted",
	sim.Stalled: "the run stalled before every member had finished",
}

func (c *Council) member(i int, seat seat, a account, garbled int, first, final *synod.Answer) Member {
	m := Member{
		ID: seat.id, Model: seat.model, Kind: c.models[seat.model].Info().Kind, Role: cmp.Or(string(seat.role), "member"),
		First: first, Final: final, Calls: make(map[synod.Status]int, len(statuses)), Trouble: a.trouble,
	}
	if a, can := c.models[seat.model].(llm.Adapter); can {
		m.Adapted = a.Adapted()
	}
	if len(seat.adversary) > 0 {
		name, _, _ := seat.adversary.split()
		m.Adversary = &name
	}
	for i, status := range statuses {
		m.Calls[status] = a.by[i]
	}
	// What came back but could not be read is told apart only by the protocol.
	garbled = min(garbled, m.Calls[synod.OK])
	m.Calls[synod.OK] -= garbled
	m.Calls[synod.Unreadable] += garbled
	return m
}

func (c *Council) rounds(notes []sim.Noted, shown spellings) []Round {
	rounds := []Round{}
	names := c.namer(notes)
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b sim.Noted) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.Node, b.Node))
	})
	for _, n := range notes {
		if len(rounds) == 0 || rounds[len(rounds)-1].T != n.Round {
			rounds = append(rounds, Round{T: n.Round, Members: make([]RoundSeat, 0, len(c.seats))})
		}
		r := &rounds[len(rounds)-1]
		seat := RoundSeat{
			ID: c.seats[n.Node].id, Answer: shown.of(n.Answer), Source: n.Source, Confidence: n.Confidence, Scores: make(map[string]synod.Score, len(n.Scores)),
			From: names.of(n.From), Retained: names.of(n.Retained), Dropped: names.of(n.Dropped), Silent: names.of(n.Silent), Suspects: names.of(n.Suspects),
			Failed: n.Failed, Garbled: n.Unreadable, Unsure: n.Unsure,
		}
		if p, ok := c.protocol.(protocol.RoundPresenter); ok {
			seat.Presented = p.PresentRound(n.Opinion, c.name)
		}
		for _, j := range n.Scores {
			seat.Scores[c.seats[j.Of].id] = j.Score
		}
		r.Members = append(r.Members, seat)
	}
	return rounds
}

// namer turns members' numbers into their names. All its lists stand in one
// array, since an outcome has hundreds of them.
type namer struct {
	seats []seat
	names []string
}

func (c *Council) namer(notes []sim.Noted) *namer {
	room := 0
	for _, n := range notes {
		room += len(n.From) + len(n.Retained) + len(n.Dropped) + len(n.Silent) + len(n.Suspects)
	}
	return &namer{c.seats, make([]string, 0, room)}
}

func (n *namer) of(nodes []synod.NodeID) []string {
	from := len(n.names)
	for _, id := range nodes {
		n.names = append(n.names, n.seats[id].id)
	}
	return n.names[from:len(n.names):len(n.names)]
}

// spellings is how each canonical answer is shown to people: as most members
// spelled it.
type spellings map[synod.Answer]*synod.Answer

func (s spellings) of(a synod.Answer) *synod.Answer {
	if a == synod.None {
		return nil
	}
	if s[a] == nil {
		itself := a
		s[a] = &itself
	}
	return s[a]
}

func spelling(notes []sim.Noted) spellings {
	type spelled struct {
		answer  synod.Answer
		surface string
	}
	count := map[spelled]int{}
	for _, n := range notes {
		if n.Surface != "" {
			count[spelled{n.Answer, n.Surface}]++
		}
	}
	best := spellings{}
	for x, k := range count {
		shown := synod.Answer(x.surface)
		if was := best[x.answer]; was != nil {
			if most := count[spelled{x.answer, string(*was)}]; k < most || k == most && shown > *was {
				continue
			}
		}
		best[x.answer] = &shown
	}
	return best
}
