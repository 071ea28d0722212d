package sign_test

import (
	"encoding/hex"
	"testing"

	"synod.dev/synod/core/sign"
)

// A signature of an envelope covers its type, and keys for which everybody can sign are
// refused.
func TestEnvelope(t *testing.T) {
	s, err := sign.ParseSecret("synod-secret-" + hex.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	key, sig := s.PublicKey(), s.SignEnvelope("a", []byte("text"))
	if !sign.VerifyEnvelope(key, "a", []byte("text"), sig) {
		t.Error("a valid signature is refused")
	}
	if sign.VerifyEnvelope(key, "b", []byte("text"), sig) || sign.VerifyEnvelope(key, "a", []byte("tex"), sig) {
		t.Error("the type or the text can be changed")
	}
	for _, small := range []string{"00", "01", "ec", "ed", "ee"} {
		fill := "00"
		if small > "01" {
			fill = "ff"
		}
		for _, top := range []string{fill, "80", "7f"} {
			text := small
			for range 30 {
				text += fill
			}
			k, _ := hex.DecodeString(text + top)
			if k[31]&0x7f == map[string]byte{"00": 0, "ff": 0x7f}[fill] && sign.CheckKey(k) {
				t.Errorf("the key %x of small order is accepted", k)
			}
		}
	}
	if sign.CheckKey(key[:31]) || !sign.CheckKey(key) {
		t.Error("the length of a key is not checked")
	}
}
