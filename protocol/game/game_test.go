package game_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/game"
)

// table returns n players that are all linked.
func table(g *game.Game, n, f int, seed uint64) []synod.Machine {
	machines := make([]synod.Machine, n)
	for i := range machines {
		machines[i] = g.Join(seat(i, n, f, seed))
	}
	return machines
}

func seat(i, n, f int, seed uint64) synod.Seat {
	s := synod.Seat{Self: synod.NodeID(i), F: f, Pace: synod.Pace{Think: 2, Within: 2},
		Question: &synod.Question{Text: "a number", Form: synod.Number}, Seed: script.Derive(seed, uint64(i))}
	s.Signer = sign.DeriveSymbolic(seed, n).Signer(s.Self, "game")
	for j := range n {
		if j != i {
			s.Peers = append(s.Peers, synod.NodeID(j))
		}
	}
	return s
}

// played is the result of a game.
type played struct {
	notes   [][]*synod.Opinion
	prompts []sim.Call
	result  sim.Result
}

func play(machines []synod.Machine, ask func(sim.Call) synod.Reply) played {
	return playAt(machines, 1, ask)
}

// playAt is play with calls that take the given number of ticks.
func playAt(machines []synod.Machine, ticks synod.Tick, ask func(sim.Call) synod.Reply) played {
	p := played{notes: make([][]*synod.Opinion, len(machines))}
	p.result = sim.Run(sim.Config{
		Machines: machines, CallTicks: ticks,
		Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
			replies := make([]synod.Reply, len(calls))
			for i, c := range calls {
				p.prompts = append(p.prompts, c)
				replies[i] = ask(c)
			}
			return replies
		}),
		Watch: func(_ synod.Tick, notes []sim.Noted) string {
			for _, n := range notes {
				p.notes[n.Node] = append(p.notes[n.Node], n.Opinion)
			}
			return ""
		},
	})
	return p
}

func says(words string) synod.Reply { return synod.Reply{Status: synod.OK, Text: words} }

// model returns replies of a model that keeps its number and votes as vote decides.
func model(vote func(synod.NodeID, int) string) func(sim.Call) synod.Reply {
	return func(c sim.Call) synod.Reply {
		if c.Prompt.Purpose == game.Voting {
			return says(fmt.Sprintf(`{"decision": %q}`, vote(c.Node, game.TableOf(c.Prompt).Round)))
		}
		return says(fmt.Sprintf(`{"internal_strategy": "keep", "value": %d, "public_reasoning": "mine"}`,
			*game.TableOf(c.Prompt).Value))
	}
}

func honest(n, b int) []bool {
	h := make([]bool, n)
	for i := range n - b {
		h[i] = true
	}
	return h
}

// I-GM-1: a game stops if and only if 3·stop ≥ 2·N, over all players; an abstention is not a vote
// to stop. All ballots of up to five players are played with the real machines. 66 % is another
// rule.
func TestIGM1EveryBallot(t *testing.T) {
	votes := []string{"stop", "continue", "abstain"}
	for n := 2; n <= 5; n++ {
		total := 1
		for range n {
			total *= 3
		}
		for ballot := range total {
			cast, stop := make([]string, n), 0
			for i, b := 0, ballot; i < n; i, b = i+1, b/3 {
				cast[i] = votes[b%3]
				if cast[i] == "stop" {
					stop++
				}
			}
			g := game.New()
			g.Rounds = 2
			p := play(table(g, n, 0, 1), model(func(id synod.NodeID, t int) string {
				if t == 1 {
					return cast[id]
				}
				return "continue"
			}))
			want := 0
			if 3*stop >= 2*n {
				want = 1
			}
			if got := g.Judge(p.notes, honest(n, 0)).Stop; got != want {
				t.Fatalf("%v: stopped after round %d, want %d", cast, got, want)
			}
			for i := range n {
				if last := p.notes[i][len(p.notes[i])-1].Round; last != 2-want {
					t.Fatalf("%v: player %d played %d rounds", cast, i, last)
				}
			}
		}
	}
	two, percent := game.New(), game.New()
	percent.Paper()
	for _, c := range [][2]int{{33, 50}, {35, 53}, {37, 56}, {39, 59}} {
		if two.Stops(c[0], c[1]) || !percent.Stops(c[0], c[1]) {
			t.Errorf("%d of %d: two thirds %v, 66 %% %v", c[0], c[1], two.Stops(c[0], c[1]), percent.Stops(c[0], c[1]))
		}
	}
}

