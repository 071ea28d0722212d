package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/task"
)

// questions shows the questions of the detail, each folded.
func (p *page) questions(r *Report, d Detail) {
	if d.Questions == nil || d.Limit == 0 {
		return
	}
	p.show("questions", struct{ Label string }{r.label()})
	shown := 0
	for q, err := range d.Questions {
		if err != nil && p.err == nil {
			p.err = err
		}
		if p.err != nil {
			return
		}
		if shown == d.Limit {
			p.show("note", fmt.Sprintf("The first %d of %d questions; %s", shown, r.Questions, d.Rest))
			return
		}
		shown++
		p.show("question", struct {
			Q     *Question
			Rows  []memberRow
			Label string
		}{q, r.memberRows(q), r.label()})
	}
}

// memberRow is a member's way through the rounds of a question.
type memberRow struct {
	Seat  Seat
	Cells []cell
}

type cell struct {
	Held
	How   string // how the member came to its answer, and what went wrong
	Given []given
}

// given is what a member made of answers that it had before it: names and scores
// by seat, of neighbours in that order that fared alike.
type given struct {
	Text    string
	Dropped bool
}

func (r *Report) memberRows(q *Question) []memberRow {
	var rows []memberRow
	for i, seat := range r.Seats {
		row := memberRow{Seat: seat}
		for _, held := range q.Rounds {
			if i < len(held) {
				row.Cells = append(row.Cells, cell{held[i], r.how(held[i]), r.given(held[i])})
			}
		}
		if len(row.Cells) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *Report) how(h Held) string {
	if !h.Noted {
		return "nothing new"
	}
	words := []string{plain(string(h.Source))}
	if len(h.From) > 0 {
		words[0] += " from " + r.names(h.From)
	}
	if h.Confidence != nil {
		words = append(words, fmt.Sprintf("confidence %.2f", *h.Confidence))
	}
	if s := cut(plain(h.Surface)); s != "" && s != plain(string(h.Answer)) {
		words = append(words, "wrote "+s)
	}
	if len(h.Silent) > 0 {
		words = append(words, "silent: "+r.names(h.Silent))
	}
	if h.Failed > 0 {
		words = append(words, fmt.Sprintf("%d calls failed", h.Failed))
	}
	if h.Unreadable > 0 {
		words = append(words, fmt.Sprintf("%d replies unreadable", h.Unreadable))
	}
	return strings.Join(words, " · ")
}

// given lists all peers that the note speaks of, the member's own score too.
func (r *Report) given(h Held) (out []given) {
	scores := map[synod.NodeID]string{}
	for _, of := range slices.Concat(h.Retained, h.Dropped) {
		scores[of] = ""
	}
	for _, s := range h.Scores {
		scores[s.Of] = "\u00a0" + s.Score.String() // a name and its score stay in one line
	}
	for _, of := range slices.Sorted(maps.Keys(scores)) {
		text, dropped := plain(r.name(of))+scores[of], slices.Contains(h.Dropped, of)
		if last := len(out) - 1; last >= 0 && out[last].Dropped == dropped {
			out[last].Text += " " + text
			continue
		}
		out = append(out, given{text, dropped})
	}
	return out
}

func (r *Report) name(id synod.NodeID) string {
	if id < 0 || int(id) >= len(r.Seats) {
		return fmt.Sprintf("n%d", id)
	}
	return r.Seats[id].ID
}

func (r *Report) names(ids []synod.NodeID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = plain(r.name(id))
	}
	return strings.Join(names, ", ")
}

// Role is the group of a seat, or that it is an adversary and which.
func (s Seat) Role() string {
	if s.Adversary != "" {
		return "adversary: " + s.Adversary
	}
	return s.Group
}

// prose is plain text that keeps its lines.
func prose(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = plain(strings.ReplaceAll(l, "\t", " "))
	}
	return strings.Join(lines, "\n")
}

const longest, briefest = 400, 90 // letters of an answer, of a line in a list

func cut(s string) string { return shorten(s, longest) }

// brief is one short line.
func brief(s string) string {
	return shorten(strings.Join(strings.Fields(plain(spaced(s))), " "), briefest)
}

func spaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}

func shorten(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		return fmt.Sprintf("%s… (%d more)", string(letters[:most]), len(letters)-most)
	}
	return s
}

func showAnswer(a synod.Answer) string {
	if a == synod.None {
		return "–"
	}
	return plain(spaced(string(a)))
}

func mark(v task.Verdict) string {
	switch v {
	case task.Right:
		return "✓"
	case task.Wrong:
		return "✗"
	case task.Unreadable:
		return "?"
	}
	return ""
}

func saysVerdict(v task.Verdict) string {
	if v == "" {
		return "unscored"
	}
	return string(v)
}

func verdictClass(v task.Verdict) string {
	switch v {
	case task.Right:
		return "right"
	case task.Wrong:
		return "wrong"
	}
	return "none"
}
