package research

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/game"
)

// board prints the rounds of a game while it is played, and keeps them for the result.
type board struct {
	out   io.Writer
	quiet bool
	game  *game.Game
	seats []plan.Seat
	notes [][]*synod.Opinion // by seat
	shown int                // the last round that was printed; -1: none
}

func newBoard(cmd *cobra.Command, g *game.Game, seats []plan.Seat, quiet bool) *board {
	return &board{out: cmd.OutOrStdout(), quiet: quiet, game: g, seats: seats,
		notes: make([][]*synod.Opinion, len(seats)), shown: -1}
}

// width returns the width of a column.
func (b *board) width() int {
	w := max(len(strconv.Itoa(b.game.Low)), len(strconv.Itoa(b.game.High)))
	for _, s := range b.seats {
		w = max(w, len(s.ID)+1)
	}
	return w + 1
}

// head prints the first lines: a warning if there are too many Byzantine players, what is
// guaranteed if there are any, the kind of the players unless they are live models, and the
// names of the columns.
func (b *board) head(bound plan.Bound) {
	if b.quiet {
		return
	}
	byzantine := 0
	for _, honest := range b.honest() {
		if !honest {
			byzantine++
		}
	}
	if game.Veto(len(b.seats), byzantine) {
		b.sayf("warning: %d of %d players are Byzantine, more than a third: they can prevent the others "+
			"from stopping the game\n", byzantine, len(b.seats))
	}
	if bound.F > 0 {
		b.sayf("end: %s: %s\n", b.game.End, bound.Note)
	}
	if kind := b.seats[0].Kind; kind != llm.Endpoint {
		fmt.Fprintf(b.out, "players: %s (%s)\n", kind, b.seats[0].Model)
	}
	fmt.Fprintf(b.out, "%5s ", "round")
	for _, s := range b.seats {
		name := s.ID
		if s.Adversary != "" {
			name += "*"
		}
		fmt.Fprintf(b.out, "%*s", b.width(), name)
	}
	fmt.Fprintln(b.out, "   votes to stop")
}

// note records an opinion of a player, and prints the rounds that are complete.
func (b *board) note(id synod.NodeID, o *synod.Opinion) {
	b.notes[id] = append(b.notes[id], o)
	if b.quiet {
		return
	}
	for t := b.shown + 1; b.complete(t); t++ {
		b.print(t)
		b.shown = t
	}
}

// complete reports whether every player that has recorded an opinion so far has
// recorded one of round t.
func (b *board) complete(t int) bool {
	playing := 0
	for _, of := range b.notes {
		switch {
		case len(of) == 0:
		case len(of) <= t:
			return false
		default:
			playing++
		}
	}
	return playing > 0 && (t > 0 || b.honestStarted())
}

// honestStarted reports whether every honest player has recorded its first number,
// which all do in the first tick. A Byzantine player may never record one.
func (b *board) honestStarted() bool {
	for i, of := range b.notes {
		if len(of) == 0 && b.seats[i].Adversary == "" {
			return false
		}
	}
	return true
}

func (b *board) print(t int) {
	fmt.Fprintf(b.out, "%5d ", t)
	for i := range b.seats {
		fmt.Fprintf(b.out, "%*s", b.width(), number(b.value(i, t)))
	}
	if t > 0 && t <= b.game.Rounds {
		fmt.Fprintf(b.out, "   %s of %d", b.counted(t), len(b.seats))
	}
	if stuck := b.stuck(t); len(stuck) > 0 {
		fmt.Fprintf(b.out, "   stuck: %s", strings.Join(stuck, ", "))
	}
	for i := range b.seats {
		if o := b.at(i, t); o != nil && len(o.Suspects) > 0 && b.seats[i].Adversary == "" {
			fmt.Fprintf(b.out, "   sent different messages: %s", strings.Join(b.names(o.Suspects), ", "))
			break
		}
	}
	fmt.Fprintln(b.out)
}

