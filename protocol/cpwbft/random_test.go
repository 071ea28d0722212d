package cpwbft_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/protocol/cpwbft"
)

// With probe: random a confidence comes from the seat's seed and not from the member: a member that is sure convinces
// no one more often than the others, in the same run always the same.
func TestRandomConfidence(t *testing.T) {
	p := cpwbft.New()
	p.Probe = cpwbft.RandomProbe
	minds := []mind{{"right", 1}, {"wrong", 0}, {"wrong", 0}, {"wrong", 0}}
	var complete graph.Graph = build(t, "complete", 1).Graph
	for len(minds) < complete.N() {
		minds = append(minds, mind{"wrong", 0})
	}
	first, last := council{protocol: p, graph: complete, minds: minds}.run(t)
	again, _ := council{protocol: p, graph: complete, minds: minds}.run(t)
	surest, seen := 0, map[float64]bool{}
	for i, o := range first {
		switch {
		case o.Confidence == nil || *o.Confidence < 0 || *o.Confidence >= 1 || *o.Confidence == minds[i].sure:
			t.Fatalf("member %d: confidence %v", i, o.Confidence)
		case *o.Confidence != *again[i].Confidence:
			t.Errorf("member %d: %v in one run and %v in another", i, *o.Confidence, *again[i].Confidence)
		case *o.Confidence > *first[surest].Confidence:
			surest = i
		}
		seen[*o.Confidence] = true
	}
	if len(seen) != len(minds) {
		t.Errorf("%d of %d members drew different confidences", len(seen), len(minds))
	}
	for i, o := range last {
		if o.Answer != first[surest].Answer {
			t.Errorf("member %d holds %q, and the surest said %q", i, o.Answer, first[surest].Answer)
		}
	}
	if p.ConfidenceMode() != synod.NoConfidence {
		t.Error("the model is asked for a confidence")
	}
}
