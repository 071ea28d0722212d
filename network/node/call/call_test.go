package call

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"testing"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/evidence"
)

// Receipts that somebody made up neither frame a member nor hide the proof against another one, and the
// proof is a file that verifies.
func TestEquivocationAmongInventedReceipts(t *testing.T) {
	random := rand.NewChaCha8([32]byte{7})
	r := &roster.Roster{Format: roster.Format, Name: "three", R: 1, Guarantee: "none", Protocol: "sac",
		Parameters: "{}", Council: "council: three\n", Think: 1000, Within: 200,
		Links: roster.TLS, Ledger: roster.Ledger{Kind: "none"}, Rule: roster.Rule{Name: "plurality"},
		Faults: roster.Local}
	var secrets []sign.Secret
	for _, id := range []string{"a", "b", "c"} {
		s, err := sign.Generate(random)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, s)
		r.Members = append(r.Members, roster.Member{ID: id, Key: s.PublicKey(), Voter: true})
	}
	hash, in := r.Hash(), sign.Instance("a run")
	receipt := func(from uint64, body string, by sign.Secret) Receipt {
		sum := sha256.Sum256([]byte(body))
		c := Receipt{From: from, Slot: "answer", Round: 1, Sum: sum[:]}
		slip := c.Slip(hash[:], string(in))
		c.Signature = slip.Sign(by)
		return c
	}
	invented := &Final{Seat: 2}
	for i := range 2 * maxSums {
		body := string(rune('A' + i))
		invented.Receipts = append(invented.Receipts, receipt(0, body, secrets[2]), receipt(1, body, secrets[2]))
	}
	honest := &Final{Seat: 0, Receipts: []Receipt{receipt(0, "42", secrets[0]), receipt(1, "42", secrets[1])}}
	other := &Final{Seat: 0, Receipts: []Receipt{receipt(1, "41", secrets[1])}}
	found := FindEquivocations(r, in, []*Final{invented, honest, nil, other})
	if len(found) != 1 || found[0].A.From != 1 {
		t.Fatalf("found %+v, want one proof, against b", found)
	}
	e, err := found[0].Evidence(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := evidence.Parse(e.File())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Verify(hash[:]); err != nil {
		t.Error(err)
	}
	found[0].B = found[0].A
	if _, err := found[0].Evidence(r); err == nil {
		t.Error("one message twice is a proof")
	}
}

// A question is asked again only if no member can have begun its run.
func TestAllLate(t *testing.T) {
	late, draining := refusal(LateStart+": it was 1s ago"), refusal("the node is draining")
	cut, away := errors.New("no record came: EOF"), unasked{errors.New("connection refused")}
	for _, c := range []struct {
		failed []error
		want   bool
	}{
		{[]error{late, late, late}, true},
		{[]error{late, away, late}, true},
		{[]error{late, nil, late}, false}, // it returned a record, or is still at work
		{[]error{late, cut, late}, false}, // it may be at work
		{[]error{late, draining, late}, false},
		{[]error{away, away, away}, false},
	} {
		if got := allLate(c.failed); got != c.want {
			t.Errorf("%v: %v, want %v", c.failed, got, c.want)
		}
	}
}

// The reason of a member without a reply does not depend on which way failed first: a question that was sent directly
// may have begun a run, and nobody to pass a question on is no reason of its own.
func TestNoReply(t *testing.T) {
	cut, away := errors.New("no record came: EOF"), unasked{errors.New("connection refused")}
	refused := errors.New("through other members: it does not reach a4")
	for _, c := range []struct {
		direct, through error
		text            string
		unasked         bool
	}{
		{away, errNoCarrier, "connection refused", true},
		{cut, errNoCarrier, "no record came: EOF", false},
		{away, refused, "connection refused; through other members: it does not reach a4", true},
		{cut, refused, "no record came: EOF; through other members: it does not reach a4", false},
	} {
		err := noReply(c.direct, c.through)
		if err.Error() != c.text || errors.As(err, new(unasked)) != c.unasked {
			t.Errorf("%v and %v: %v, unasked %v", c.direct, c.through, err, errors.As(err, new(unasked)))
		}
	}
}

// Whatever a node writes into its record, reading it ends with a record or an error.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"opinions":[{"t":1,"opinion":{"round":0,"answer":"42","source":"own"}}],"stopped":"rounds"}`))
	f.Add([]byte(`{"opinions":[null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := (&Final{Seat: 3, Record: b}).SeatRecord()
		if err != nil {
			return
		}
		if r.Seat != 3 {
			t.Error("a record speaks for another seat")
		}
		Answers(&r)
		if _, err := EncodeRecord(r); err != nil {
			t.Error(err)
		}
	})
}

// Whatever comes as a hello or a start, reading it ends.
func FuzzHello(f *testing.F) {
	f.Add(canonical.Encode(Hello{Version: Version, Purpose: ToAsk}))
	f.Add(canonical.Encode(Start{Question: []byte(`{"text":"1+1?","form":"number"}`), Nonce: make([]byte, nonceSize)}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Hello
		if canonical.Decode(b, MaxHello, &h) == nil && string(canonical.Encode(h)) != string(b) {
			t.Errorf("%x is one of two encodings", b)
		}
		var s Start
		if canonical.Decode(b, MaxStart, &s) == nil {
			s.Decode()
		}
	})
}
