package panel

import (
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/protocol/check"
)

// tryParts takes a text apart that is drawn. Every statement is in one part; a block of code is one part, whatever its
// lines say; no other part goes beyond a line, or beyond a sentence.
func tryParts(t *check.Tried) {
	var b strings.Builder
	n := t.Rand.IntN(12)
	if t.Rand.IntN(20) == 0 { // more parts than are judged
		n = 4 * MaxClaims
	}
	for range n {
		b.WriteString(check.Among(t, "Some words. ", "Some words. ", "more", "\n", "\n", "```\n", "```go\n",
			"x := 1.5\n", "e.g. this", " ", "3. item\n", "?! ", "é…",
			strings.Repeat("long ", 1+t.Rand.IntN(maxPart/4))))
	}
	text := b.String()
	parts := partsOf(synod.Answer(text))
	holders := make([]int, len(text)) // by byte: the part, from 1
	for k, p := range parts {
		ok := p.start < p.end && (k == 0 || parts[k-1].end <= p.start) && strings.TrimSpace(text[p.start:p.end]) ==
			text[p.start:p.end]
		if !ok {
			t.Check(false, "%q has the part %v after %v", text, p, parts[:k])
			return
		}
		for i := p.start; i < p.end; i++ {
			holders[i] = k + 1
		}
	}
	for _, r := range regionsOf(text) {
		whole, in := text[r.start:r.end], []int{}
		for i, c := range whole {
			if states(c) {
				in = append(in, holders[r.start+i])
			}
		}
		in = slices.Compact(in)
		t.Check(!slices.Contains(in, 0), "of %q a statement is in no part: %v", text, parts)
		t.Check(!r.code || len(in) <= 1, "the code %q of %q is in the parts %v", whole, text, in)
		for _, k := range in {
			own := k == 0 || r.start <= parts[k-1].start && parts[k-1].end <= r.end
			t.Check(own, "a part goes beyond %q in %q: %v", whole, text, parts)
			t.Check(k == 0 || r.code || !strings.Contains(text[parts[k-1].start:parts[k-1].end], "words. Some"),
				"a part of %q has two sentences: %v", text, parts)
		}
	}
	all := judged(synod.Answer(text))
	short := slices.DeleteFunc(parts, func(p part) bool {
		s := text[p.start:p.end]
		return len(s) > maxPart || len(clean.Fold(s)) > maxPart
	})
	t.Check(slices.Equal(all, short[:min(len(short), MaxClaims)]), "of %q are judged %v, and it has %v", text, all,
		short)
}

// region is a line of a text, or a block of code.
type region struct {
	part
	code bool
}

// regionsOf returns the lines outside of blocks of code, and the blocks.
func regionsOf(text string) (all []region) {
	at, open := 0, -1
	for _, line := range strings.SplitAfter(text, "\n") {
		end := at + len(line)
		switch fence := strings.HasPrefix(strings.TrimSpace(line), "```"); {
		case fence && open >= 0:
			all, open = append(all, region{part{open, end}, true}), -1
		case fence:
			open = at
		case open < 0:
			all = append(all, region{part{at, end}, false})
		}
		at = end
	}
	if open >= 0 { // it has no end
		all = append(all, region{part{open, len(text)}, true})
	}
	return all
}
