package read

import (
	"regexp"
	"strings"
	"unicode"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/read/notation"
)

// Guess guesses the form of the answer to a question that a person typed, and finds its choices. Callers let
// people choose the form explicitly. ask is the text without the list of choices, or the whole text if there
// is no list or if the question is incomplete without it.
//
// Listed choices give Choice; LaTeX or a task of algebra gives Math; "how many" and the like, or arithmetic,
// give Number; a question that begins with its verb gives Bool; everything else is Text.
func Guess(text string) (ask string, form synod.Form, options []synod.Option) {
	if ask, options = findOptions(text); options != nil {
		return ask, synod.Choice, options
	}
	return text, guessForm(text), nil
}

func guessForm(text string) synod.Form {
	s := strings.ToLower(clean.Fold(text))
	ask := asking(s)
	switch {
	case trueFalse.MatchString(s):
		return synod.Bool
	case counting.MatchString(ask) && !countingTex.MatchString(ask):
		return synod.Number
	case tex.MatchString(text), algebra.MatchString(ask):
		return synod.Math
	case arithmetic.MatchString(ask), quantity.MatchString(ask):
		return synod.Number
	case yesNo(ask):
		return synod.Bool
	}
	return synod.Text
}

// WantsProse guesses whether a question wants more than a few words: an explanation, a comparison, a letter, a
// program. It is for questions that Guess takes for Text.
func WantsProse(text string) bool {
	s := asking(strings.ToLower(clean.Fold(text)))
	return wantsProse.MatchString(s) || creates.MatchString(s) || tells.MatchString(strings.ToLower(clean.Fold(text)))
}

var (
	wantsProse = regexp.MustCompile(`^(?:(?:briefly|shortly|in detail|step by step),? )?(?:explain|describe|summari[sz]e|` +
		`discuss|outline|compare|contrast|elaborate|analy[sz]e|review|critique|rewrite|proofread|argue|advise|justify|` +
		`interpret|illustrate|why|how (?:do|does|did|can|could|should|would|to|is|are|was|were|come)\b)\b|` +
		`^what (?:is|are|were|was) the (?:\w+ ){0,2}?(?:differences?|advantages|disadvantages|pros|cons|causes|reasons|` +
		`steps|consequences|effects|arguments|benefits|risks|implications)\b|^what (?:happens|would happen|led to)\b|` +
		`^(?:tell|teach) (?:me|us) (?:about|how|why|more)\b|` +
		`^(?:give|show) (?:me |us )?(?:an?|some|the) (?:\w+ ){0,2}?(?:overview|explanation|summary|introduction|plan|` +
		`recipe|guide|advice|example|proof|tutorial)\b`)
	tells = regexp.MustCompile(`(?:^|[.?!] |\b(?:can|could|will|would) you (?:please )?|\bplease )` +
		`(?:explain|describe|tell (?:me|us) (?:about|how|why|more))\b`)
	creates = regexp.MustCompile(`^(?:write|draft|compose|create|generate|prepare|make|implement) (?:me |us )?(?:an?|the|` +
		`some|my|our)? ?(?:[\w'-]+ ){0,4}?(?:essay|poem|story|letter|e-?mail|paragraphs?|post|report|code|function|script|` +
		`program|article|speech|song|review|summary|reply|answer to|text|page|class|test|documentation|readme|plan)\b`)
)

var (
	trueFalse   = regexp.MustCompile(`\btrue or false\b|\byes or no\b|\btrue/false\b|\byes/no\b|\(t/f\)`)
	counting    = regexp.MustCompile(`\bhow (?:many|much|old|far|tall|long|fast|heavy|deep|wide|high|often)\b`)
	countingTex = regexp.MustCompile(`\bin terms of\b|\bexpress\b`)
	tex         = regexp.MustCompile(`\\(?:\(|\[|[a-zA-Z]{2,})|\$\$|\$[^$\s](?:[^$\n]*[^$\s\n])?\$(?:[^0-9]|$)`)
	algebra     = regexp.MustCompile(`\b(?:simplify|factor(?:ise|ize)?|expand|differentiate|integrate|derivative|integral|antiderivative|solve for|in terms of|roots of)\b|\b[a-z]\^[0-9a-z(]|\b[a-z]\s*=\s*[0-9a-z(]|\b[0-9]+[xy]\b`)
	arithmetic  = regexp.MustCompile(`[0-9)]\s*(?:[+*/^×÷−]|-|\bplus\b|\bminus\b|\btimes\b|\bmod(?:ulo)?\b|\bdivided by\b|\bmultiplied by\b|\bto the power\b|\bx\b)\s*[-(]?[0-9]`)
	quantity    = regexp.MustCompile(`\b(?:what|which) (?:year|percent|percentage|number|age|temperature)\b|` +
		`\bwhat(?: is|'s| was| are) the (?:\w+ ){0,2}?(?:number|sum|product|difference|quotient|total|average|mean|median|mode|probability|percentage|percent|area|perimeter|circumference|volume|length|width|height|distance|speed|price|cost|value|population|square root|cube root|remainder|gcd|lcm|year|temperature|factorial)\b|` +
		`^(?:compute|calculate|evaluate|count)\b|\bin what year\b|\bfind the (?:\w+ ){0,2}?(?:number|sum|product|total|value|area|perimeter|volume|probability|remainder)\b|` +
		`\b(?:square|cube) root of [0-9]`)
	verbs  = regexp.MustCompile(`^(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|has|have|had|may|might|must|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't|shouldn't|hasn't|haven't)\b`)
	polite = regexp.MustCompile(`^(?:(?:please|hey|hi|hello|so|ok|okay|well|and|but)[, ]+)*(?:(?:can|could|would|will) you (?:please )?(?:tell me|explain|say|give me|give|compute|calculate|find|work out|name|list|write|describe|help me|solve|show me)\b(?: (?:if|whether) )?|please (?:tell me )?|tell me |i (?:want|would like) to know )`)
)

