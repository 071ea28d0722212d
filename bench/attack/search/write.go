package search

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/table"
)

// Summary is what a search found, for people and programs.
type Summary struct {
	Version   int           `json:"version"`
	Council   string        `json:"council"`
	Protocol  string        `json:"protocol"`
	Kinds     []string      `json:"members_kind"`      // endpoint, embedded, recorded, simulated
	Fooling   string        `json:"fooling,omitempty"` // what fools simulated members, which is an assumption
	Strategy  Strategy      `json:"strategy"`
	Seed      uint64        `json:"seed"`
	Objective string        `json:"objective"`
	Tries     int           `json:"tries"`
	Reducing  int           `json:"reducing_tries"`
	First     *int          `json:"first_capture"` // the first try that captured a right answer; null: none did
	WorstTry  int           `json:"worst_try"`
	Ended     string        `json:"ended"`
	History   int           `json:"history,omitempty"` // questions from which the council learned before each try; 0: it does not
	Worst     AttackCase    `json:"worst"`
	Found     DamageFigures `json:"found"` // on the questions of the search: chosen for it, so too high
	Fresh     DamageFigures `json:"fresh"` // on questions that the search has not seen
	File      string        `json:"file"`
	Attacked  string        `json:"council_file"` // the council with the worst attack in it
	Capture   *metrics.Rate `json:"capture"`      // of Fresh: the figure to quote
}

// DamageFigures are a score with its interval.
type DamageFigures struct {
	Damage
	Capture *metrics.Rate `json:"capture"` // share of the right answers that were captured
	Cost    float64       `json:"cost_factor"`
	Digest  string        `json:"digest"`
}

// Figures returns the figures of a measurement.
func (m Measurement) Figures() DamageFigures {
	return DamageFigures{m.Score, m.Score.Capture(), m.Score.Cost(), m.Digest}
}

// JSON writes the summary as JSON.
func (s *Summary) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// Text writes the summary for people.
func (s *Summary) Text(w io.Writer) error {
	kinds := strings.Join(s.Kinds, " and ") + " members"
	if s.Fooling != "" {
		kinds += " (" + s.Fooling + ")"
	}
	first := "none captured a right answer"
	if s.First != nil {
		first = fmt.Sprintf("the first capture was in try %d", *s.First)
	}
	lines := []string{
		fmt.Sprintf("%s (%s), %s: attacks tried: %d, %s, seed %d; %s", table.Plain(s.Council), s.Protocol, kinds,
			s.Tries, s.Strategy, s.Seed, s.Ended),
		fmt.Sprintf("sought: %s; %s", s.Objective, first),
	}
	if s.History > 0 {
		lines = append(lines, fmt.Sprintf("before each try all members answered a history of %d questions, with the "+
			"attack in place, and have the weights that it gave them", s.History))
	}
	for _, line := range lines {
		fmt.Fprintln(w, table.Wrap(line, table.Columns(w)))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "worst attack (try %d, reduced in %d more)\n", s.WorstTry, s.Reducing)
	seats := &table.Table{Head: []string{"seat", "adversary"}}
	for _, p := range s.Worst {
		seats.Add(p.Seat, p.Settings())
	}
	if err := seats.Write(w, "text"); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return WriteFigures(w, Measurements(), []DamageFigures{s.Found, s.Fresh})
}

// Measurements names the two measurements of a worst attack, in the order of WriteFigures.
func Measurements() []string { return []string{"where it was found", "on fresh questions"} }

// WriteReplayed writes what came of playing an attack again as JSON.
func WriteReplayed(w io.Writer, c AttackCase, r *Replayed) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Version int           `json:"version"`
		Case    AttackCase    `json:"case"`
		Same    bool          `json:"same"`
		Differs []string      `json:"differs"`
		Found   DamageFigures `json:"found"`
		Fresh   DamageFigures `json:"fresh"`
	}{Version, c, len(r.Differs) == 0, r.Differs, r.Found.Figures(), r.Fresh.Figures()})
}

// WriteFigures writes the figures of an attack as a table, a row for each set of questions.
func WriteFigures(w io.Writer, names []string, all []DamageFigures) error {
	t := &table.Table{Head: []string{"measured", "questions", "right without", "captured of these", "95 %", "lost",
		"undecided", "cost", "proved", "failed"}, Align: "lrrrlrrrrr"}
	for i, f := range all {
		rate, interval := "–", ""
		if f.Capture != nil {
			rate = fmt.Sprintf("%.1f %%", 100*f.Capture.Value)
			interval = fmt.Sprintf("%.1f to %.1f", 100*f.Capture.Low, 100*f.Capture.High)
		}
		t.Add(names[i], f.Questions, f.Right, rate, interval, f.Lost, f.Stopped, fmt.Sprintf("× %.2f", f.Cost),
			f.Proved, f.Failed)
	}
	if err := t.Write(w, "text"); err != nil {
		return err
	}
	for i, f := range all {
		fmt.Fprintf(w, "digest %s: %s\n", names[i], f.Digest)
	}
	return nil
}
