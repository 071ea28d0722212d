package broadcast

import (
	"fmt"
	"testing"

	"synod.dev/synod/core/sign"
)

// TestOneSeedOneRun: 50 runs with one seed are equal, also under attack, and a run with real
// keys delivers the same as with symbolic ones.
func TestOneSeedOneRun(t *testing.T) {
	for _, seed := range []uint64{3, 4, 12} {
		record := func(real bool) string {
			x := synchronous(seed)
			if real {
				x.keys = sign.Derive(seed, x.n+x.outside)
			}
			s := ""
			for _, h := range x.run().held {
				s += fmt.Sprint(h.id, h.at)
				for _, d := range h.deliveries {
					s += show(d) + fmt.Sprint(d.Unsafe, d.Evidence != nil)
				}
			}
			return s
		}
		first := record(false)
		for range 49 {
			if again := record(false); again != first {
				t.Fatalf("seed %d: %s, then %s", seed, first, again)
			}
		}
		if keys := record(true); keys != first {
			t.Errorf("seed %d: with real keys %s, with symbolic ones %s", seed, keys, first)
		}
	}
}

// TestRealKeys repeats a sample of the campaign with real keys.
func TestRealKeys(t *testing.T) {
	l := &findings{map[string]string{}, map[string]int{}}
	for i := range uint64(max(10, *executions/1000)) {
		x := synchronous(*firstSeed + i)
		x.keys = sign.Derive(*firstSeed+i, x.n+x.outside)
		r := x.run()
		l.synchrony(x, r)
		l.always(x, r)
	}
	for label, why := range l.violated {
		t.Errorf("%s: %s", label, why)
	}
}

// BenchmarkDolevStrong measures complete executions, with honest senders or one that equivocates.
func BenchmarkDolevStrong(b *testing.B) {
	for _, c := range []struct {
		name        string
		n, f        int
		senders     int
		forgedValue bool
	}{{"n=4,f=1,one sender", 4, 1, 1, false}, {"n=4,f=1,equivocating", 4, 1, 1, true},
		{"n=7,f=2,seven senders", 7, 2, 7, false}} {
		for _, keys := range []string{"symbolic", "ed25519"} {
			b.Run(c.name+"/"+keys, func(b *testing.B) {
				x := &trial{n: c.n, f: c.f, byzantine: make([]bool, c.n), seed: 1}
				x.senders = x.group().Members[:c.senders]
				if c.forgedValue {
					x.byzantine[0], x.act = true, scripted(-1)
				}
				x.keys = sign.DeriveSymbolic(1, c.n)
				if keys == "ed25519" {
					x.keys = sign.Derive(1, c.n)
				}
				b.ReportAllocs()
				for b.Loop() {
					if r := x.run(); len(r.held) < c.n-1 {
						b.Fatal("not everyone delivers")
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
			})
		}
	}
}
