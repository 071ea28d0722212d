package decentllms

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/protocol/grade"
)

// A sample of the campaign with real keys comes to the same records.
func TestRealKeys(t *testing.T) {
	l := &ledger{map[string]string{}, map[string]int{}}
	for i := range uint64(max(5, *executions/2000)) {
		x := drawn(*firstSeed + i)
		x.keys = sign.Derive(x.seed, x.w+x.e)
		l.judge(x, x.play())
	}
	for label, why := range l.violated {
		t.Errorf("%s: %s", label, why)
	}
}

// BenchmarkDecision is whole decisions by members that cost nothing.
func BenchmarkDecision(b *testing.B) {
	for _, size := range []struct{ w, e, f int }{{3, 4, 1}, {9, 8, 3}} {
		for _, kind := range []string{"symbolic", "ed25519"} {
			b.Run(fmt.Sprintf("w=%d,e=%d,f=%d/%s", size.w, size.e, size.f, kind), func(b *testing.B) {
				x := &trial{w: size.w, e: size.e, f: size.f, p: New(), seed: 1}
				x.grade = func(by synod.NodeID, a synod.Answer) grade.Grades {
					m := float64(len(a)+int(a[0]-'0')) + float64(by%3)
					return grade.Grades{m, m + 1, m + 2, m, m + 0.5}
				}
				if kind == "ed25519" {
					x.keys = sign.Derive(1, x.w+x.e)
				}
				b.ReportAllocs()
				for b.Loop() {
					if o := x.play(); len(o.held) != x.e {
						b.Fatal("not every evaluator replies")
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			})
		}
	}
}
