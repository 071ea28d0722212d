package research

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol/game"
)

type gameFlags struct {
	app.JournalFlags
	n, b     int
	rounds   int
	between  string
	variant  string
	strategy string
	rule     string
	stop     string
	threat   string
	end      string
	members  string
	seed     uint64
	sets     []string
	asJSON   bool
}

// GameCommand is "synod research game".
func GameCommand(a *app.App) *cobra.Command {
	var f gameFlags
	cmd := &cobra.Command{
		Use:   "game",
		Short: "Play one Byzantine consensus game and show its rounds",
		Long: `Plays the consensus game. Every honest player starts with a whole number. In each
round all players send each other a number and vote on stopping the game. The goal is
that all honest players hold one number, and that one of them started with it.

Each round is printed as soon as it is complete: the number of every player, the
votes to stop, and the honest players that have held a number other than the most
common one for three rounds. Byzantine players have an asterisk; players do not see it.

The last line is the outcome: valid, invalid (agreement on a number that no honest
player started with), premature (honest players hold different numbers) or none (not
stopped within the rounds). The exit code is 0 for every outcome. A game that was
interrupted or stopped by a limit or breaker has no outcome; the command that resumes
it is printed.`,
		Example: `  synod research game -n 8 -b 2 --strategy mimic
  synod research game -n 8 -b 2 --strategy mimic --rule mode        # code chooses the numbers
  synod research game -n 4 --members embedded --rounds 5
  synod research game -n 7 -b 2 --members council.yaml --json       # uses the model "player" of the file
  synod research game --resume JOURNAL`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return playGame(a, cmd, f) },
	}
	f.add(cmd)
	return cmd
}

func (f *gameFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "players", "n", 4, "number of players, including Byzantine ones")
	fl.IntVarP(&f.b, "byzantine", "b", 0, "number of Byzantine players")
	fl.IntVar(&f.rounds, "rounds", 50, "maximum number of rounds")
	fl.StringVar(&f.between, "range", "0:50", "range of the numbers, as `LOW:HIGH`")
	fl.StringVar(&f.variant, "variant", game.MayExist,
		"what prompts state about hostile players: may-exist, no-adversary or unmentioned")
	fl.StringVar(&f.strategy, "strategy", "saboteur",
		"strategy of the Byzantine players: saboteur (a model), midpoint, mimic, oscillator, extremist, silent, or "+
			"any adversary")
	fl.StringVar(&f.rule, "rule", string(game.Model),
		"how a player chooses its number: none (its model decides), or by code: mode, median, w-msr, final-vote")
	fl.StringVar(&f.stop, "stop", game.TwoThirds, "share of votes that stops the game: two-thirds or 66-percent")
	fl.StringVar(&f.threat, "threat", game.Restricted,
		"restricted: one message for all receivers, which they check; open: every message is accepted")
	fl.StringVar(&f.end, "end", game.AgreedEnd,
		"agreed-end: votes are sent by signed Byzantine broadcast, so that all honest players stop together; paper: "+
			"every player counts the votes that it receives, and a Byzantine one can stop the game for some only")
	fl.StringVar(&f.members, "members", "simulated",
		"simulated, embedded, or a council `file` with a model named player; p1, p2, …, b1, … are models of single "+
			"players")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of all random choices (default: random, and printed)")
	fl.StringArrayVar(&f.sets, "set", nil, "set a limit or breaker, such as breakers.no_progress=5 (repeatable)")
	fl.StringVar(&f.Resume, "resume", "", "resume the game in this `journal`, which gets the rest of the game")
	fl.BoolVar(&f.Trust, "trust", false, "with --resume: "+fmt.Sprintf(app.TrustFlag, "journal"))
	fl.StringVar(&f.Path, "journal", "", "write the journal to this `file`")
	fl.BoolVar(&f.asJSON, "json", false, "print the game as JSON after it has ended")
	for name, values := range map[string][]string{
		"variant": {game.MayExist, game.NoAdversary, game.Unmentioned}, "stop": {game.TwoThirds, game.Percent66},
		"threat": {game.Restricted, game.Open}, "end": {game.AgreedEnd, game.PaperEnd},
	} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// spec returns the council that plays the game.
func (f *gameFlags) spec() (plan.Spec, error) {
	low, high, ok := strings.Cut(f.between, ":")
	bottom, err1 := strconv.Atoi(low)
	top, err2 := strconv.Atoi(high)
	switch {
	case !ok || err1 != nil || err2 != nil:
		return plan.Spec{}, fmt.Errorf("--range is %q; it must be two whole numbers, such as 0:50", f.between)
	case f.n < 2 || f.n > 1000:
		return plan.Spec{}, fmt.Errorf("-n is %d; it must be between 2 and 1000", f.n)
	case f.b < 0 || f.b >= f.n:
		return plan.Spec{}, fmt.Errorf("-b is %d; it must be between 0 and %d, so that there is an honest player",
			f.b, f.n-1)
	}
	if _, err := adversary.Catalogue.Find(f.strategy); err != nil {
		return plan.Spec{}, fmt.Errorf("--strategy: %w", err)
	}
	g := gameCouncil{honest: f.n - f.b, byzantine: f.b, strategy: f.strategy, params: plan.Params{
		"rounds": f.rounds, "low": bottom, "high": top, "variant": f.variant, "rule": f.rule, "stop": f.stop,
		"threat": f.threat, "end": f.end,
	}}
	if err := g.players(f.members); err != nil {
		return plan.Spec{}, fmt.Errorf("--members: %w", err)
	}
	spec := g.spec()
	if _, err := plan.Read(spec); err != nil {
		return spec, err
	}
	return (&app.CouncilFlags{Sets: f.sets}).SetLimits(spec, "a game takes its other settings from flags")
}

