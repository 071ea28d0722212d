package sign

import (
	"bytes"
	"testing"

	"synod.dev/synod"
)

// Symbolic keys check what real ones check: the key, the type, the payload, the run, the committee and the data.
func TestSymbols(t *testing.T) {
	secret, err := Generate(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	other, err := Generate(bytes.NewReader(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	symbols := NewSymbols()
	type key interface {
		PublicKey() []byte
		SignEnvelope(payloadType string, payload []byte) []byte
		SignRun(c Committee, in Instance, data []byte) []byte
	}
	for name, x := range map[string]struct {
		keys     Keys
		own, not key
	}{
		"ed25519":  {Ed25519, secret, other},
		"symbolic": {symbols, symbols.Key([]byte("a")), symbols.Key([]byte("b"))},
	} {
		c, err := NewCommittee([][]byte{x.own.PublicKey(), x.not.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		p, sig := x.own.PublicKey(), x.own.SignEnvelope("t", []byte("text"))
		if !x.keys.Envelope(p, "t", []byte("text"), sig) || x.keys.Envelope(p, "u", []byte("text"), sig) ||
			x.keys.Envelope(p, "t", []byte("tex"), sig) ||
			x.keys.Envelope(x.not.PublicKey(), "t", []byte("text"), sig) {
			t.Errorf("%s: signatures of envelopes are not bound", name)
		}
		sig = x.own.SignRun(c, "run", []byte("data"))
		verify := func(c Committee, in Instance, by synod.NodeID, data string) bool {
			return x.keys.Run(c, in).Verify(by, []byte(data), sig)
		}
		swapped := Committee{c[1], c[0]}
		if !verify(c, "run", 0, "data") || verify(c, "run", 1, "data") || verify(c, "other", 0, "data") ||
			verify(c, "run", 0, "date") || verify(swapped, "run", 1, "data") || verify(c, "run", 2, "data") {
			t.Errorf("%s: signatures of runs are not bound", name)
		}
	}
}
