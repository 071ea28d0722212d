package reference

import (
	"slices"
	"strings"

	"synod.dev/synod"
)

// Echoes finds texts that repeat what others have said before, as the defence drop-echoes does: of the runs of eight
// words in a text, at least every third was first said in an earlier round, and not by its sender. Words are compared
// without case and without punctuation at their ends.
type Echoes struct {
	first map[string][]synod.NodeID // who first said a run of words, all in one round
}

// Said is a text and who sent it.
type Said struct {
	From synod.NodeID
	Text string
}

// Hear returns which texts of a round are echoes, and remembers all of them.
func (e *Echoes) Hear(round []Said) (echoes []bool) {
	now := map[string][]synod.NodeID{}
	for _, s := range round {
		runs := runsOf(s.Text)
		repeated := 0
		for _, r := range runs {
			repeated += count1(len(e.first[r]) > 0 && !slices.Contains(e.first[r], s.From))
			now[r] = append(now[r], s.From)
		}
		echoes = append(echoes, len(runs) > 0 && 3*repeated >= len(runs))
	}
	if e.first == nil {
		e.first = map[string][]synod.NodeID{}
	}
	for r, by := range now {
		if e.first[r] == nil {
			e.first[r] = by
		}
	}
	return echoes
}

// runsOf returns all runs of eight words of a text.
func runsOf(text string) (runs []string) {
	var words []string
	for _, w := range strings.Fields(strings.ToLower(text)) {
		words = append(words, strings.Trim(w, `.,;:!?"'()`))
	}
	for i := 0; i+8 <= len(words); i++ {
		runs = append(runs, strings.Join(words[i:i+8], " "))
	}
	return runs
}