func playGame(a *app.App, cmd *cobra.Command, f gameFlags) error {
	defer a.Unlock()
	if err := app.FolderOf("--journal", f.Path); err != nil {
		return err
	}
	ask, spec, err := f.begin(cmd, a)
	if err != nil {
		return err
	}
	plan, err := plan.Read(spec)
	if err != nil {
		return app.ConfigError(err)
	}
	g, ok := plan.Protocol().(*game.Game)
	if !ok {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s: this journal is not from a game", f.Resume),
			"resume it with: synod ask --resume "+app.ShellWord(f.Resume))
	}
	if err := a.FetchModels(cmd, spec); err != nil {
		return err
	}
	c, err := council.Convene(spec, a.Env())
	if err != nil {
		return app.ConfigError(err)
	}
	defer c.Close()
	board := newBoard(cmd, g, c.Seats(), f.asJSON || a.Quiet)
	board.head(c.Plan().Bound())
	ask.Noted = board.note
	o, err := c.Decide(cmd.Context(), ask)
	var torn *council.JournalError
	var untold *council.EscalationError
	if err != nil && !errors.As(err, &torn) && !errors.As(err, &untold) {
		return app.NotBegun(err)
	}
	if untold != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "synod:", app.OneLine(untold.Error()))
	}
	if !f.asJSON {
		board.end(&o)
	} else if err := app.WriteJSON(cmd.OutOrStdout(), board.record(&o)); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return gameResult(&o, torn)
}

// gameResult returns the error with which the command ends; torn is nil if the journal was written.
func gameResult(o *outcome.Outcome, torn *council.JournalError) error {
	switch {
	case torn != nil && torn.Cut:
		return app.Fail(app.ExitFailure, torn, app.Game.Advice(o))
	case torn != nil:
		return app.Fail(app.ExitFailure, torn)
	case cutOff(o):
		return app.Game.Verdict(o)
	}
	return gameFailed(o)
}

// begin returns the council and the run of a new game, or of the game to resume.
func (f *gameFlags) begin(cmd *cobra.Command, a *app.App) (council.Ask, plan.Spec, error) {
	ask := council.Ask{Seed: f.seed, Program: "synod " + app.Release, Mark: a.Mark(app.OwnJournal),
		Again: app.Game.Resume}
	if f.Resume != "" {
		for _, flag := range []string{"players", "byzantine", "rounds", "range", "variant", "strategy", "rule", "stop",
			"threat", "end", "members", "seed"} {
			if cmd.Flags().Changed(flag) {
				return ask, plan.Spec{}, app.Fail(app.ExitUsage,
					fmt.Errorf("--resume takes all settings from the journal; --%s cannot be combined with it", flag))
			}
		}
		ask, spec, err := a.Resumed(ask, nil, &f.JournalFlags, &app.CouncilFlags{Sets: f.sets}, "game")
		if err == nil && !outcome.Unfinished(ask.Resume) {
			err = app.Fail(app.ExitUsage, fmt.Errorf("%s: the game is over and cannot be resumed", f.Resume),
				"replay it with: synod replay "+app.ShellWord(f.Resume))
		}
		return ask, spec, err
	}
	spec, err := f.spec()
	if err != nil {
		return ask, spec, app.Fail(app.ExitUsage, err)
	}
	if !cmd.Flags().Changed("seed") {
		ask.Seed = rand.Uint64N(1 << 48)
	}
	plan, err := plan.Read(spec)
	if err != nil {
		return ask, spec, app.ConfigError(err)
	}
	g := plan.Protocol().(*game.Game)
	ask.Question, ask.Journal = manifest.GameQuestion(g.Low, g.High), a.JournalPath(&f.JournalFlags)
	return ask, spec, nil
}

// cutOff reports whether a game was stopped before its end. Such a game has no
// outcome; "none" would wrongly state that all its rounds were played.
func cutOff(o *outcome.Outcome) bool {
	return slices.Contains([]string{
		outcome.Interrupted, outcome.Tripped, outcome.OverBudget, outcome.PastTime, outcome.Unwritten,
	}, o.Stopped)
}

// unreached returns the first player whose model was asked and never answered, or nil.
// A game with such a player has no outcome: it shows nothing about the players (GR-2).
func unreached(o *outcome.Outcome) *outcome.Member {
	for i, m := range o.Members {
		if m.Trouble != "" && m.Calls.Of(synod.OK) == 0 {
			return &o.Members[i]
		}
	}
	return nil
}

// gameFailed returns an error if the model of a player could not be reached.
func gameFailed(o *outcome.Outcome) error {
	if m := unreached(o); m != nil {
		return app.Fail(app.ExitDegraded, fmt.Errorf("the model of player %s was never reached: %s", m.ID,
			app.OneLine(m.Trouble)))
	}
	return nil
}
