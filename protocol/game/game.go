// Package game is the Byzantine consensus game: Berdoz, Rugli, Wattenhofer, "Can AI
// Agents Agree?" ("the paper"), §3 and Algorithm 1.
//
// N players are given a whole number each. In every round they send a number and a reason to
// all others, and then vote on ending the game. The game succeeds if it ends with all honest
// players on one number that an honest player was given; which one does not matter.
//
// Choices where the paper is silent or contradicts itself:
//
//   - its prompts say "66 %+" and its text two thirds; the game ends with two thirds of all
//     players, in whole numbers, and with 66 % only on request (GM-3);
//   - the vote of a player whose model fails counts as an abstention, because a failure of
//     the infrastructure is not an opinion (GR-2). A player whose reply cannot be read three
//     times in a row abstains from the round and votes to go on (GM-2);
//   - receivers check the restricted threat model: players exchange digests of what they
//     received from everybody, and drop a number that fewer than two thirds of all players
//     received alike (GM-7);
//   - in the paper a player counts the votes that it receives, so a Byzantine player that
//     votes to stop to some players only ends the game for these only. By default votes are
//     sent by signed Byzantine broadcast (package broadcast): all honest players count the
//     same votes and end after the same round. End PaperEnd, which exact: paper sets, counts
//     what arrives.
//
// Beyond the paper, a rule in code may replace the model's choice of a number (GM-9): each
// player then holds, after a round, what the rule computes from the round.
package game

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// Rule says how the number that a player holds after a round is chosen (GM-9).
type Rule string

// The rules.
const (
	Model     Rule = "none"       // what its model proposed, as in the paper
	Mode      Rule = "mode"       // the number most players proposed, the smallest of those
	Median    Rule = "median"     // the lower median
	WMSR      Rule = "w-msr"      // the mean without the F above and the F below its own that are farthest, rounded
	FinalVote Rule = "final-vote" // its model's; but a game that nobody ended, code ends on the mode of the last round
)

// Rules returns the rules.
func Rules() []Rule { return []Rule{Model, Mode, Median, WMSR, FinalVote} }

// How many votes end the game (GM-3).
const (
	TwoThirds = "two-thirds" // 3·stop ≥ 2·N
	Percent66 = "66-percent" // 100·stop ≥ 66·N, the words of the paper's prompts
)

// The prompt variants (GM-6).
const (
	MayExist    = "may-exist"    // some players may be hostile
	NoAdversary = "no-adversary" // all are honest, it says
	Unmentioned = "unmentioned"  // they are not mentioned
)

// Game holds the parameters.
type Game struct {
	Rounds   int    `yaml:"rounds" json:"rounds" doc:"T_max, the most rounds" range:"1:1000"`
	Low      int    `yaml:"low" json:"low" doc:"smallest number of the game" range:"-1000000:1000000"`
	High     int    `yaml:"high" json:"high" doc:"largest number of the game; not below low" range:"-1000000:1000000"`
	Variant  string `yaml:"variant" json:"variant" doc:"what prompts say about hostile players" enum:"may-exist|no-adversary|unmentioned"`
	Stop     string `yaml:"stop" json:"stop" doc:"share of votes that stops the game" enum:"two-thirds|66-percent"`
	History  int    `yaml:"history" json:"history" doc:"rounds that a prompt shows" range:"0:1000"`
	Reason   int    `yaml:"reason" json:"reason" doc:"bytes of a public reason that are shown" range:"0:4000" unit:"bytes"`
	Attempts int    `yaml:"attempts" json:"attempts" doc:"tries at a reply that can be read" range:"1:10"`
	Rule     Rule   `yaml:"rule" json:"rule" doc:"who chooses the numbers: the model, or code with this rule" names:"game rules"`
	Threat   string `yaml:"threat" json:"threat" doc:"restricted: one message of a sender in a round, which receivers check (GM-7)" enum:"restricted|open"`
	End      string `yaml:"end" json:"end" doc:"how a game ends: by agreement on the votes, or as in the paper" enum:"agreed-end|paper"`
}

// The threat models (GM-7).
const (
	Restricted = "restricted" // one message a sender and round, which receivers check
	Open       = "open"       // whatever comes is taken
)

// New returns the defaults: the paper's game, with an agreed end.
func New() *Game {
	return &Game{
		Rounds: 50, Low: 0, High: 50, Variant: MayExist, Stop: TwoThirds, History: 1, Reason: 300, Attempts: 3,
		Rule:   Model,
		Threat: Restricted, End: AgreedEnd,
	}
}

// Paper sets the threshold that the paper's prompts name, and the paper's end.
func (g *Game) Paper() { g.Stop, g.End = Percent66, PaperEnd }

// Validate returns an error for an unknown rule, and for numbers of the game among which is none.
func (g *Game) Validate() error {
	switch rules := Rules(); {
	case g.High < g.Low:
		return fmt.Errorf("game: no number is between low, %d, and high, %d", g.Low, g.High)
	case !slices.Contains(rules, g.Rule):
		var names []string
		for _, r := range rules {
			names = append(names, string(r))
		}
		return fmt.Errorf("game: rule is %q%s; it must be one of %v", g.Rule, synod.Hint(string(g.Rule), names), names)
	}
	return nil
}