// I-GM-2 and I-GM-3 on games of random players: there is exactly one outcome; it is "none" if and
// only if nobody stops in T_max rounds, and "valid" only if all honest players hold one number that
// one of them was given. A second implementation judges.
func TestIGM2And3Outcomes(t *testing.T) {
	seen := map[game.Outcome]int{}
	for seed := uint64(1); seed <= 2000; seed++ {
		chance := rand.New(rand.NewPCG(seed, 9))
		n := 2 + chance.IntN(5)
		b := chance.IntN(n/3 + 1)
		g := game.New()
		g.Rounds, g.High = 3, 3
		p := play(table(g, n, b, seed), func(c sim.Call) synod.Reply {
			if c.Prompt.Purpose == game.Voting {
				return says(`{"decision": "` + []string{"stop", "continue", "abstain", "stop"}[chance.IntN(4)] + `"}`)
			}
			v := chance.IntN(2)
			if chance.IntN(3) == 0 {
				v = 3
			}
			return says(fmt.Sprintf(`{"internal_strategy": "", "value": %d, "public_reasoning": ""}`, v))
		})
		got := g.Judge(p.notes, honest(n, b))
		seen[got.Outcome]++
		if want := judge(p.notes, n, b, g.Rounds); got.Outcome != want {
			t.Fatalf("seed %d: %s, want %s", seed, got.Outcome, want)
		}
		if (got.Outcome == game.NoStop) != (got.Stop == 0) {
			t.Fatalf("seed %d: %+v", seed, got)
		}
	}
	for _, o := range game.Outcomes() {
		if seen[o] == 0 {
			t.Errorf("no game was %s: %v", o, seen)
		}
	}
}

// judge implements GM-4 directly.
func judge(notes [][]*synod.Opinion, n, b, rounds int) game.Outcome {
	for t := 1; t <= rounds; t++ {
		stop := 0
		for i := range n {
			for _, o := range notes[i] {
				if o.Round == t && game.VoteOf(o) == "stop" {
					stop++
				}
			}
		}
		if stop*3 < n*2 {
			continue
		}
		given, held := map[synod.Answer]bool{}, map[synod.Answer]bool{}
		for i := range n - b {
			for _, o := range notes[i] {
				if o.Round == 0 {
					given[o.Answer] = true
				}
				if o.Round == t {
					held[o.Answer] = true
				}
			}
		}
		if len(held) > 1 {
			return "premature"
		}
		for a := range held {
			if given[a] {
				return "valid"
			}
		}
		return "invalid"
	}
	return "none"
}

// I-GM-4: with B ≤ ⌊N/3⌋ the honest players alone can stop the game; with one more they cannot.
func TestIGM4HonestCanStop(t *testing.T) {
	g := game.New()
	for n := 1; n <= 300; n++ {
		if b := n / 3; !g.Stops(n-b, n) || g.Stops(n-b-1, n) {
			t.Errorf("n=%d, b=%d", n, b)
		}
		if game.Veto(n, n/3) || !game.Veto(n, n/3+1) {
			t.Errorf("n=%d: veto", n)
		}
	}
}

