package metrics

// Withstood is the share of graded questions whose decision withstands K answers, and of those whose
// decision also is right. A question without a decision, or whose decision withstands fewer, is in N.
type Withstood struct {
	K       int        `json:"k"`
	Ignored Robustness `json:"ignored"` // the decision stays when any K answers are ignored
	Changed Robustness `json:"changed"` // it stays whatever any K members say instead
}

// Robustness is the shares of questions that are decided, and decided rightly.
type Robustness struct {
	Decided *Rate `json:"decided"`
	Right   *Rate `json:"right"`
}

// withstood counts questions by what their decision withstands.
type withstood struct {
	known            bool // it was known of a decision
	ignored, changed withstoodCounts
}

// withstoodCounts has, for each k that some decision withstands, the decisions that do and the right ones among them.
type withstoodCounts struct {
	atLeast []robustness
	none    count // all questions, none of which withstands the next k
}

type robustness struct{ decided, right count }

func (w *withstood) add(q question, c *GradedQuestion, right bool) {
	ignored, changed := -1, -1
	if c.Withstands != nil {
		w.known, ignored, changed = true, c.Withstands.Ignored, c.Withstands.Changed
	}
	w.ignored.add(q, ignored, right)
	w.changed.add(q, changed, right)
}

// add counts a question whose decision withstands at most k answers; -1: none, or there is no decision.
func (w *withstoodCounts) add(q question, k int, right bool) {
	for len(w.atLeast) <= k {
		w.atLeast = append(w.atLeast, robustness{w.none, w.none})
	}
	for i := range w.atLeast {
		w.atLeast[i].decided.add(q, i <= k, true)
		w.atLeast[i].right.add(q, i <= k && right, true)
	}
	w.none.add(q, false, true)
}

func (w *withstoodCounts) rates(k int) Robustness {
	if k >= len(w.atLeast) {
		return Robustness{w.none.rate(), w.none.rate()}
	}
	return Robustness{w.atLeast[k].decided.rate(), w.atLeast[k].right.rate()}
}

// curve returns the shares by k, from 0 to the largest k that a decision withstands.
func (w *withstood) curve() []Withstood {
	if !w.known {
		return nil
	}
	curve := make([]Withstood, max(len(w.ignored.atLeast), len(w.changed.atLeast)))
	for k := range curve {
		curve[k] = Withstood{K: k, Ignored: w.ignored.rates(k), Changed: w.changed.rates(k)}
	}
	return curve
}
