package game

import (
	"crypto/sha256"
	"reflect"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/bargain"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
)

// again plays one player again by the reference, from its diary, and compares what it sent, was shown and noted.
type again struct {
	t    *check.Trace
	g    *Game
	r    *reference.Game
	id   synod.NodeID
	n    int
	held int
	past [][]Proposal

	suspects []synod.NodeID // of this round
	from     check.Mark     // where the round begins
}

// claimAgain is the claim of what is compared.
const claimAgain = "I-GM-D"

// playAgain compares a player.
func playAgain(t *check.Trace, i int) {
	a := &again{t: t, g: t.Protocol.(*Game), r: gameOf(t), id: synod.NodeID(i), n: t.Case.N}
	notes := t.Notes[i]
	given, err := strconv.Atoi(string(notes[0].Answer))
	t.Claim(claimAgain, err == nil && given >= a.g.Low && given <= a.g.High, "n%d is given %q", i, notes[0].Answer)
	a.held, a.from = given, t.Diaries[i].Noted[0]
	var numbers []int
	for k := 1; k < len(notes); k++ {
		if k > a.g.Rounds {
			a.ended(notes[k].Opinion, numbers)
			return
		}
		over, ok := false, false
		if numbers, over, ok = a.round(k, notes[k].Opinion); !ok {
			return
		}
		t.Claim(claimAgain, over == (k == len(notes)-1 && recordOf(notes[k].Opinion).Over),
			"n%d goes on after round %d, and by the reference the game is over: %v", i, k, over)
		a.from = t.Diaries[i].Noted[k]
	}
}

// ended compares the number on which code ends the game: the mode of the numbers of the last round.
func (a *again) ended(o *synod.Opinion, numbers []int) {
	want := a.held
	if len(numbers) > 0 {
		want = a.r.Adopt(string(Mode), numbers, nil, a.held)
	}
	a.t.Claim(claimAgain, string(o.Answer) == strconv.Itoa(want), "code ends the game of n%d on %q, and the "+
		"reference on %d: the mode of %v", a.id, o.Answer, want, numbers)
}

// round compares a round. numbers are those on which code may end the game.
func (a *again) round(t int, o *synod.Opinion) (numbers []int, over, ok bool) {
	e := a.ends(t)
	a.suspects = nil
	own, failed, garbled := a.moved()
	sent := a.t.SentIn(int(a.id), synod.Slot{Name: "propose", Round: t})
	mine, _ := proposalMessage{own.Value, clean.Line(own.Reason, a.g.Reason)}.AppendBinary(nil)
	a.t.Claim(claimAgain, sent != nil && slices.Equal(sent.Body, mine), "n%d sends %v in round %d, and its model "+
		"proposes %+v", a.id, sent, t, own)
	bodies, ok := a.alike("propose", "echo", t, mine, e.proposed, e.echoed, func(body []byte) bool {
		var m proposalMessage
		return m.UnmarshalBinary(body) == nil && (m.value == nil || *m.value >= a.g.Low && *m.value <= a.g.High)
	})
	if !ok {
		return nil, false, false
	}
	all := a.proposals(bodies)
	a.adopt(all, own.Value)
	vote, lost, bad := a.voted(t, all)
	stops, numbers, ok := a.count(t, vote, own.Value, &e)
	over = a.stopped(len(stops))
	if !ok {
		return nil, false, false
	}
	if !a.g.agrees(a.t.Case.F) {
		numbers = bargain.Proposed(all)
	}
	a.compare(t, o, vote, stops, over, all)
	a.t.Claim(claimAgain, o.Failed == failed+lost && o.Unreadable == garbled+bad, "n%d notes %d failed and %d "+
		"unreadable "+
		"replies in round %d; they were %d and %d", a.id, o.Failed, o.Unreadable, t, failed+lost, garbled+bad)
	return numbers, over, true
}

