package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/game"
)

// board shows a game while it is played, and keeps it.
type board struct {
	out   io.Writer
	quiet bool
	game  *game.Game
	seats []council.Seat
	notes [][]*synod.Opinion // by seat
	shown int                // rounds that were printed
}

func newBoard(cmd *cobra.Command, g *game.Game, seats []council.Seat, quiet bool) *board {
	return &board{out: cmd.OutOrStdout(), quiet: quiet, game: g, seats: seats, notes: make([][]*synod.Opinion, len(seats)), shown: -1}
}

// wide is how wide a column is.
func (b *board) wide() int {
	w := max(len(strconv.Itoa(b.game.Low)), len(strconv.Itoa(b.game.High)))
	for _, s := range b.seats {
		w = max(w, len(s.ID)+1)
	}
	return w + 1
}

func (b *board) head(a *app) {
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
		fmt.Fprintf(b.out, "warning: %d of %d players are Byzantine, more than a third: they can keep the others from ever ending the game\n", byzantine, len(b.seats))
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
		fmt.Fprintf(b.out, "%*s", b.wide(), name)
	}
	fmt.Fprintln(b.out, "   votes to stop")
}

// note takes what a player notes and prints a round when all have noted it who
// noted the one before.
func (b *board) note(id synod.NodeID, o *synod.Opinion) {
	b.notes[id] = append(b.notes[id], o)
	if b.quiet {
		return
	}
	for t := b.shown + 1; b.whole(t); t++ {
		b.print(t)
		b.shown = t
	}
}

// whole reports whether every player that takes part has noted round t.
func (b *board) whole(t int) bool {
	taking := 0
	for _, of := range b.notes {
		switch {
		case len(of) == 0:
		case len(of) <= t:
			return false
		default:
			taking++
		}
	}
	return taking > 0 && (t > 0 || b.all())
}

// all reports whether everybody has noted something who ever will: honest players
// note their numbers in the first tick.
func (b *board) all() bool {
	for i, of := range b.notes {
		if len(of) == 0 && b.seats[i].Adversary == "" {
			return false
		}
	}
	return true
}