// asking returns the part of a text that asks: its last sentence with a question mark, or else its last
// sentence, without polite phrases before it.
func asking(s string) string {
	s = strings.TrimSpace(s)
	end := strings.LastIndexByte(s, '?')
	if end < 0 {
		end = len(strings.TrimRight(s, ".! \n"))
	}
	start := 0
	for _, stop := range []string{". ", "? ", "! ", "\n", ".\n"} {
		start = max(start, strings.LastIndex(s[:end], stop)+1)
	}
	ask := strings.Trim(s[start:end], " .?!\n\"'*")
	if m := polite.FindString(ask); m != "" {
		rest := strings.TrimSpace(ask[len(m):])
		if strings.HasSuffix(m, "if ") || strings.HasSuffix(m, "whether ") {
			return "is " + rest
		}
		if verb := strings.Fields(m); len(verb) > 2 && quantity.MatchString(verb[len(verb)-1]+" ") {
			return verb[len(verb)-1] + " " + rest
		}
		return rest
	}
	return ask
}

// yesNo reports that a question begins with its verb and offers no alternatives.
func yesNo(ask string) bool {
	if i := strings.LastIndex(ask, ", "); i >= 0 && !verbs.MatchString(ask) { // "In France, is it legal …"
		ask = ask[i+2:]
	}
	return verbs.MatchString(ask) && !strings.Contains(strings.ReplaceAll(ask, " or not", ""), " or ")
}

// listed match the ways in which people list choices, the clearest first. The only group of each is the label.
var listed = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^[ \t*\-]*\(([A-Za-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?m)^[ \t*\-]*([A-Z]|[a-z]|[0-9]{1,2})[).:][ \t]+`),
	regexp.MustCompile(`(?:^|[\s,;:?])\(([A-Za-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?:^|[\s,;:?])([A-Z]|[a-z]|[0-9]{1,2})\)[ \t]*`),
	regexp.MustCompile(`(?:^|[\s,;])((?:(?i)option|answer|solution|ending|choice) ?[0-9]{1,2}):[ \t]*`),
}

// findOptions finds choices whose labels count up from A, a or 1, and the text around them.
func findOptions(text string) (string, []synod.Option) {
	read := clean.Head(text, maxRead)
	for _, re := range listed {
		marks := re.FindAllStringSubmatchIndex(read, -1)
		if len(marks) > 200 {
			marks = marks[:200]
		}
		for i := range marks {
			if o, end := run(read, marks[i:]); o != nil {
				return around(text, marks[i][2], end), o
			}
		}
	}
	return "", nil
}

// around returns text without the list between start and end. A list inside a sentence stays, because the rest
// would be incomplete.
func around(text string, start, end int) string {
	before := strings.TrimRight(text[:start], " \t*-(")
	ownLine := strings.HasSuffix(before, "\n")
	before = strings.TrimRight(before, " \t\r\n,;")
	if before == "" || !ownLine && !strings.HasSuffix(before, "?") && !strings.HasSuffix(before, ":") &&
		!strings.HasSuffix(before, ".") {
		return text
	}
	if after := strings.TrimSpace(text[end:]); after != "" {
		return before + "\n\n" + after
	}
	return before
}

// run reads options from the first mark on, as long as the labels count up. end is where the last one ends.
func run(text string, marks [][]int) (options []synod.Option, end int) {
	label := func(i int) string { return text[marks[i][2]:marks[i][3]] }
	if !firstLabel(label(0)) {
		return nil, 0
	}
	n := 1
	for n < len(marks) && follows(label(n-1), label(n)) {
		n++
	}
	if n < 2 {
		return nil, 0
	}
	options = make([]synod.Option, n)
	for i := range options {
		end = len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		words := text[marks[i][1]:end]
		if i == n-1 { // the last one ends with its line
			lead := len(words) - len(strings.TrimLeftFunc(words, unicode.IsSpace))
			words, _, _ = strings.Cut(words[lead:], "\n")
			end = marks[i][1] + lead + len(words)
		}
		words = strings.TrimRight(clean.Collapse(words), " ,;")
		words = strings.TrimRight(strings.TrimSuffix(words, " or"), " ,;")
		if words == "" {
			return nil, 0
		}
		options[i] = synod.Option{Label: strings.ToUpper(label(i)), Text: words}
		if len(label(i)) > 2 {
			options[i].Label = squeeze(strings.ToLower(label(i)))
		}
	}
	return options, end
}

func firstLabel(l string) bool {
	l = strings.ToUpper(l)
	return l == "A" || strings.TrimLeft(l, "OPTINASWERLUDGCH ") == "1"
}

// follows reports whether label b follows label a directly: B after A, 10 after 9.
func follows(a, b string) bool {
	word := strings.TrimRight(a, "0123456789")
	if word == a {
		return len(a) == 1 && len(b) == 1 && b[0] == a[0]+1
	}
	rest, same := strings.CutPrefix(b, word)
	return same && number(rest) == number(a[len(word):])+1
}

func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		if !notation.IsDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}
