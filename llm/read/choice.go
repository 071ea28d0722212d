package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// canonChoice finds the option that s names by its label, its text, or both. It returns false if two options
// are possible, and if other words follow the label; with bare set, these are ignored.
func canonChoice(options []synod.Option, s string, bare bool) (string, bool) {
	s = notation.Unwrap(s)
	if i := byLabel(options, s); i >= 0 {
		return options[i].Label, true
	}
	if label, rest := cutLabel(s); strings.Trim(rest,
		" .") == "" { // (E) is a label even if the text of an option is "E"
		if i := byLabel(options, label); i >= 0 {
			return options[i].Label, true
		}
	}
	text, _ := canonText(s)
	if i := byText(options, text); i >= 0 {
		return options[i].Label, true
	}
	named := s
	for _, word := range []string{"option", "choice", "answer"} {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			named = strings.TrimLeft(s[len(word):], " :")
		}
	}
	label, rest := cutLabel(named)
	i := byLabel(options, label)
	if i < 0 {
		if i = byNumber(options, label); i < 0 {
			return "", false
		}
	}
	if namesAnother(options, rest, i) || !bare && !repeats(options, rest, i) {
		return "", false
	}
	return options[i].Label, true
}

// labelled reads a label and just the text of its option, with a dash, a bracket or only a space between them.
func labelled(options []synod.Option, s string) (string, bool) {
	for _, o := range options {
		rest, ok := strings.CutPrefix(s, o.Label)
		text := strings.Trim(rest, " -\u2013\u2014().")
		if !ok || o.Label == "" || text == rest { // nothing stands between label and text
			continue
		}
		said, _ := canonText(text)
		if own, fine := canonText(clean.Collapse(clean.Fold(o.Text))); fine && said == own {
			return o.Label, true
		}
	}
	return "", false
}

// otherLabel reports that s begins with the label of another option than it names: "A Paris" if Paris is B. An
// option's whole text may begin with a word that is a label.
func otherLabel(options []synod.Option, s, label string) bool {
	other := false
	for _, o := range options {
		if strings.EqualFold(s, o.Text) {
			return false
		}
		other = other || o.Label != "" && o.Label != label && strings.HasPrefix(s, o.Label+" ")
	}
	return other
}

// repeats reports whether the text after the label of option i is empty, the beginning of the option's own
// text, or its label again.
func repeats(options []synod.Option, rest string, i int) bool {
	rest = strings.Trim(endToken.ReplaceAllString(rest, ""), " .,;:)*_")
	if rest == "" {
		return true
	}
	text, _ := canonText(rest)
	own, _ := canonText(clean.Collapse(clean.Fold(options[i].Text)))
	label, more := cutLabel(rest)
	return text != "" && strings.HasPrefix(own, text) || byLabel(options, label) == i && strings.Trim(more, " .") == ""
}

// endToken matches the token with which some models end a reply.
var endToken = regexp.MustCompile(`< ?/?\|?(?:EOS_TOKEN|eos|s|im_end|eot_id|endoftext|end)\|? ?>$`)

// namesAnother reports whether the text after the label of option i names another option, as in "A, B".
func namesAnother(options []synod.Option, rest string, i int) bool {
	text, _ := canonText(rest)
	if text == "" {
		return false
	}
	if j := byText(options, text); j >= 0 {
		return j != i
	}
	label, more := cutLabel(strings.TrimSpace(rest))
	j := byLabel(options, label)
	return j >= 0 && j != i && strings.Trim(more, " .") == ""
}

// byLabel returns the index of the option with that label, or -1. Letter case matters only if labels differ by
// nothing else.
func byLabel(options []synod.Option, label string) int {
	found := -1
	for i, o := range options {
		switch {
		case o.Label == "":
		case o.Label == label:
			return i
		case strings.EqualFold(o.Label, label), strings.EqualFold(squeeze(o.Label), squeeze(label)):
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// byText returns the index of the only option with that canonical text, or -1.
func byText(options []synod.Option, text string) int {
	found := -1
	for i, o := range options {
		if t, ok := canonText(clean.Collapse(clean.Fold(o.Text))); ok && t == text {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// byNumber reads "2" as "option2" if all labels are one word and a number. It returns -1 otherwise.
func byNumber(options []synod.Option, n string) int {
	if n == "" || strings.Trim(n, "0123456789") != "" {
		return -1
	}
	for i, o := range options {
		if word := strings.TrimRight(o.Label, "0123456789"); word != "" && o.Label == word+n {
			for _, p := range options {
				if strings.TrimRight(p.Label, "0123456789") != word {
					return -1
				}
			}
			return i
		}
	}
	return -1
}

// cutLabel cuts a label from the start of s: (B) rest, B) rest, B. rest, B: rest, [B], B.
func cutLabel(s string) (label, rest string) {
	s = strings.TrimLeft(s, " *_\"'`")
	for _, pair := range []string{"()", "[]"} {
		if s != "" && s[0] == pair[0] {
			label, rest, ok := strings.Cut(s[1:], pair[1:])
			if !ok {
				return "", ""
			}
			return notation.Unwrap(label), rest
		}
	}
	if i := strings.IndexAny(s, ").:,;*"); i >= 0 {
		return notation.Unwrap(s[:i]), s[i+1:]
	}
	return notation.Unwrap(s), ""
}
