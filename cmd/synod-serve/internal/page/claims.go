package page

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/council/outcome"
)

// Claims are marked in rendered Markdown by characters for private use around them: clean.Escape leaves none of a
// member's own. Claim i is between firstSign+2i and the character after it.
const (
	firstSign = '\ue000'
	lastSign  = '\uf8ff'
)

// markedProse renders Markdown with its claims marked; "" if that is not possible, for example because a claim
// begins in the address of a link.
func markedProse(pieces []marked) template.HTML {
	var text strings.Builder
	var claims []*outcome.Claim
	for _, p := range pieces {
		plain := clean.Escape(p.Text)
		if p.Claim == nil {
			text.WriteString(plain)
			continue
		}
		sign := firstSign + rune(2*len(claims))
		if sign >= lastSign {
			return ""
		}
		claims = append(claims, p.Claim)
		words := plain[len(blockBegins.FindString(plain)):]
		if strings.HasPrefix(words, "```") || strings.HasPrefix(words, "|") {
			return "" // a mark would take the form of a block of code or a table away
		}
		text.WriteString(plain[:len(plain)-len(words)])
		text.WriteRune(sign)
		text.WriteString(words)
		text.WriteRune(sign + 1)
	}
	if text.Len() > maxMarkdown {
		return ""
	}
	m := marker{claims: claims, shown: make([]bool, len(claims)), now: -1}
	z := html.NewTokenizer(strings.NewReader(rendered(text.String())))
	for {
		kind := z.Next()
		raw := string(z.Raw())
		switch {
		case kind == html.ErrorToken && m.complete():
			return template.HTML(clean.Escape(m.out.String()))
		case kind == html.ErrorToken:
			return ""
		case kind == html.TextToken:
			m.text(raw)
		case strings.ContainsFunc(raw, signs) || strings.Contains(strings.ToUpper(raw), "%EE%"):
			return ""
		default:
			m.close()
			m.out.WriteString(raw)
		}
	}
}

// blockBegins matches what begins a list, a quotation or a heading, which stays before the mark.
var blockBegins = regexp.MustCompile(`^[ \t\n#>*+-]*(?:[0-9]{1,9}[.)][ \t]+)?`)

func signs(r rune) bool { return r >= firstSign && r <= lastSign }

// marker writes HTML with marks in its texts. A mark ends before every tag and begins again after it.
type marker struct {
	out    strings.Builder
	claims []*outcome.Claim
	shown  []bool // the mark with the id has been written
	ended  int
	now    int // the claim that the text belongs to; -1: none
	open   bool
	forged bool // a sign is not where it belongs: the text has one as an entity
}

// complete reports whether every claim has been marked to its end, in order.
func (m *marker) complete() bool { return !m.forged && m.now < 0 && m.ended == len(m.claims) }

func (m *marker) text(raw string) {
	for _, r := range raw {
		switch {
		case !signs(r):
			if m.now >= 0 && !m.open && r != '\n' && r != ' ' {
				m.begin()
			}
			m.out.WriteRune(r)
		case m.now < 0 && int(r-firstSign) == 2*m.ended && m.ended < len(m.claims):
			m.now = m.ended
		case m.now >= 0 && int(r-firstSign) == 2*m.now+1:
			m.close()
			c := m.claims[m.now]
			fmt.Fprintf(&m.out, `<sup><a href="#%s" aria-label="claim %[1]s, %s">%[1]s</a></sup>`,
				html.EscapeString(c.ID), html.EscapeString(string(c.Verdict)))
			m.now = -1
			m.ended++
		default:
			m.forged = true
		}
	}
}

func (m *marker) begin() {
	c := m.claims[m.now]
	id := ""
	if !m.shown[m.now] {
		id = ` id="mark-` + html.EscapeString(c.ID) + `"`
	}
	m.shown[m.now], m.open = true, true
	fmt.Fprintf(&m.out, `<mark class="%s"%s>`, html.EscapeString(string(c.Verdict)), id)
}

func (m *marker) close() {
	if m.open {
		m.open = false
		m.out.WriteString("</mark>")
	}
}