// ends are the fixed ends of the parts of a round: a call with its tries and a message, the digests, a call, and
// then the
// votes and their digests, or the rounds of their broadcast.
func (a *again) ends(round int) (e ends) {
	pace := check.Pace
	think, votes, counting := synod.Tick(a.g.Attempts)*pace.Think, pace.Within, pace.Within
	if a.g.agrees(a.t.Case.F) {
		votes, counting = 0, synod.Tick(a.t.Case.F+1)*pace.Within
	}
	begin := synod.Tick(round-1) * (2*think + 2*pace.Within + votes + counting)
	e.proposed = begin + think + pace.Within
	e.echoed = e.proposed + pace.Within
	e.voted = e.echoed + think + votes
	e.counted = e.voted + counting
	return e
}

// stopped reports whether so many votes end the game.
func (a *again) stopped(votes int) bool {
	if a.r.Percent66 {
		return 100*votes >= 66*a.n
	}
	return 3*votes >= 2*a.n
}

// calls returns the calls of a purpose in this round.
func (a *again) calls(purpose synod.Purpose) (all []check.Asked) {
	for _, c := range a.t.Diaries[a.id].Asked[a.from.Asked:] {
		if c.Prompt.Purpose == purpose {
			all = append(all, c)
		} else if len(all) > 0 {
			break
		}
	}
	return all
}

// moved returns what the model proposes: the first readable reply, and how many calls failed or were unreadable.
func (a *again) moved() (m bargain.Move, failed, garbled int) {
	calls := a.calls(Proposing)
	for k, c := range calls {
		given, ok := bargain.ReadMove(&c.Reply, a.g.Low, a.g.High)
		switch {
		case c.Reply.Status != synod.OK:
			failed++
		case !ok:
			garbled++
		default:
			a.t.Claim(claimAgain, k == len(calls)-1, "n%d asks again after a proposal", a.id)
			return given, failed, garbled
		}
	}
	a.t.Claim(claimAgain, len(calls) == a.g.Attempts, "n%d gives up after %d tries", a.id, len(calls))
	return bargain.Move{}, failed, garbled
}

// alike returns the bodies of the messages of a slot that count, by player: those that can be read and, in the
// restricted threat model, were received alike by enough players.
func (a *again) alike(slot, echo string, t int, mine []byte, sent, echoed synod.Tick, reads func([]byte) bool) (
	bodies map[synod.NodeID][]byte, ok bool) {
	m, ok := a.t.At(int(a.id), sent)
	if !ok {
		a.t.Fail(claimAgain, "%s of round %d does not end at tick %d for n%d", slot, t, sent, a.id)
		return nil, false
	}
	bodies = map[synod.NodeID][]byte{a.id: mine}
	for _, x := range a.t.First(int(a.id), synod.Slot{Name: slot, Round: t}, m.Heard) {
		if reads(x.Body) {
			bodies[x.From] = x.Body
		}
	}
	if a.g.Threat != Restricted {
		return bodies, true
	}
	var own []reference.Heard
	for id := range synod.NodeID(a.n) {
		if b, is := bodies[id]; is {
			own = append(own, reference.Heard{From: id, Digest: sha256.Sum256(b)})
		}
	}
	var told []reference.Heard
	if s := a.t.SentIn(int(a.id), synod.Slot{Name: echo, Round: t}); s != nil {
		told, _ = reference.ReadHeard(s.Body)
	}
	a.t.Claim(claimAgain, slices.Equal(told, own), "n%d reports %v in %s of round %d; it received %v", a.id, told,
		echo, t,
		own)
	if m, ok = a.t.At(int(a.id), echoed); !ok {
		a.t.Fail(claimAgain, "%s of round %d does not end at tick %d for n%d", echo, t, echoed, a.id)
		return nil, false
	}
	var reported [][]reference.Heard
	for _, x := range a.t.First(int(a.id), synod.Slot{Name: echo, Round: t}, m.Heard) {
		list, _ := reference.ReadHeard(x.Body)
		reported = append(reported, list)
	}
	dropped, suspects := a.r.Compared(a.id, own, reported)
	for _, id := range dropped {
		delete(bodies, id)
	}
	a.suspect(suspects...)
	return bodies, true
}

func (a *again) suspect(ids ...synod.NodeID) {
	a.suspects = append(a.suspects, ids...)
	slices.Sort(a.suspects)
	a.suspects = slices.Compact(a.suspects)
}

