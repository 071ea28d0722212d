package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// Guess guesses the form of the answer to what a person typed, in ten languages. It is Prose, unless the text is
// surely a question of another form: listed choices, an arithmetic expression, "how many …?" and a yes-no question
// with nothing else asked, a formula to work out, or a question for a name ("Who wrote …?"). options are the choices
// of the form Choice. Callers let people choose the form.
func Guess(text string) (form synod.Form, options []synod.Option) {
	if len(text) > maxGuessed {
		return synod.Prose, nil
	}
	if ask, options := Choices(text); options != nil && choosing(ask, options) {
		return synod.Choice, options
	}
	s := strings.TrimSpace(strings.ToLower(clean.Fold(text)))
	ask := asking(s)
	switch {
	case saysYesOrNo.MatchString(s) && !explains(s):
		return synod.Bool, nil
	case sums(ask, s):
		return synod.Number, nil
	case explains(s), asksMore(s):
		return synod.Prose, nil
	case toWorkOut(s):
		return synod.Math, nil
	case counts(ask, s):
		return synod.Number, nil
	case yesNo(ask, s):
		return synod.Bool, nil
	case names(ask), sorting.MatchString(s) && !deciding.MatchString(s):
		return synod.Text, nil
	}
	return synod.Prose, nil
}

// GuessIn guesses the form of the last text of a conversation as Guess does, with what came before. Where the program
// that asks has said what a reply must look like, the form is Prose. So it is where the text goes on with what was said
// and does not ask by itself: it may answer, or be about something else than it says.
func GuessIn(before []synod.Turn, text string) (form synod.Form, options []synod.Option) {
	talking := false
	for _, t := range before {
		if t.Role == synod.BySystem && !leavesForm(t.Text) {
			return synod.Prose, nil
		}
		talking = talking || t.Role == synod.ByUser || t.Role == synod.ByAssistant
	}
	if talking && (!strings.ContainsAny(text, "?？") || refers.MatchString(strings.ToLower(clean.Fold(text)))) {
		return synod.Prose, nil
	}
	return Guess(text)
}

const (
	maxGuessed = 4000 // bytes of a text that may be a short question
	maxAsk     = 160  // bytes of the sentence that asks for a name, or yes or no
	maxOption  = 200  // bytes of a choice
)

// leavesForm reports whether a system text says nothing about what a reply looks like: every sentence says who the
// assistant is, or how short or kind a reply is to be. All other texts may ask for a form, in any language.
func leavesForm(text string) bool {
	s := strings.ToLower(clean.Fold(text))
	for _, sentence := range sentences(s) {
		if !plainRole.MatchString(sentence) {
			return false
		}
	}
	return true
}

var (
	plainRole = regexp.MustCompile(`^(?:you are (?:an? )?(?:[a-z-]+ ){0,4}?(?:assistant|chatbot|bot|expert|council|` +
		`ai|` +
		`advisor)|(?:please )?(?:be|answer|reply|respond)(?: (?:and|as|very|always|briefly|brief|concise|concisely|` +
		`short|` +
		`helpful|helpfully|honest|honestly|kind|kindly|polite|politely|friendly|accurate|precise|truthful|possible|` +
		`,))+)$`)
	quoted = regexp.MustCompile("[\"“„«][^\"”“»]*[\"”“»]")
	refers = regexp.MustCompile(`\b(?:that|those|these|this|it|them|there|then|more|else|davon|das|cela|eso|questo|` +
		`isso)\b`)
)

// choosing reports whether a text with listed choices asks to choose one of them.
func choosing(ask string, options []synod.Option) bool {
	for _, o := range options {
		if len(o.Text) > maxOption || strings.ContainsAny(strings.TrimRight(o.Text, "?？"), "?？") ||
			strings.HasSuffix(o.Text, "?") && len(options) != 2 {
			return false
		}
	}
	s := strings.TrimSpace(strings.ToLower(clean.Fold(ask)))
	if explains(s) {
		return false
	}
	numbered := options[0].Label == "1"
	return picks.MatchString(s) || !numbered && (strings.HasSuffix(s, "?") || strings.HasSuffix(asking(s), "?") ||
		strings.HasSuffix(s, ":") && len(s) < maxAsk)
}