// counted returns how many votes to stop the honest players counted in round t, "2 to 3" if
// they counted different numbers.
func (b *board) counted(t int) string {
	least, most := len(b.seats), 0
	for i := range b.seats {
		if o := b.at(i, t); o != nil && b.seats[i].Adversary == "" {
			n := len(game.StopsOf(o))
			least, most = min(least, n), max(most, n)
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return strconv.Itoa(most)
}

func (b *board) names(ids []synod.NodeID) (names []string) {
	for _, id := range ids {
		names = append(names, b.seats[id].ID)
	}
	return names
}

func number(v *int) string {
	if v == nil {
		return "–"
	}
	return strconv.Itoa(*v)
}

// at returns the opinion of player i in round t, or nil.
func (b *board) at(i, t int) *synod.Opinion {
	if k := slices.IndexFunc(b.notes[i], func(o *synod.Opinion) bool { return o.Round == t }); k >= 0 {
		return b.notes[i][k]
	}
	return nil
}

// value returns the number that player i holds after round t. It is nil if the player
// recorded none, or is Byzantine and sent none.
func (b *board) value(i, t int) *int {
	o := b.at(i, t)
	if o == nil || b.seats[i].Adversary != "" && (t == 0 || slices.Contains(o.Silent, synod.NodeID(i))) {
		return nil
	}
	v, err := strconv.Atoi(string(o.Answer))
	if err != nil {
		return nil
	}
	return &v
}

// stuck returns the honest players that have held the same number for three rounds
// while it is not the most common one.
func (b *board) stuck(t int) (who []string) {
	const rounds = 3
	if t < rounds {
		return nil
	}
	count, lead := map[int]int{}, 0
	for i := range b.seats {
		if v := b.value(i, t); v != nil {
			count[*v]++
			lead = max(lead, count[*v])
		}
	}
	for i, s := range b.seats {
		v := b.value(i, t)
		if s.Adversary != "" || v == nil || count[*v] == lead {
			continue
		}
		same := true
		for k := 1; k < rounds; k++ {
			was := b.value(i, t-k)
			same = same && was != nil && *was == *v
		}
		if same {
			who = append(who, s.ID)
		}
	}
	return who
}

func (b *board) honest() []bool {
	honest := make([]bool, len(b.seats))
	for i, s := range b.seats {
		honest[i] = s.Adversary == ""
	}
	return honest
}

// sayf prints text; whoever runs the command learns at its end that the output could not be written.
func (b *board) sayf(format string, args ...any) { _ = app.Sayf(b.out, format, args...) }

// end prints the outcome of the game, failed calls, and the journal.
func (b *board) end(o *outcome.Outcome) {
	switch gone := unreached(o); {
	case cutOff(o):
		fmt.Fprintln(b.out, "stopped before its end: this game has no outcome")
	case gone != nil:
		fmt.Fprintf(b.out, "no outcome: the model of player %s was never reached\n", gone.ID)
	default:
		b.sayf("%s\n", ending(b.game.Judge(b.notes, b.honest())))
	}
	if lost := lost(o); lost != "" && !b.quiet {
		b.sayf("failed calls: %s; a player abstains if all %d attempts fail\n", lost, b.game.Attempts)
	}
	if !b.quiet {
		b.sayf("%d calls · %.1f s · seed %d · journal %s\n", o.Calls.Made, o.Seconds, o.Seed, o.Journal)
	}
}

// ending describes the outcome of a game.
func ending(r game.Result) string {
	descriptions := map[game.Outcome]string{
		game.Valid:     "valid: all honest players hold one number, and one of them started with it",
		game.Invalid:   "invalid: all honest players hold one number, and none of them started with it",
		game.Premature: "premature: it was stopped while honest players hold different numbers",
		game.NoStop:    "none: it was not stopped within the rounds",
	}
	when := ""
	switch {
	case r.Split && r.Outcome == game.NoStop:
		return "none: a vote stopped it for some honest players and not for others, which end: paper does not prevent"
	case r.Split:
		when = fmt.Sprintf(" (after %s, for some players earlier, which end: paper does not prevent)",
			display.Rounds(r.Stop))
	case r.Code:
		when = " (stopped by code after the last round)"
	case r.Stop > 0:
		when = fmt.Sprintf(" (after %s)", display.Rounds(r.Stop))
	}
	return descriptions[r.Outcome] + when
}

// lost lists the failed calls of each player; "" if there are none.
func lost(o *outcome.Outcome) string {
	var all []string
	for _, m := range o.Members {
		n := 0
		for _, s := range synod.Statuses() {
			if s != synod.OK && s != synod.Dropped {
				n += m.Calls.Of(s)
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %d", m.ID, n))
		}
	}
	return strings.Join(all, ", ")
}

// gameRecord is the output of "synod research game --json".
type gameRecord struct {
	Version   int           `json:"version"`
	Outcome   *game.Outcome `json:"outcome"`    // null: stopped early, or the model of a player was never reached
	StopRound *int          `json:"stop_round"` // null: not stopped
	Stopped   string        `json:"stopped"`    // "rounds", or why it was stopped early
	Finalised bool          `json:"finalised"`  // stopped by code after the last round
	// stopped by vote for some honest players only or earlier; only with end: paper
	Split   bool         `json:"split"`
	End     string       `json:"end"`
	Rule    game.Rule    `json:"rule"`
	Variant string       `json:"variant"`
	Players []gamePlayer `json:"players"`
	Rounds  []gameRound  `json:"rounds"`
	Seed    uint64       `json:"seed"`
}

type gamePlayer struct {
	ID        string   `json:"id"`
	Byzantine bool     `json:"byzantine"`
	Strategy  string   `json:"strategy,omitempty"`
	Initial   *int     `json:"initial"` // null for a Byzantine player
	Kind      llm.Kind `json:"kind"`
}

// gameRound has the numbers that players hold after a round, and their votes in it.
type gameRound struct {
	T      int                  `json:"t"`
	Values map[string]*int      `json:"values"`
	Votes  map[string]game.Vote `json:"votes"`
}

func (b *board) record(o *outcome.Outcome) gameRecord {
	r := gameRecord{Version: 1, Stopped: o.Stopped, Rule: b.game.Rule, Variant: b.game.Variant, Seed: o.Seed,
		End: b.game.End}
	if !cutOff(o) && unreached(o) == nil {
		judged := b.game.Judge(b.notes, b.honest())
		r.Outcome, r.Finalised, r.Split = &judged.Outcome, judged.Code, judged.Split
		if judged.Stop > 0 {
			r.StopRound = &judged.Stop
		}
	}
	last := 0
	for i, s := range b.seats {
		r.Players = append(r.Players, gamePlayer{ID: s.ID, Byzantine: s.Adversary != "", Strategy: s.Adversary,
			Initial: b.value(i, 0), Kind: s.Kind})
		for _, o := range b.notes[i] {
			last = max(last, o.Round)
		}
	}
	for t := 1; t <= last; t++ {
		round := gameRound{T: t, Values: map[string]*int{}, Votes: map[string]game.Vote{}}
		for i, s := range b.seats {
			round.Values[s.ID] = b.value(i, t)
			vote := game.Abstain
			if o := b.at(i, t); o != nil && game.VoteOf(o) != "" {
				vote = game.VoteOf(o)
			}
			round.Votes[s.ID] = vote
		}
		r.Rounds = append(r.Rounds, round)
	}
	return r
}
