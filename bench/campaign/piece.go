package campaign

import (
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// piece is an execution of something that protocols rest on, such as signatures or the judge. It has no machines and
// no faults of the catalogue: it draws cases from its seed, and compares what the code makes of them with a slow twin
// (internal/reference) or with what must hold.
type piece struct {
	*trace
	rand *rand.Rand
}

// pieceSubject has executions of a piece, each with up to eight operations.
func pieceSubject(name string, share float64, states []string, play func(p *piece), claims ...string) *subject {
	return &subject{
		Subject: check.Subject{Name: name, Share: share, States: states}, bare: true,
		claims: claimsOf(append(claims, claimCrash, claimSame)...),
		setup: func(c chance, x *Execution) {
			x.N, x.Operations = 1+c.IntN(7), 1+c.IntN(8)
		},
		horizon: func(x *Execution) synod.Tick { return synod.Tick(x.Operations) },
		disk: func(t *trace) {
			p := &piece{t, rand.New(rand.NewPCG(t.x.Seed, hashText(0x91ece, name)))}
			for range t.x.Operations {
				play(p)
			}
			t.first = p.rand.Uint64() // a second play that took another way draws another number
		},
	}
}

// one reports whether something happens that happens once in k times.
func (p *piece) one(k int) bool { return p.rand.IntN(k) == 0 }

// bytes draws some bytes.
func (p *piece) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(p.rand.Uint32())
	}
	return b
}

// among draws one of several.
func among[T any](p *piece, all ...T) T { return all[p.rand.IntN(len(all))] }