// sentences cuts a text at the ends of sentences and lines.
func sentences(s string) (all []string) {
	for _, part := range sentenceEnd.Split(s, -1) {
		if part = strings.Trim(part, " \t.,;!¡¿\"'*"); part != "" {
			all = append(all, part)
		}
	}
	return all
}

var sentenceEnd = regexp.MustCompile(`[.!?:]+(?:\s+|$)|[。!?]|\n+`)

// asking returns the sentence that asks, with its question mark: the last one with a question mark, or else the last.
// Greetings and polite phrases before it are left out.
func asking(s string) string {
	end := strings.LastIndexByte(s, '?')
	if end < 0 {
		end = len(strings.TrimRight(s, ".!。 \n"))
	}
	start := 0
	for _, at := range sentenceEnd.FindAllStringIndex(s[:end], -1) {
		if s[at[0]] != ':' && at[1] < end {
			start = max(start, at[1])
		}
	}
	ask := strings.Trim(s[start:min(end+1, len(s))], " .!¡¿\n\"'*")
	return strings.TrimSpace(polite.ReplaceAllString(ask, ""))
}

// explains reports whether a text asks for an explanation, a list, a text or steps.
func explains(s string) bool { return explaining.MatchString(s) }

// asksMore reports whether a text asks for more than one thing.
func asksMore(s string) bool { return strings.Count(s, "?") > 1 || andAlso.MatchString(s) }

// sums reports whether all that is asked is the value of an arithmetic expression.
func sums(ask, s string) bool {
	bare := strings.TrimSpace(strings.TrimRight(ask, "?!. ="))
	led := leadIn.ReplaceAllString(bare, "")
	led = strings.TrimSpace(leadOut.ReplaceAllString(led, ""))
	if !expression.MatchString(led) || !operator.MatchString(led) || dated.MatchString(led) {
		return false
	}
	// Nothing stands around the expression but words that ask for its value and a greeting.
	return len(s) <= len(ask)+40 && (led != bare || strings.ContainsAny(led, "+*=^×÷") || spacedOut.MatchString(led))
}

// counts reports whether a text asks for a number and for nothing else.
func counts(ask, s string) bool {
	switch {
	case advice.MatchString(ask):
		return false
	case howMany.MatchString(ask) && len(ask) <= 2*maxAsk, year.MatchString(ask):
		return true
	}
	return howMuch.MatchString(ask) && len(numerals.FindAllString(s, 3)) >= 2 ||
		percentOf.MatchString(ask) && len(numerals.FindAllString(s, 3)) >= 2
}

// names reports whether a text asks for a name, a date or a word.
func names(ask string) bool {
	plain := quoted.ReplaceAllString(ask, "")
	return naming.MatchString(ask) && len(ask) <= maxAsk && !advice.MatchString(plain) && !matters.MatchString(plain)
}

// toWorkOut reports whether a text asks for the value or another form of a formula that it has.
func toWorkOut(s string) bool {
	return (works.MatchString(s) || works.MatchString(asking(s))) && !texts.MatchString(s) &&
		(tex.MatchString(s) || algebra.MatchString(s))
}

// yesNo reports whether a question about a third thing begins with its verb, or is one in its language, and offers no
// alternatives. What asks for advice, a view or a favour is not.
func yesNo(ask, s string) bool {
	return strings.HasSuffix(s, "?") && len(ask) <= maxAsk && isIt.MatchString(ask) && !advice.MatchString(ask) &&
		!others.MatchString(ask) && !either.MatchString(ask)
}