// GM-4: a game has ended when no honest player continues, whatever votes adversaries report.
func TestJudgeLooksAtTheHonest(t *testing.T) {
	g := game.New()
	g.Rounds = 5
	player := func(votes ...game.Vote) []*synod.Opinion {
		notes := []*synod.Opinion{{Answer: "7"}}
		for i, v := range votes {
			notes = append(notes, &synod.Opinion{Round: i + 1, Answer: "7", Record: &game.Record{Vote: v}})
		}
		return notes
	}
	for what, c := range map[string]struct {
		notes [][]*synod.Opinion
		want  game.Result
	}{
		"an adversary says that it voted to stop, and nobody heard it": {[][]*synod.Opinion{
			player("stop", "continue", "stop"), player("continue", "continue", "stop"),
			player("stop", "continue", "stop"),
		}, game.Result{Outcome: game.Valid, Stop: 3}},
		"an adversary says that it did not, and all heard that it did": {[][]*synod.Opinion{
			player("continue", "stop"), player("continue", "continue"), player("continue", "continue"),
		}, game.Result{Outcome: game.Valid, Stop: 2}},
		"one honest player was told that it is over": {[][]*synod.Opinion{
			player("stop"), player("stop", "stop", "stop", "stop", "continue"), player("continue"),
		}, game.Result{Outcome: game.NoStop, Split: true}},
	} {
		if got := g.Judge(c.notes, []bool{true, true, false}); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

// The page of a vote shows this round and the rounds before it, as many as history says; the
// page of a proposal shows the rounds before. No page shows a round twice.
func TestVotePageShowsThePreviousRound(t *testing.T) {
	for _, history := range []int{0, 1, 2} {
		g := game.New()
		g.Rounds, g.History = 4, history
		p := play(table(g, 3, 0, 5), func(c sim.Call) synod.Reply {
			if c.Prompt.Purpose == game.Voting {
				return says(`{"decision": "continue"}`)
			}
			return says(fmt.Sprintf(`{"value": %d, "public_reasoning": ""}`, 10+game.TableOf(c.Prompt).Round))
		})
		for _, c := range p.prompts {
			at := game.TableOf(c.Prompt)
			var rounds, values []int
			for _, past := range at.Past {
				rounds, values = append(rounds, past.Round), append(values, *past.Proposals[0].Value)
			}
			if c.Prompt.Purpose == game.Voting && *at.Now[0].Value != 10+at.Round {
				t.Errorf("history %d, vote of round %d shows %d as its own", history, at.Round, *at.Now[0].Value)
			}
			if len(rounds) != min(history, at.Round-1) {
				t.Errorf("history %d, %s in round %d shows rounds %v", history, c.Prompt.Purpose, at.Round, rounds)
			}
			for i := range rounds {
				if want := at.Round - len(rounds) + i; rounds[i] != want || values[i] != 10+want {
					t.Errorf("history %d, %s in round %d shows rounds %v with %v", history, c.Prompt.Purpose, at.Round,
						rounds, values)
				}
			}
		}
	}
}

// I-GM-6: a private note is in no other player's prompt, in no message and in no opinion; its own
// player is shown it again.
func TestIGM6NotesStayPrivate(t *testing.T) {
	g := game.New()
	g.Rounds, g.History = 4, 4
	const n = 4
	secret := func(id synod.NodeID) string { return fmt.Sprintf("canary-%d-canary", id) }
	tapped := table(g, n, 0, 5)
	var wire strings.Builder
	for i := range tapped {
		tapped[i] = tap{tapped[i], &wire}
	}
	p := play(tapped, func(c sim.Call) synod.Reply {
		if c.Prompt.Purpose == game.Voting {
			return says(`{"decision": "continue"}`)
		}
		return says(fmt.Sprintf(`{"internal_strategy": %q, "value": 7, "public_reasoning": "seven is fine"}`,
			secret(c.Node)))
	})
	own := 0
	for _, c := range p.prompts {
		text := fmt.Sprintf("%+v %+v", *c.Prompt, *game.TableOf(c.Prompt))
		for id := range synod.NodeID(n) {
			if found := strings.Contains(text, secret(id)); found && id != c.Node {
				t.Errorf("player %d was shown the note of player %d", c.Node, id)
			} else if found {
				own++
			}
		}
	}
	if own == 0 {
		t.Error("nobody was shown its own note, so nothing was tested")
	}
	for _, of := range p.notes {
		for _, o := range of {
			fmt.Fprintf(&wire, "%+v", *o)
		}
	}
	if strings.Contains(wire.String(), "canary") {
		t.Error("a note was sent or noted")
	}
}

type tap struct {
	synod.Machine
	wire *strings.Builder
}

func (m tap) Step(now synod.Tick, e synod.Event) []synod.Effect {
	out := m.Machine.Step(now, e)
	for _, x := range out {
		if s, ok := x.(synod.Send); ok {
			m.wire.Write(s.Body)
		}
	}
	return out
}
