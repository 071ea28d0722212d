package game

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = check.Subject{
	Place: 6, Signs: true, Share: 2,
	Claims: []check.Claim{
		{ID: "I-GM-1", Property: "a player ends the game if and only if two thirds of all players vote to stop",
			Model: check.Any, Source: "Can AI Agents Agree? §3", Margin: "thirds of a vote from the threshold"},
		{ID: "I-GM-2", Property: "a game has exactly one of the four outcomes, and none only at its last round",
			Model: check.Any, Source: "Can AI Agents Agree? §3"},
		{ID: "I-GM-3", Property: "valid means that all honest players hold one number that one of them was given",
			Model: check.Any, Source: "Can AI Agents Agree? §3"},
		{ID: "I-GM-5", Property: "all honest players end the game after the same round", Model: check.Sync,
			Source: "own (GM-7)"},
		{ID: claimPrivate, Property: "what an honest player notes for itself is in no message, in no opinion " +
			"and in no prompt of another", Model: check.Any, Source: "Can AI Agents Agree? §3; own (GM-2)"},
		{ID: "I-GM-E", Property: "nobody accuses an honest player of having sent two votes", Model: check.Any,
			Source: "own"},
	},
	States: []string{"valid", "none", "evidence", "stopped"},
	Setup: func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(3)
		x.F = c.IntN(x.N/3 + 1)
		if c.IntN(4) > 0 {
			x.F = x.N / 3 // as many as the honest players need not wait for
		}
		d := c.Few(24)
		low := []int{0, 0, 0, -2}[d.IntN(4)]
		x.Params = fmt.Sprintf("{rounds: %d, attempts: %d, low: %d, high: %d, rule: %s, stop: %s, history: %d, "+
			"threat: %s, end: %s}", 1+d.IntN(3), 1+d.IntN(4)/3, low, low+3, Rules()[d.IntN(len(Rules()))],
			[]string{TwoThirds, Percent66}[d.IntN(8)/7], d.IntN(3), []string{Restricted, Open}[d.IntN(4)/3],
			[]string{AgreedEnd, PaperEnd}[d.IntN(4)/3])
	},
	Horizon: func(*check.Case) synod.Tick { return 80 },
	Check:   checkGame, Watch: watch, Reply: noteReply, Within: []reflect.Type{reflect.TypeFor[ballot]()},
	Trials: []check.Trial{
		{Claim: check.Claim{ID: "QU-2", Property: "a game stops if and only if three times the votes to stop are at " +
			"least " +
			"twice the players", Model: check.Any, Source: "game paper §3 (I-GM-1)"}, Cases: 100, Kind: check.Rules,
			Try: stops},
		{Claim: check.Claim{ID: "I-GM-4", Property: "with at most a third of the players Byzantine the honest ones " +
			"can stop a game alone, and with more they cannot", Model: check.Any, Source: "game paper §3 (I-GM-4)",
			Margin: "thirds of a vote from the threshold"}, Cases: 100, Kind: check.Rules, Try: stopAlone},
		{Claim: check.Claim{ID: "I-GM-7", Property: "where code ends a game, numbers out of the range count for " +
			"nothing, however many players send one", Model: check.Any, Source: "own (GR-3)"}, Cases: 10_000,
			Kind: check.Rules, Try: endOnRange},
	},
}.Deciding("I-GM-D", "how the game ended, and the number of enough players if they ended it",
	"Can AI Agents Agree? §3", ended).Saying("I-GM-T", "Can AI Agents Agree? §3; own (GM-7)", tryTerms)