func (b *board) print(t int) {
	fmt.Fprintf(b.out, "%5d ", t)
	var stop []string
	for i, s := range b.seats {
		fmt.Fprintf(b.out, "%*s", b.wide(), number(b.value(i, t)))
		if o := b.at(i, t); o != nil && o.Vote == synod.Stop {
			stop = append(stop, s.ID)
		}
	}
	if t > 0 && t <= b.game.Rounds {
		fmt.Fprintf(b.out, "   %d of %d", len(stop), len(b.seats))
	}
	if stuck := b.stuck(t); len(stuck) > 0 {
		fmt.Fprintf(b.out, "   stuck: %s", strings.Join(stuck, ", "))
	}
	for i := range b.seats {
		if o := b.at(i, t); o != nil && len(o.Suspects) > 0 && b.seats[i].Adversary == "" {
			fmt.Fprintf(b.out, "   told different things by: %s", strings.Join(b.names(o.Suspects), ", "))
			break
		}
	}
	fmt.Fprintln(b.out)
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

// at is what a player noted of round t.
func (b *board) at(i, t int) *synod.Opinion {
	if k := slices.IndexFunc(b.notes[i], func(o *synod.Opinion) bool { return o.Round == t }); k >= 0 {
		return b.notes[i][k]
	}
	return nil
}

// value is what a player holds after round t; nil where it never spoke, or is
// Byzantine and has named nothing.
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

// stuck are the honest players that have held, for three rounds, one number that is
// not the one most hold.
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

// end says how the game ended, or that it did not.
func (b *board) end(o *council.Outcome) {
	switch gone := unreached(o); {
	case cutOff(o):
		fmt.Fprintln(b.out, "cut off: it was not played to its end, so it has no outcome")
	case gone != nil:
		fmt.Fprintf(b.out, "no outcome: the model of player %s was never reached\n", gone.ID)
	default:
		fmt.Fprintln(b.out, ending(b.game.Judge(b.notes, b.honest())))
	}
	if lost := lost(o); lost != "" && !b.quiet {
		fmt.Fprintf(b.out, "calls that failed: %s; a player whose %d tries all do abstains\n", lost, b.game.Attempts)
	}
	if !b.quiet {
		fmt.Fprintf(b.out, "%d calls · %.1f s · seed %d · journal %s\n", o.Calls.Made, o.Seconds, o.Seed, o.Journal)
	}
}

// ending is how a game ended, in words.
func ending(r game.Result) string {
	words := map[game.Outcome]string{
		game.Valid:     "valid: all honest players hold one number that one of them was given",
		game.Invalid:   "invalid: all honest players hold one number that none of them was given",
		game.Premature: "premature: it ended while honest players hold different numbers",
		game.NoStop:    "none: nobody ended it in time",
	}
	when := ""
	switch {
	case r.Code:
		when = " (code ended it after the last round)"
	case r.Stop > 0:
		when = fmt.Sprintf(" (after %s)", rounds(r.Stop))
	}
	return words[r.Outcome] + when
}

// lost is how many calls of each player failed, "" if none did.
func lost(o *council.Outcome) string {
	var all []string
	for _, m := range o.Members {
		n := 0
		for _, s := range synod.Statuses() {
			if s != synod.OK && s != synod.Dropped {
				n += m.Calls[s]
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %d", m.ID, n))
		}
	}
	return strings.Join(all, ", ")
}

// gameRecord is what "synod game --json" prints.
type gameRecord struct {
	Version   int           `json:"version"`
	Outcome   *game.Outcome `json:"outcome"`    // null: it was cut off, or a player's model was never reached
	StopRound *int          `json:"stop_round"` // null: nobody ended it
	Stopped   string        `json:"stopped"`    // rounds, or what cut it off
	Finalised bool          `json:"finalised"`  // code ended it
	Rule      game.Rule     `json:"rule"`
	Variant   string        `json:"variant"`
	Players   []gamePlayer  `json:"players"`
	Rounds    []gameRound   `json:"rounds"`
	Seed      uint64        `json:"seed"`
}

type gamePlayer struct {
	ID        string   `json:"id"`
	Byzantine bool     `json:"byzantine"`
	Strategy  string   `json:"strategy,omitempty"`
	Initial   *int     `json:"initial"` // null for a Byzantine player
	Kind      llm.Kind `json:"kind"`
}

// gameRound is what players hold after a round, and how they voted in it.
type gameRound struct {
	T      int                   `json:"t"`
	Values map[string]*int       `json:"values"`
	Votes  map[string]synod.Vote `json:"votes"`
}

func (b *board) record(o *council.Outcome) gameRecord {
	r := gameRecord{Version: 1, Stopped: o.Stopped, Rule: b.game.Rule, Variant: b.game.Variant, Seed: o.Seed}
	if !cutOff(o) && unreached(o) == nil {
		judged := b.game.Judge(b.notes, b.honest())
		r.Outcome, r.Finalised = &judged.Outcome, judged.Code
		if judged.Stop > 0 {
			r.StopRound = &judged.Stop
		}
	}
	last := 0
	for i, s := range b.seats {
		r.Players = append(r.Players, gamePlayer{ID: s.ID, Byzantine: s.Adversary != "", Strategy: s.Adversary, Initial: b.value(i, 0), Kind: s.Kind})
		for _, o := range b.notes[i] {
			last = max(last, o.Round)
		}
	}
	for t := 1; t <= last; t++ {
		round := gameRound{T: t, Values: map[string]*int{}, Votes: map[string]synod.Vote{}}
		for i, s := range b.seats {
			round.Values[s.ID] = b.value(i, t)
			vote := synod.Abstain
			if o := b.at(i, t); o != nil && o.Vote != "" {
				vote = o.Vote
			}
			round.Votes[s.ID] = vote
		}
		r.Rounds = append(r.Rounds, round)
	}
	return r
}