// proposals returns what all players proposed; nobody has proposed anything whose message does not count.
func (a *again) proposals(bodies map[synod.NodeID][]byte) (all []Proposal) {
	for id := range synod.NodeID(a.n) {
		var m proposalMessage
		if b, is := bodies[id]; is && m.UnmarshalBinary(b) != nil {
			m = proposalMessage{}
		}
		all = append(all, Proposal{By: id, Value: m.value, Reason: clean.Line(m.reason, a.g.Reason)})
	}
	return all
}

// adopt sets what the player holds after the round.
func (a *again) adopt(all []Proposal, own *int) {
	a.held = a.r.Adopt(string(a.g.Rule), bargain.Proposed(all), own, a.held)
	a.past = append(a.past, all)
}

// voted returns the vote of the model, which has seen the proposals of the round and of those before it.
func (a *again) voted(t int, all []Proposal) (vote Vote, failed, garbled int) {
	vote = Abstain
	calls := a.calls(Voting)
	for k, c := range calls {
		table := TableOf(&c.Prompt)
		a.t.Claim(claimAgain, table != nil && table.Round == t && table.Rounds == a.g.Rounds && table.Value != nil &&
			*table.Value == a.held && reflect.DeepEqual(table.Now, all) && a.remembers(table.Past),
			"n%d votes in round %d in view of %+v; it holds %d, and the proposals are %+v", a.id, t, table, a.held, all)
		given, ok := bargain.ReadVote(&c.Reply)
		switch {
		case ok:
			a.t.Claim(claimAgain, k == len(calls)-1, "n%d asks again after a vote", a.id)
			return given, failed, garbled
		case c.Reply.Status == synod.OK:
			garbled, vote = garbled+1, Continue
		default:
			failed++
			if c.Reply.Status == synod.Unreadable {
				vote = Continue
			}
		}
	}
	a.t.Claim(claimAgain, len(calls) == a.g.Attempts, "n%d gives up its vote after %d tries", a.id, len(calls))
	return vote, failed, garbled
}

// remembers reports whether what a voter is shown of earlier rounds are the last ones before this.
func (a *again) remembers(shown []Past) bool {
	before := len(a.past) - 1
	most := min(before, a.g.History)
	if len(shown) != most {
		return false
	}
	for k, p := range shown {
		round := before - most + k + 1
		if p.Round != round || !reflect.DeepEqual(p.Proposals, a.past[round-1]) {
			return false
		}
	}
	return true
}

// count returns whose votes to stop count, and the numbers that were broadcast with the votes.
func (a *again) count(t int, mine Vote, own *int, e *ends) (stops []synod.NodeID, numbers []int, ok bool) {
	if !a.g.agrees(a.t.Case.F) {
		bodies, ok := a.alike("vote", "count", t, []byte(mine), e.voted, e.counted, func(body []byte) bool {
			return slices.Contains([]Vote{Stop, Continue, Abstain}, Vote(body))
		})
		for id := range synod.NodeID(a.n) {
			if Vote(bodies[id]) == Stop {
				stops = append(stops, id)
			}
		}
		return stops, nil, ok
	}
	group := a.g.votes(a.n, a.t.Case.F, t, check.Pace)
	said := broadcast.Said(a.t, &group, a.id)
	b, readable := reference.ReadBallot(said)
	a.t.Claim(claimAgain, readable && b.Vote == string(mine) && equalNumber(b.Number, own),
		"n%d broadcasts %x in round %d; it votes %s and proposed %v", a.id, said, t, mine, own)
	r, ok := broadcast.Again(a.t, claimAgain, &group, a.id, said, 0)
	if !ok {
		return nil, nil, false
	}
	broadcast.Relays(a.t, claimAgain, &group, r)
	for _, d := range r.All {
		if d.Two {
			a.suspect(d.Sender)
		}
		ballot, readable := reference.ReadBallot(d.Value)
		if !d.Given || !readable {
			continue
		}
		if ballot.Vote == string(Stop) {
			stops = append(stops, d.Sender)
		}
		if x := ballot.Number; x != nil && *x >= a.g.Low && *x <= a.g.High {
			numbers = append(numbers, *x)
		}
	}
	return stops, numbers, true
}

