package report

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// members are the seats of a report, by the numbers that opinions name.
type members []Member

// rounds are the rows of the table of a question: what every member did in each round. They are most of a page of many
// questions, and a template takes several times as long for them. Its escaping is that of the template beside them.
func (all members) rounds(q *Question) template.HTML {
	var b strings.Builder
	for i := range all {
		m, begun := &all[i], false
		for _, held := range q.Rounds {
			if i >= len(held) {
				continue
			}
			if !begun {
				begun = true
				b.WriteString("<tr>")
				m.head(&b)
			}
			all.cell(&b, &held[i])
		}
		if begun {
			b.WriteString("</tr>\n")
		}
	}
	return template.HTML(b.String())
}

// head writes the cell of a row that names its member.
func (m *Member) head(b *strings.Builder) {
	element(b, "<th>", `<span class="u">`, plain(m.ID), "</span>")
	if m.Model != m.ID {
		element(b, "", `<small class="g u">`, plain(m.Model), "</small>")
	}
	if role := m.Role(); role != "" {
		element(b, "", `<small class="g">`, plain(role), "</small>")
	}
	b.WriteString("</th>")
}

// cell writes what a member held after a round, where the answer came from, and what it thought of others.
func (all members) cell(b *strings.Builder, h *Held) {
	element(b, `<td class="`+verdictClass(h.Verdict)+`">`, `<span class="u">`, cut(answerText(h.Answer)), "</span> ")
	b.WriteString(verdictMark(h.Verdict))
	if how := all.how(h); how != "" {
		element(b, "", `<span class="g">`, how, "</span>")
	}
	all.peers(b, h)
	if h.Reasoning != "" {
		element(b, "<details><summary>reasoning</summary>", `<span class="u">`, plain(h.Reasoning), "</span></details>")
	}
	b.WriteString("</td>")
}

// element writes a text between two tags.
func element(b *strings.Builder, before, open, text, end string) {
	b.WriteString(before)
	b.WriteString(open)
	escapes.WriteString(b, text) // a Builder does not fail
	b.WriteString(end)
}

// escapes are those of html/template in a text.
var escapes = strings.NewReplacer("\x00", "\ufffd", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;",
	">", "&gt;")

// how says where an answer came from, and what went wrong.
func (m members) how(h *Held) string {
	if !h.Noted {
		return "unchanged"
	}
	parts := []string{plain(string(h.Source))}
	if len(h.From) > 0 {
		parts[0] += " from " + m.names(h.From)
	}
	if h.Confidence != nil {
		parts = append(parts, fmt.Sprintf("confidence %.2f", *h.Confidence))
	}
	if s := cut(plain(h.Surface)); s != "" && s != plain(string(h.Answer)) {
		parts = append(parts, "wrote "+s)
	}
	if len(h.Silent) > 0 {
		parts = append(parts, "silent: "+m.names(h.Silent))
	}
	if h.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d calls failed", h.Failed))
	}
	if h.Unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d replies unreadable", h.Unreadable))
	}
	return strings.Join(parts, " · ")
}

// peers writes all peers that the note mentions with their scores, the member's own included. Those whose answers the
// member dropped are struck through.
func (m members) peers(b *strings.Builder, h *Held) {
	scores := map[synod.NodeID]string{}
	for _, of := range slices.Concat(h.Retained, h.Dropped) {
		scores[of] = ""
	}
	for _, s := range h.Scores {
		scores[s.Of] = "\u00a0" + s.Score.String() // a non-breaking space keeps name and score on one line
	}
	if len(scores) == 0 {
		return
	}
	b.WriteString(`<span class="g">`)
	before := false // the last one was dropped
	for i, of := range slices.Sorted(maps.Keys(scores)) {
		dropped := slices.Contains(h.Dropped, of)
		if before && !dropped {
			b.WriteString("</s>")
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if dropped && !before {
			b.WriteString("<s>")
		}
		before = dropped
		escapes.WriteString(b, plain(m.name(of))+scores[of])
	}
	if before {
		b.WriteString("</s>")
	}
	b.WriteString(" </span>")
}

func (m members) name(id synod.NodeID) string {
	if id < 0 || int(id) >= len(m) {
		return fmt.Sprintf("n%d", id)
	}
	return m[id].ID
}

func (m members) names(ids []synod.NodeID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = plain(m.name(id))
	}
	return strings.Join(names, ", ")
}

// Role returns the group of a member, or "adversary: NAME".
func (m *Member) Role() string {
	if m.Adversary != "" {
		return "adversary: " + m.Adversary
	}
	return m.Group
}

// spaced replaces all white space by spaces.
func spaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}

func answerText(a synod.Answer) string {
	if a == synod.None {
		return "–"
	}
	return plain(spaced(string(a)))
}

func verdictMark(v task.Verdict) string {
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

func verdictClass(v task.Verdict) string {
	switch v {
	case task.Right:
		return "right"
	case task.Wrong:
		return "wrong"
	}
	return "none"
}
