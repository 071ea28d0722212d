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

// withstood counts questions by the largest k that their decision withstands.
type withstood struct {
	n                int
	known            bool // it was known of a decision
	ignored, changed []bucket
}

// bucket counts the decisions that withstand exactly k, and the right ones among them.
type bucket struct{ decided, right int }

func (w *withstood) add(c *Case, right bool) {
	w.n++
	if c.Withstands == nil {
		return
	}
	w.known = true
	w.ignored = fill(w.ignored, c.Withstands.Ignored, right)
	w.changed = fill(w.changed, c.Withstands.Changed, right)
}

func fill(buckets []bucket, k int, right bool) []bucket {
	for len(buckets) <= k {
		buckets = append(buckets, bucket{})
	}
	buckets[k].decided++
	buckets[k].right += toInt(right)
	return buckets
}

// curve returns the shares by k, from 0 to the largest k that a decision withstands.
func (w *withstood) curve() []Withstood {
	if !w.known {
		return nil
	}
	curve := make([]Withstood, max(len(w.ignored), len(w.changed)))
	var ignored, changed bucket // the decisions that withstand at least k
	for k := len(curve) - 1; k >= 0; k-- {
		ignored.plus(w.ignored, k)
		changed.plus(w.changed, k)
		curve[k] = Withstood{K: k, Ignored: ignored.of(w.n), Changed: changed.of(w.n)}
	}
	return curve
}

func (b *bucket) plus(buckets []bucket, k int) {
	if k < len(buckets) {
		b.decided, b.right = b.decided+buckets[k].decided, b.right+buckets[k].right
	}
}

func (b *bucket) of(n int) Robustness { return Robustness{Share(b.decided, n), Share(b.right, n)} }