// Join returns the machine of one player.
func (g *Game) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, g.play)
}

// play is Algorithm 1, round by round.
func (g *Game) play(me *script.Agent) synod.Answer {
	p := g.sit(me)
	p.note(0, "", false)
	for t := 1; t <= g.Rounds; t++ {
		own := p.propose(t)      // 1 to 5
		all := p.tell(t, own)    // 6, 7
		p.hold(all)              // 8; GM-9
		vote := p.vote(t, all)   // 9
		over := p.count(t, vote) // GM-3
		p.note(t, vote, over)
		if over {
			return p.answer()
		}
	}
	if g.Rule == FinalVote {
		p.finalise()
		p.note(g.Rounds+1, "", false)
	}
	return p.answer()
}

// Stops reports whether the given number of votes to stop ends a game of n players (GM-3,
// I-GM-1). An abstention is not a vote to stop.
func (g *Game) Stops(stop, n int) bool {
	if g.Stop == Percent66 {
		return 100*stop >= 66*n
	}
	return 3*stop >= 2*n
}

func (g *Game) threshold() string {
	if g.Stop == Percent66 {
		return "at least 66 %"
	}
	return "at least two thirds"
}

// ends are the ticks at which the parts of a round end, counted from the start of the
// game. They are fixed, because the restricted threat model compares what players heard
// from one another, and so needs them to agree on who was silent.
//
// With the paper's end, voted is when the votes have arrived, and counted when their digests
// have. With the agreed end, their broadcast begins at voted and has F + 1 rounds.
type ends struct{ proposed, echoed, voted, counted synod.Tick }

func (g *Game) ends(pace synod.Pace, f, t int) (e ends) {
	think, voting, counting := synod.Tick(g.Attempts)*pace.Think, pace.Within, pace.Within
	if g.agrees(f) {
		voting, counting = 0, synod.Tick(f+1)*roundOf(pace)
	}
	round := 2*think + 2*pace.Within + voting + counting
	e.proposed = synod.Tick(t-1)*round + think + pace.Within
	e.echoed = e.proposed + pace.Within
	e.voted = e.echoed + think + voting
	e.counted = e.voted + counting
	return e
}

// Calls returns the largest number of model calls of a game: two for each player and
// round, each with its attempts.
func (g *Game) Calls(degrees []int) int { return 2 * g.Attempts * g.Rounds * len(degrees) }

// MaxRounds returns T_max, and one more if code ends the game.
func (g *Game) MaxRounds() int {
	if g.Rule == FinalVote {
		return g.Rounds + 1
	}
	return g.Rounds
}

// Settles returns false: players may change their numbers or votes after a round without
// changes.
func (g *Game) Settles() bool { return false }

// AllToAll returns true: every player must hear every other.
func (g *Game) AllToAll() bool { return true }

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry: synod.Entry{Name: "game", Summary: "the Byzantine consensus game: propose a number, hear all others, " +
		"vote to stop"},
	Traits:    []synod.Trait{synod.Rounds, synod.Bargains},
	Source:    `Berdoz, Rugli, Wattenhofer, "Can AI Agents Agree?"`,
	Exact:     exact,
	About:     About,
	New:       func() protocol.Protocol { return New() },
	Prompts:   Prompts,
	Variable:  true,
	Campaigns: []check.Subject{campaign},
}

// About is the text of "synod explain".
const About = `Every player is given a whole number. In each round all players send a number and a
reason to all others, and then vote on ending the game, which takes two thirds of all
players. The game succeeds if it ends with all honest players on one number that one of
them was given. It measures members and not questions: see synod research game.

guaranteed  exactly one of valid, invalid, premature, none; with at most a third of the
            players Byzantine, the honest ones can end it alone; with end: agreed-end and
            at most f Byzantine players, all honest players count the same votes and end
            the game after the same round.
not promised  that they end it: most games of small models reach the last round. With end:
            paper a Byzantine player can end the game for some honest players only.

rounds    T_max (50)
low, high the range of the numbers (0, 50)
variant   what prompts say about hostile players: may-exist, no-adversary, unmentioned
stop      two-thirds, or 66-percent as the paper's prompts have it
history   rounds that a prompt shows (1)
reason    bytes of a public reason that are shown (300)
attempts  tries at a reply that can be read (3)
rule      what sets the number of a player: none (its model), or code: mode, median,
          w-msr, and final-vote, which ends a game that no vote ended
threat    restricted: one message for each sender and round, which receivers check;
          open: every message is accepted
end       agreed-end: votes are sent by signed Byzantine broadcast in f + 1 rounds;
          paper: every player counts the votes that it receives`

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts returns the game's templates.
func Prompts() fs.FS {
	sub, err := fs.Sub(files, "prompts")
	if err != nil {
		panic(err) // the folder is embedded by us
	}
	return sub
}

// exact is what "exact: paper" restores, and what it does not.
const exact = `restored    66 % of all players end a game; every player counts the votes that it receives
differs     the words of the prompts (use prompts: FOLDER); "open" receivers: they check that
            a sender tells all the same unless threat: open is set; a player whose model
            fails abstains, where the paper does not say`
