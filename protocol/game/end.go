package game

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol/broadcast"
)

// How the players come to know the votes.
const (
	// AgreedEnd has every vote sent by signed Byzantine broadcast, so that all honest
	// players count the same votes and end the game after the same round.
	AgreedEnd = "agreed-end"
	// PaperEnd has every player count the votes that it receives, as in the paper. A
	// Byzantine player can end the game for some honest players and not for others.
	PaperEnd = "paper"
)

// agrees reports whether votes travel by broadcast. With F = 0 every player is assumed to
// send one vote to all, and counting what arrives is already an agreement.
func (g *Game) agrees(f int) bool { return g.End == AgreedEnd && f > 0 }

// Signs reports whether players sign: the broadcast of votes needs it.
func (g *Game) Signs() bool { return g.End == AgreedEnd }

// votes is the broadcast of the votes of round t among n players.
func (g *Game) votes(n, f, t int, pace synod.Pace) broadcast.Group {
	players := make([]synod.NodeID, n)
	for i := range players {
		players[i] = synod.NodeID(i)
	}
	return broadcast.Group{
		Protocol: "game/2", Name: fmt.Sprintf("votes-%d", t), Members: players, Senders: players, F: f,
		Start: g.ends(pace, f, t).voted, Within: roundOf(pace), MaxValue: voteSize,
	}
}

// roundOf returns the length of a round of the broadcast, which has at least two ticks.
func roundOf(pace synod.Pace) synod.Tick { return max(pace.Within, 2) }

// CheckCast returns an error if the broadcast of the votes of so many players does not fit
// into messages, or if f is not smaller than the number of players.
func (g *Game) CheckCast(cast []synod.Role, f int) error {
	if f < 0 || f >= len(cast) {
		return fmt.Errorf("game: f is %d; with %d players it must be between 0 and %d", f, len(cast), len(cast)-1)
	}
	if !g.agrees(f) {
		return nil
	}
	group := g.votes(len(cast), f, 1, synod.DefaultPace)
	if err := group.Validate(); err != nil {
		return fmt.Errorf("game: %d players are too many for end: %s; set end: %s: %w", len(cast), AgreedEnd, PaperEnd,
			err)
	}
	return nil
}

// Guarantee returns what holds for the end of the game. The graph is complete, so its
// robustness has no influence.
func (g *Game) Guarantee(f, _ int, _ bool) (name, note string) {
	if g.End == PaperEnd && f > 0 {
		return "", "no guarantee: one Byzantine player can end the game for some honest players only, which " +
			"end: agreed-end prevents"
	}
	return AgreedEnd, fmt.Sprintf("with at most F=%d Byzantine players and no delay beyond a round, all honest "+
		"players count the same votes and end the game after the same round; not that they hold one number", f)
}

// tallied is what a player counted of the votes of one round.
type tallied struct {
	stops   []synod.NodeID // players that voted to stop, ascending
	numbers []int          // ascending; only if they were broadcast with the votes
}

// agree broadcasts the vote of round t, and the number that the player proposed, and
// returns the tally of all broadcasts. A player whose broadcast delivers nothing did not
// vote. One that signed two different votes is suspected.
func (p *player) agree(t int, mine Vote) (all tallied) {
	seat := p.me.Seat()
	body, _ := ballot{mine, p.proposal()}.AppendBinary(nil) // never fails
	deliveries := broadcast.Run(p.me, p.votes(p.n(), seat.F, t, seat.Pace), body).Deliveries
	p.proofs = broadcast.Proofs(deliveries)
	for _, d := range deliveries {
		if d.Evidence != nil && !slices.Contains(p.suspects, d.Sender) {
			p.suspects = append(p.suspects, d.Sender)
		}
		var b ballot
		if d.Signed == nil || b.UnmarshalBinary(d.Signed.Value) != nil {
			continue
		}
		if b.vote == Stop {
			all.stops = append(all.stops, d.Sender)
		}
		if v := b.number; v != nil && *v >= p.Low && *v <= p.High {
			all.numbers = append(all.numbers, *v)
		}
	}
	slices.Sort(p.suspects)
	slices.Sort(all.numbers)
	return all
}

// proposal returns the number that the player itself proposed in this round.
func (p *player) proposal() *int {
	for _, s := range p.last {
		if s.By == p.me.Seat().Self {
			return s.Value
		}
	}
	return nil
}

// hear sends the vote to all and returns the tally of the votes that arrive (the paper's
// end). In the restricted threat model it leaves out votes that too few players received
// alike. Honest players may still count different votes: of two of them, one can be the
// last whose digest is missing for two thirds.
func (p *player) hear(t int, mine Vote) (all tallied) {
	seat := p.me.Seat()
	end := p.ends(seat.Pace, seat.F, t)
	votes := map[synod.NodeID]word{seat.Self: word(mine)}
	for _, h := range script.Exchange(p.me, "vote", t, word(mine), script.Until{At: end.voted}) {
		votes[h.From] = h.Value
	}
	dropUnequal(p, "count", t, votes, end.counted)
	for _, id := range p.players() {
		if Vote(votes[id]) == Stop {
			all.stops = append(all.stops, id)
		}
	}
	return all
}

// ballot is what a player broadcasts after a round: its vote, and the number that it
// proposed, nil if none.
type ballot struct {
	vote   Vote
	number *int
}

// voteSize is the longest ballot in bytes.
const voteSize = 10

var voteWords = []Vote{Stop, Continue, Abstain}

// AppendBinary writes the vote in one byte, whether there is a number in another, and the
// number in eight.
func (v ballot) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, byte(slices.Index(voteWords, v.vote)))
	if v.number == nil {
		return append(b, 0), nil
	}
	return binary.BigEndian.AppendUint64(append(b, 1), uint64(int64(*v.number))), nil
}

// UnmarshalBinary reads exactly what AppendBinary writes.
func (v *ballot) UnmarshalBinary(b []byte) error {
	r := wire.NewReader(b, voteSize)
	word, has := int(r.Uint(1)), r.Uint(1)
	r.Require(word < len(voteWords) && has <= 1)
	in := ballot{}
	if has == 1 {
		n := int(int64(r.Uint(8)))
		in.number = &n
	}
	if err := r.End(); err != nil {
		return err
	}
	in.vote = voteWords[word]
	*v = in
	return nil
}

// nodes writes players as n0,n1.
func nodes(ids []synod.NodeID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = fmt.Sprintf("n%d", id)
	}
	return strings.Join(names, ",")
}
