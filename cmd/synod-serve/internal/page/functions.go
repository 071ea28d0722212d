package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"synod.dev/synod/core/clean"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// functions are those that templates have beside asset. Those for texts leave nothing that cannot be seen;
// html/template escapes what they return.
var functions = template.FuncMap{
	"icon":     icon,
	"text":     clean.Escape, // lines stay
	"line":     line,         // one line
	"brief":    brief,        // the beginning of it
	"list":     func(all []string) string { return line(strings.Join(all, ", ")) },
	"usd":      func(m store.Money) string { return dollars(m.USD()) },
	"dollars":  dollars,
	"percent":  func(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) },
	"seconds":  func(s float64) string { return fmt.Sprintf("%.1f s", s) },
	"when":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"anyOf":    anyOf,
	"add":      func(a, b int) int { return a + b },
	"words":    func(s string) string { return strings.ReplaceAll(line(s), "_", " ") },
	"many":     many,
	"deref":    func(b *bool) bool { return *b },
	"number":   func(f *float64) float64 { return *f },
	"pace":     pace,
	"optional": func(s *float64) string { return fmt.Sprintf("%.2f", *s) },
}

func line(s string) string { return strings.Join(strings.Fields(clean.Escape(s)), " ") }

// brief is the beginning of a text as one line.
func brief(s string) string {
	const most = 160
	s = line(clean.Head(s, 8*most))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// dollars shows an amount with as many digits as it needs.
func dollars(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0:
		return "-" + dollars(-usd)
	case usd < 0.01:
		return fmt.Sprintf("$%.6f", usd)
	}
	return fmt.Sprintf("$%.4f", usd)
}

// pace shows how many questions are finished in which time.
func pace(perSecond float64) string {
	switch {
	case perSecond <= 0:
		return "–"
	case perSecond < 1.0/60:
		return fmt.Sprintf("%.1f/h", perSecond*3600)
	case perSecond < 1:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	case perSecond < 10:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.0f/s", perSecond)
}

// anyOf says how many answers, whichever they are.
func anyOf(n int) string {
	switch n {
	case 0:
		return "no answer"
	case 1:
		return "any answer"
	}
	return fmt.Sprintf("any %d answers", n)
}

// many counts things.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// svg puts a drawing of package draw, report or plot into a page. It has a name for readers who do not see it.
func svg(drawing []byte, name string) template.HTML {
	s := string(drawing)
	head, body, ok := strings.Cut(s[max(strings.Index(s, "<svg"), 0):], ">")
	if !ok {
		return ""
	}
	box := ""
	if _, after, ok := strings.Cut(head, `viewBox="`); ok {
		box, _, _ = strings.Cut(after, `"`)
	}
	return template.HTML(`<svg class="drawing" viewBox="` + template.HTMLEscapeString(box) +
		`" font-family="sans-serif" role="img" aria-label="` + template.HTMLEscapeString(clean.Escape(name)) + `">` + body)
}

// plural writes a number of things.
func plural(n int, noun string) string {
	return many(n, noun, noun+"s")
}

// moment is a time for people.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// clip bounds a text from an address.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
