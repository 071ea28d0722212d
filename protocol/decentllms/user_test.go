package decentllms

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
)

// [DL-7] [I-DL-3] What the user makes of seven evaluators' replies, f = 2: "A" is a
// signed reply of A, "-" a signed reply of no decision, "." one that is not signed.
func TestDL3Accept(t *testing.T) {
	cast := append(slices.Repeat([]synod.Role{Worker}, 2), slices.Repeat([]synod.Role{Evaluator}, 7)...)
	keys := sign.DeriveSymbolic(1, len(cast))
	for replies, want := range map[string]struct {
		answer synod.Answer
		enough bool
		why    string
	}{
		"AAAAAAA": {"A", true, "7 of 7 evaluators reply with it, signed; the user takes f+1 = 3 identical ones"},
		"AAA....": {"A", true, "3 of 7 evaluators reply with it, signed; the user takes f+1 = 3 identical ones"},
		"AAABBCD": {"A", true, "3 of 7 evaluators reply with it, signed; the user takes f+1 = 3 identical ones"},
		"AA.....": {"", false, "only 2 of 7 evaluators sent a signed reply; f+1 = 3 are needed"},
		"AABBCCD": {"", true, "no f+1 = 3 of 7 signed replies are identical: more than f = 2 evaluators err, or " +
			"rounds were too short"},
		"AAABBB.": {"", true, "two replies have f+1 = 3 signatures: more than f = 2 evaluators err, or rounds were " +
			"too short"},
		"-----AA": {"", true, "5 evaluators reply, signed, that there is no decision: no marks"},
	} {
		last := make([]synod.Opinion, len(cast))
		for i := range last[2:] {
			o, id := &last[2+i], synod.NodeID(2+i)
			if replies[i] == '.' {
				*o = synod.Opinion{Answer: "A", Record: &Record{Signature: keys.Signer(id, run).Sign(ReplyBytes("B"))}}
				continue
			}
			r := &Record{}
			o.Record = r
			if o.Answer = synod.Answer(replies[i]); o.Answer == "-" {
				o.Answer, r.Undecided = synod.None, "no marks"
			}
			r.Signature = keys.Signer(id, run).Sign(ReplyBytes(o.Answer))
		}
		a, enough, why := New().Accept(last, cast, 2, keys.Verifier(run))
		if a != want.answer || enough != want.enough || why != want.why {
			t.Errorf("%s: %q, %v, %s", replies, a, enough, why)
		}
	}
}

// exact: paper grades all answers in one call, takes the geometric median, and needs
// f ≤ ⌊(N−1)/2⌋, as the paper says of the geometric median (§III.C.3) and shows (Fig. 8: six of fourteen). Its
// assumption f < ⌊(N−1)/2⌋ (§III.A) would refuse that figure. Krum's bound is the one that was proved; the paper has
// one more for an even number of evaluators (§III.C.3), which Exact says.
func TestPaperChoices(t *testing.T) {
	p := New()
	p.Aggregate = "median-total"
	p.Paper()
	if p.Judge != All || p.Aggregate != "geometric-median" || !p.Exact {
		t.Errorf("%+v", p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	for evaluators := 1; evaluators <= 13; evaluators++ {
		cast := append(slices.Repeat([]synod.Role{Worker}, 2),
			slices.Repeat([]synod.Role{Evaluator}, evaluators)...)
		for f := range evaluators {
			err := p.CheckCast(cast, f)
			if want := f <= (evaluators-1)/2; (err == nil) != want {
				t.Errorf("exact: %d evaluators, f = %d: %v", evaluators, f, err)
			}
			if err := New().CheckCast(cast, f); (err == nil) != (f <= (evaluators-1)/2) {
				t.Errorf("%d evaluators, f = %d: %v", evaluators, f, err)
			}
			p.Aggregate = "krum"
			err, most := p.CheckCast(cast, f), (evaluators-2)/2
			if evaluators%2 == 0 {
				most--
			}
			if (err == nil) != (evaluators > 2 && f <= most) {
				t.Errorf("krum: %d evaluators, f = %d: %v", evaluators, f, err)
			}
			p.Aggregate = "geometric-median"
		}
	}
	if !strings.Contains(Exact, "Krum of n evaluators, n even") {
		t.Error("the bound of Krum is not named as a difference")
	}
}
