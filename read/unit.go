package read

import "strings"

// multiplier cuts "million" and its like from the start of what follows a number.
func multiplier(rest string) (int64, string) {
	if !strings.HasPrefix(rest, " ") {
		return 1, rest
	}
	word, after, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if m, ok := multipliers[strings.ToLower(word)]; ok {
		if after != "" {
			after = " " + after
		}
		return m, after
	}
	return 1, rest
}

var multipliers = map[string]int64{
	"dozen": 12, "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}

// maxUnitWords is how many words a unit may have: "dollars per day".
const maxUnitWords = 3

// isUnit reports whether rest, what follows a number, only says of what it is the
// number. Everything that might change the number (π, "and a half", "or so",
// another number) is refused.
func isUnit(rest string) bool {
	attached := rest != "" && rest[0] != ' '
	rest = strings.TrimSpace(rest)
	for _, sign := range []string{"%", "\u00b0", "\u00a2", "$", "\u20ac", "\u00a3", "\u00a5"} {
		if after, found := strings.CutPrefix(rest, sign); found {
			attached = false
			rest = strings.TrimSpace(after)
			break
		}
	}
	words := strings.Fields(rest)
	if len(words) > maxUnitWords {
		return false
	}
	for i, w := range words {
		w = strings.Trim(w, ".,")
		name := strings.ToLower(power(w))
		switch {
		case i == 0 && attached:
			if !short[name] {
				return false
			}
		case len(name) == 1 && !short[name], notUnit[name], !wordlike(name):
			return false
		}
	}
	return true
}

// power takes ^2, ^{3} or a plain 2 or 3 off a unit's end: m^2, cm3.
func power(w string) string {
	w = strings.NewReplacer("^{2}", "", "^{3}", "", "^2", "", "^3", "").Replace(w)
	if n := len(w); n > 1 && (w[n-1] == '2' || w[n-1] == '3') && short[strings.ToLower(w[:n-1])] {
		return w[:n-1]
	}
	return w
}

// wordlike accepts letters with hyphens, apostrophes, slashes and dots inside.
func wordlike(w string) bool {
	if w == "" {
		return false
	}
	for i, c := range []byte(w) {
		letter := c >= 'a' && c <= 'z'
		inside := i > 0 && i < len(w)-1 && (c == '-' || c == '\'' || c == '/' || c == '.')
		if !letter && !inside {
			return false
		}
	}
	return true
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// short are the units that may stand without a space, or as a single letter.
var short = set(`m g s h l cm mm km kg mg lb lbs oz ft in mi mph kph km/h m/s hr hrs min mins sec secs ml kb mb gb tb usd eur gbp`)

// notUnit are words that make the number another one, or no number at all.
var notUnit = set(`pi tau phi sqrt root roots squared cubed and or to half third quarter is are was were be not isn't wrong
	incorrect false plus minus point if but mod modulo factorial choose infinity approximately about roughly nearly almost
	unknown otherwise than over by ln log sin cos tan exp divided multiplied`)
