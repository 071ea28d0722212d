package call

import (
	"testing"

	"synod.dev/synod/internal/canonical"
)

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