func equalNumber(a, b *int) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// compare compares what the player notes.
func (a *again) compare(t int, o *synod.Opinion, vote Vote, stops []synod.NodeID, over bool, all []Proposal) {
	r := recordOf(o)
	var silent []synod.NodeID
	for _, p := range all {
		if p.Value == nil {
			silent = append(silent, p.By)
		}
	}
	same := string(o.Answer) == strconv.Itoa(a.held) && r.Vote == vote && slices.Equal(r.Stops, stops) &&
		r.Over == over &&
		slices.Equal(o.Silent, silent) && slices.Equal(o.Suspects, a.suspects) && o.Round == t
	a.t.Claim(claimAgain, same, "n%d notes %s after round %d; the reference holds %d, votes %s, counts stop of "+
		"%v, over %v, silent %v, suspects %v", a.id, o, t, a.held, vote, stops, over, silent, a.suspects)
}

// gameOf returns the reference of a game.
func gameOf(t *check.Trace) *reference.Game {
	g := t.Protocol.(*Game)
	return &reference.Game{Players: t.Case.N, F: t.Case.F, Rounds: g.Rounds, Percent66: g.Stop == Percent66}
}

func noteFor(o *synod.Opinion) reference.GameNote {
	return reference.GameNote{Round: o.Round, Number: o.Answer, Stops: len(StopsOf(o))}
}

// checkOutcome compares how a game ended with the reference.
func checkOutcome(t *check.Trace, outcome string, stop int) {
	var honest [][]reference.GameNote
	for i, notes := range t.Notes {
		if !t.Honest(synod.NodeID(i)) {
			continue
		}
		var all []reference.GameNote
		for _, n := range notes {
			all = append(all, noteFor(n.Opinion))
		}
		honest = append(honest, all)
	}
	want, round := gameOf(t).Outcome(honest)
	t.Claim("I-GM-D", outcome == want && stop == round, "the outcome is %s after round %d, and that of the reference "+
		"%s after round %d: %v", outcome, stop, want, round, honest)
}

// ended says whether a council of players has a decision: only if they have ended the game.
func ended(t *check.Trace) reference.Step {
	last := make([]*reference.GameNote, t.Case.N)
	for i := range last {
		if o := t.Last(i); o != nil {
			n := noteFor(o)
			last[i] = &n
		}
	}
	return reference.Step{Open: gameOf(t).Open(last)}
}

// watch is the Watch of the campaign.
func watch(t *check.Trace, self synod.NodeID, m synod.Machine) synod.Machine {
	return watchNotes(t, self, check.KeepDiary(t, self, m))
}

// checkPlayer compares the numbers that a player holds, and the votes that it counts, with the reference.
func checkPlayer(t *check.Trace, i int) {
	g := t.Protocol.(*Game)
	for k, n := range t.Notes[i] {
		if n.Round > g.Rounds {
			held, err := strconv.Atoi(string(n.Answer))
			t.Claim("I-GM-D", err == nil && held >= g.Low && held <= g.High, "code ends the game on %q, outside of %d "+
				"to %d", n.Answer, g.Low, g.High)
			continue
		}
		for j := range t.Notes {
			if id := synod.NodeID(j); n.Round > 0 && t.Plain(id) && len(t.Notes[j]) > k {
				checkVote(t, i, id, n.Opinion, t.Notes[j][k].Opinion)
			}
		}
	}
}

// checkVote compares what a player counted as the vote of another one with what that one voted, and whether its number
// arrived. An honest player that voted to stop counts while messages are in time, unless others may have left.
func checkVote(t *check.Trace, i int, by synod.NodeID, o, other *synod.Opinion) {
	counted, stop := slices.Contains(StopsOf(o), by), VoteOf(other) == Stop
	t.Claim("I-GM-D", !counted || stop, "n%d counts a vote to stop by n%d in round %d, which voted %s", i, by, o.Round,
		VoteOf(other))
	if !t.Synchronous() || !endsTogether(t) {
		return
	}
	t.Claim("I-GM-D", counted || !stop, "n%d does not count the vote to stop by n%d in round %d", i, by, o.Round)
	silent := slices.Contains(o.Silent, by) && !slices.Contains(other.Silent, by)
	t.Claim("I-GM-D", !silent, "n%d does not take the number of n%d in round %d", i, by, o.Round)
}
