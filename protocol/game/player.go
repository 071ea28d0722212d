package game

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol/bargain"
)

// player is one seat of a game. Its notes are in none of its messages.
type player struct {
	*Game
	me       *script.Agent
	initial  int
	value    int
	was      int        // the value before this round
	last     []Proposal // of the last round, ascending
	past     []Past     // the last History rounds and the one before them, ascending
	notes    []string
	tally    tallied // of the last round
	suspects []synod.NodeID
	proofs   [][]byte // against some of them, of this round
	failed   int
	garbled  int
}

// sit returns the player of an agent. It draws the player's number, uniformly from the
// range (GM-1).
func (g *Game) sit(me *script.Agent) *player {
	chance := rand.New(rand.NewPCG(me.Seat().Seed, 0x6a3e))
	v := g.Low + chance.IntN(g.High-g.Low+1)
	return &player{Game: g, me: me, initial: v, value: v}
}

// n returns the number of players.
func (p *player) n() int { return len(p.me.Seat().Peers) + 1 }

func (p *player) answer() synod.Answer { return synod.Answer(strconv.Itoa(p.value)) }

// prompt returns a prompt with what the player may see of the game.
func (p *player) prompt(t int, purpose synod.Purpose, now []Proposal) synod.Prompt {
	seat := p.me.Seat()
	initial, value := p.initial, p.value
	past := p.past
	if purpose == Voting { // the last of them is this round, which is in now
		past = past[:len(past)-1]
	}
	past = past[max(0, len(past)-p.History):]
	q := synod.Prompt{
		Template: "game/" + string(purpose), Purpose: purpose, Question: seat.Question, F: seat.F,
		Detail: &Table{
			Self: seat.Self, Round: t, Rounds: p.Rounds, Low: p.Low, High: p.High, Threshold: p.threshold(),
			Initial: &initial, Value: &value, Now: now, Past: slices.Clone(past), Notes: slices.Clone(p.notes),
		},
	}
	switch p.Variant {
	case MayExist:
		q.Caution = synod.CautionMayExist
	case NoAdversary:
		q.Caution = synod.CautionNoAdversary
	}
	return q
}

// propose asks the model for a number. Its value is nil if the player abstains from the
// round, also after three replies that cannot be read (GM-2).
func (p *player) propose(t int) bargain.Move {
	q := p.prompt(t, Proposing, nil)
	for range p.Attempts {
		reply := p.me.Ask(q)[0]
		if reply.Status != synod.OK {
			p.failed++
			continue
		}
		given, ok := bargain.ReadMove(reply, p.Low, p.High)
		if !ok {
			p.garbled++
			continue
		}
		if given.Notes != "" {
			p.notes = []string{given.Notes}
		}
		given.Reason = clean.Line(given.Reason, p.Reason)
		return given
	}
	return bargain.Move{}
}

// vote asks the model whether the game is over (GM-2).
func (p *player) vote(t int, all []Proposal) Vote {
	q := p.prompt(t, Voting, all)
	vote := Abstain
	for range p.Attempts {
		reply := p.me.Ask(q)[0]
		if reply.Status != synod.OK {
			p.failed++
			if reply.Status == synod.Unreadable { // cut short, say: the model's doing and nobody else's
				vote = Continue
			}
			continue
		}
		given, ok := bargain.ReadVote(reply)
		if ok {
			return given
		}
		p.garbled++
		vote = Continue
	}
	return vote
}

// count sends the vote of round t and reports whether the votes of all end the game.
func (p *player) count(t int, mine Vote) bool {
	if p.agrees(p.me.Seat().F) {
		p.tally = p.agree(t, mine)
	} else {
		p.tally = p.hear(t, mine)
	}
	return p.Stops(len(p.tally.stops), p.n())
}

// note records what the player holds after round t, its vote, and what it counted.
func (p *player) note(t int, vote Vote, over bool) {
	o := synod.Opinion{Round: t, Answer: p.answer(), Source: synod.Own, Suspects: p.suspects, Failed: p.failed,
		Unreadable: p.garbled}
	if vote != "" {
		o.Record = &Record{Vote: vote, Stops: p.tally.stops, Over: over, Evidence: p.proofs}
	}
	if t > 0 {
		o.Source = synod.New
		if p.value == p.was {
			o.Source = synod.Kept
		}
		for _, s := range p.last {
			if s.Value == nil {
				o.Silent = append(o.Silent, s.By)
			}
		}
	}
	p.failed, p.garbled, p.suspects, p.proofs = 0, 0, nil, nil
	p.me.Note(o)
}