func checkGame(t *check.Trace) {
	g := t.Protocol.(*Game)
	notes, honest := make([][]*synod.Opinion, t.Case.Total()), make([]bool, t.Case.Total())
	for i := range t.Notes {
		honest[i] = t.Honest(synod.NodeID(i))
		for _, n := range t.Notes[i] {
			notes[i] = append(notes[i], n.Opinion)
		}
	}
	outcome, stop := g.Ended(notes, honest)
	checkOutcome(t, outcome, stop)
	t.Claim("I-GM-2", slices.Contains(g.Endings(), outcome), "the outcome is %q", outcome)
	t.State(outcome, true)
	t.State("stopped", stop > 0)
	first := -1
	for i := range t.Notes {
		id := synod.NodeID(i)
		if !t.Plain(id) || len(t.Notes[i]) == 0 {
			continue
		}
		rounds := t.Last(i).Round
		t.Claim("I-GM-2", rounds <= g.MaxRounds(), "n%d plays %d rounds", i, rounds)
		if first < 0 {
			first = i
		}
		if t.Synchronous() && endsTogether(t) {
			t.Claim("I-GM-5", rounds == t.Last(first).Round, "n%d ends after round %d and n%d after round %d", first,
				t.Last(first).Round, i, rounds)
		}
		for _, n := range t.Notes[i] {
			broadcast.Framed(t, "I-GM-E", id, g.Accusations(n.Opinion))
			checkCount(t, id, n.Opinion)
		}
		checkPlayer(t, i)
		if !t.Flooded(i) && !t.CutOff {
			playAgain(t, i)
		}
		t.Applies("I-GM-E")
	}
	r := g.Judge(notes, honest)
	t.Claim("I-GM-2", r.Split == splits(g, notes, honest), "the game is said to end together: %v", !r.Split)
	if r.Outcome == Valid {
		if r.Code {
			stop = g.MaxRounds()
		}
		checkValid(t, notes, honest, stop)
	}
}

// endsTogether reports whether honest players end the game after the same round: with the paper's end one Byzantine
// player can end it for some only.
func endsTogether(t *check.Trace) bool { return t.Protocol.(*Game).End == AgreedEnd || t.Case.F == 0 }

// checkCount checks that a player ends the game if and only if two thirds of all players voted to stop.
func checkCount(t *check.Trace, id synod.NodeID, o *synod.Opinion) {
	r, err := synod.RecordOf[Record](o)
	if r == nil || err != nil {
		return
	}
	t.Claim("I-GM-1", r.Over == (3*len(r.Stops) >= 2*t.Case.N), "n%d counts %d votes to stop of %d, and ends the "+
		"game: %v", id,
		len(r.Stops), t.Case.N, r.Over)
	t.Margin("I-GM-1", math.Abs(float64(3*len(r.Stops)-2*t.Case.N)))
}

// checkValid checks that all honest players hold one number after a round, and that one of them was given it.
func checkValid(t *check.Trace, notes [][]*synod.Opinion, honest []bool, round int) {
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
	t.Claim("I-GM-3", ok, "valid after round %d, where honest players hold %v of the given %v", round, held, given)
}

func stops(t *check.Tried) {
	n, g := int(t.Number)+1, New()
	for votes := range n + 1 {
		want := float64(votes)/float64(n) >= 2./3-1e-12
		t.Check(g.Stops(votes, n) == want, "%d of %d votes: stops is %v", votes, n, g.Stops(votes, n))
	}
}

// stopAlone tries every number of Byzantine players among one number of players.
func stopAlone(t *check.Tried) {
	n, g := int(t.Number)+1, New()
	for b := range n {
		t.Check(g.Stops(n-b, n) == (b <= n/3), "%d honest players of %d vote to stop: stops is %v", n-b, n,
			g.Stops(n-b, n))
		t.Check(Veto(n, b) == (b > n/3), "%d Byzantine players of %d: they can keep the game going is %v", b, n,
			Veto(n, b))
		t.Spare(math.Abs(float64(3*(n-b) - 2*n)))
	}
}

