package certificate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/record/certificate"
)

// FuzzParse reads certificates: what is read has one spelling, and what verifies is one of the genuine files (CE-1).
func FuzzParse(f *testing.F) {
	var genuine [][]byte
	for seed := range uint64(4) {
		genuine = append(genuine, newWorld(f, seed).file(f))
		f.Add(genuine[seed])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := certificate.Parse(file)
		if err != nil {
			return
		}
		if again, err := c.File(); err != nil || !bytes.Equal(again, file) {
			t.Errorf("a file that is read is written in other bytes: %v", err)
		}
		_, err = certificate.Verify(c, nil)
		if err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
		if err == nil && !slices.ContainsFunc(genuine, func(g []byte) bool { return bytes.Equal(g, file) }) {
			t.Error("a certificate is accepted that nobody has made")
		}
	})
}

func FuzzStatement(f *testing.F) {
	for seed := range uint64(4) {
		b, err := newWorld(f, seed).s.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := certificate.DecodeStatement(b)
		if err != nil {
			return
		}
		if again, err := s.Encode(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("a statement that is read is written in other bytes: %v", err)
		}
	})
}

// FuzzBoth changes statements, has every key of their council sign them again, and compares both verifiers (CE-4).
// Without Python and its library there is nothing to compare with.
func FuzzBoth(f *testing.F) {
	all := verifiers(f)
	if len(all) < 2 {
		f.Skip("needs python3 with the package cryptography")
	}
	var worlds []*world
	for seed := range uint64(8) {
		worlds = append(worlds, newWorld(f, seed))
		f.Add(uint8(seed), uint16(0), uint8(0), []byte{}, uint8(255))
		f.Add(uint8(seed), uint16(40+9*seed), uint8(1), []byte{1}, uint8(1))
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, remove uint8, insert []byte, signers uint8) {
		if len(insert) > 4<<10 {
			return
		}
		w := worlds[int(which)%len(worlds)]
		b, err := w.s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		from := min(int(at), len(b))
		b = slices.Concat(b[:from], insert, b[min(from+int(remove), len(b)):])
		file := w.fileOf(t, b, signers)
		ours, theirs := all[0].judge(file), all[1].judge(file)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("%s: %v; %s: %v\n%s", all[0].name, ours, all[1].name, theirs, file)
		}
	})
}

// fileOf returns the certificate of an encoded statement, which may be damaged, signed by the owner or by those members
// whose bit is set.
func (w *world) fileOf(t testing.TB, encoded []byte, signers uint8) []byte {
	t.Helper()
	answer := w.s.Answer
	if s, err := certificate.DecodeStatement(encoded); err == nil {
		answer = s.Answer
	}
	payload, err := w.s.Payload()
	genuine, err2 := w.s.Encode()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString
	payload = bytes.Replace(payload, []byte(text(genuine)), []byte(text(encoded)), 1)
	payload = bytes.Replace(payload, []byte(hex.EncodeToString(w.s.Answer)), []byte(hex.EncodeToString(answer)), 1)
	c := &certificate.Certificate{Payload: payload}
	secrets := w.members
	if w.s.Kind == certificate.Owner {
		secrets = []sign.Secret{w.owner}
	}
	for i, s := range secrets {
		if signers>>(i%8)&1 == 1 {
			c.Signatures = append(c.Signatures, certificate.Signature{Key: s.PublicKey(),
				Signature: s.SignEnvelope(certificate.PayloadType, payload)})
		}
	}
	file, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
