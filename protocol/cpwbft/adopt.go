package cpwbft

import (
	"cmp"
	"slices"

	"synod.dev/synod"
)

// rules are what a member makes of its own word and its neighbours'.
var rules = map[Adopt]func(own Stated, heard []Stated) Stated{
	Surest: surest, Pooled: pooled, ByNumber: byNumber,
	Nothing: func(own Stated, _ []Stated) Stated { return own },
}

// surest is the paper's rule: the neighbour with the highest confidence, if that
// is above one's own. Of two alike the answer that is first in canonical bytes.
func surest(own Stated, heard []Stated) Stated {
	if len(heard) == 0 {
		return own
	}
	best := slices.MaxFunc(heard, func(a, b Stated) int {
		return cmp.Or(cmp.Compare(nanos(a.Confidence), nanos(b.Confidence)), cmp.Compare(b.Answer, a.Answer))
	})
	if own.Answer != synod.None && nanos(best.Confidence) <= nanos(own.Confidence) {
		return own
	}
	return best
}

// pooled is the reference code's rule: Eq. 4 over oneself and one's neighbours. An
// answer that is taken over is held with its mean, one's own with one's own.
func pooled(own Stated, heard []Stated) Stated {
	best := Consensus(append(slices.Clone(heard), own), Everyone)
	if best.Answer == own.Answer {
		return own
	}
	return best
}

// byNumber is the pilot's traditional agent: the answer that more of oneself and
// one's neighbours hold than any other, and one's own where two lead alike.
func byNumber(own Stated, heard []Stated) Stated {
	lead, tie := camp{}, false
	for _, c := range campsOf(append(slices.Clone(heard), own), false) {
		switch {
		case c.n > lead.n:
			lead, tie = c, false
		case c.n == lead.n:
			tie = true
		}
	}
	if tie || lead.n == 0 || lead.answer == own.Answer {
		return own
	}
	return Stated{lead.answer, lead.mean()}
}