// endOnRange plays a game of one round that code ends, in which Byzantine players play with a range of numbers of their
// own. Honest players end on the mode of the numbers in the range, the smallest of several.
func endOnRange(t *check.Tried) {
	n := 4 + t.Rand.IntN(4)
	byzantine := 1 + t.Rand.IntN((n-1)/3)
	honest, other := New(), New()
	honest.Rounds, honest.Rule, honest.Low, honest.High = 1, FinalVote, 10, 13
	other.Rounds, other.Rule, other.Low = 1, FinalVote, []int{-5, 0, 9, 14, 1000}[t.Rand.IntN(5)]
	other.High = other.Low
	numbers, counts := make([]int, n), map[int]int{}
	keys, machines := sign.DeriveSymbolic(1, n), make([]synod.Machine, n)
	for i := range machines {
		id := synod.NodeID(i)
		seat := synod.Seat{Self: id, F: byzantine, Pace: check.Pace, Seed: t.Rand.Uint64(),
			Question: &synod.Question{Text: "?", Form: synod.Number}, Signer: keys.Signer(id, "game")}
		for j := range synod.NodeID(n) {
			if j != id {
				seat.Peers = append(seat.Peers, j)
			}
		}
		if numbers[i] = other.Low; i < byzantine {
			machines[i] = other.Join(seat)
			continue
		}
		numbers[i] = honest.Low + t.Rand.IntN(4)
		counts[numbers[i]]++
		machines[i] = honest.Join(seat)
	}
	want := honest.Low
	for number := honest.Low; number <= honest.High; number++ {
		if counts[number] > counts[want] {
			want = number
		}
	}
	r := sim.Run(sim.Config{Machines: machines, Ask: proposing(numbers)})
	for i := byzantine; i < n; i++ {
		got := r.Decided[synod.NodeID(i)]
		t.Check(string(got) == strconv.Itoa(want), "code ends the game of n%d on %q; players propose %v, and %d is "+
			"the mode of the honest ones, from n%d on", i, got, numbers, want, byzantine)
	}
}

// proposing is a model that proposes the number of its player, and votes to go on.
func proposing(numbers []int) func([]sim.Call) func() []synod.Reply {
	return func(calls []sim.Call) func() []synod.Reply {
		replies := make([]synod.Reply, len(calls))
		for k, c := range calls {
			replies[k] = synod.Reply{Status: synod.OK, Text: fmt.Sprintf(`{"internal_strategy": "", "value": %d, `+
				`"public_reasoning": "", "decision": "continue", "vote": "continue"}`, numbers[c.Node])}
		}
		return func() []synod.Reply { return replies }
	}
}

// splits reports whether a vote ended the game for some honest players only, or for some after another round.
func splits(g *Game, notes [][]*synod.Opinion, honest []bool) bool {
	after := map[int]bool{} // the rounds after which it ended; 0: it did not
	for i, of := range notes {
		last, over := 0, false
		for _, o := range of {
			if o.Round <= g.Rounds { // what code decides is no vote
				last, over = o.Round, recordOf(o).Over
			}
		}
		switch {
		case !honest[i]:
		case over || last < g.Rounds:
			after[last+1] = true
		default:
			after[0] = true
		}
	}
	return len(after) > 1
}

// tryTerms checks which bounds a game accepts, and what it guarantees.
func tryTerms(t *check.Tried) {
	g, n := New(), 1+t.Rand.IntN(9)
	f := t.Rand.IntN(n+2) - 1
	g.End, g.Low, g.High = check.Among(t, AgreedEnd, PaperEnd), t.Rand.IntN(3), t.Rand.IntN(3)
	g.Rounds, g.Attempts, g.Rule = 1+t.Rand.IntN(4), 1+t.Rand.IntN(3), check.Among(t, Rules()...)
	t.Check((g.Validate() == nil) == (g.Low <= g.High), "numbers from %d to %d: %v", g.Low, g.High, g.Validate())
	t.Check(g.Calls(make([]int, n)) == n*g.Rounds*2*g.Attempts, "at most %d calls", g.Calls(make([]int, n)))
	last := g.Rounds
	if g.Rule == FinalVote {
		last++
	}
	t.Check(g.MaxRounds() == last, "rule %s: at most %d rounds, and by the rules %d", g.Rule, g.MaxRounds(), last)
	t.Tolerates(g.CheckCast(make([]synod.Role, n), f), f, n-1, true)
	name, note := g.Guarantee(f, 0, true)
	if g.End == PaperEnd && f > 0 {
		t.Says(name, note, "", "no guarantee")
	} else {
		t.Says(name, note, AgreedEnd, fmt.Sprintf("F=%d ", f))
	}
}
