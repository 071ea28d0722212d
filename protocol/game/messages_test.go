package game

import (
	"bytes"
	"slices"
	"testing"
)

// Every value has exactly one encoding: a body that can be decoded is encoded as the same bytes.
func FuzzWords(f *testing.F) {
	v := 25
	b, _ := proposalMessage{&v, "because"}.AppendBinary(nil)
	f.Add(b)
	f.Add([]byte{0})
	f.Add([]byte("stop"))
	b, _ = echo{{1, digest(proposalMessage{})}, {3, digest(proposalMessage{value: &v})}}.AppendBinary(nil)
	f.Add(b)
	b, _ = ballot{Continue, &v}.AppendBinary(nil)
	f.Add(b)
	b, _ = ballot{Abstain, nil}.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, body []byte) {
		var a word
		if a.UnmarshalBinary(body) == nil && string(a) != string(body) {
			t.Errorf("vote %x is read as %s", body, a)
		}
		var w proposalMessage
		if w.UnmarshalBinary(body) == nil {
			if again, _ := w.AppendBinary(nil); !bytes.Equal(again, body) {
				t.Errorf("proposal %x is written %x", body, again)
			}
		}
		var e echo
		if e.UnmarshalBinary(body) == nil {
			if again, _ := e.AppendBinary(nil); !bytes.Equal(again, body) {
				t.Errorf("echo %x is written %x", body, again)
			}
		}
		var v ballot
		if v.UnmarshalBinary(body) == nil {
			if again, _ := v.AppendBinary(nil); !bytes.Equal(again, body) {
				t.Errorf("ballot %x is written %x", body, again)
			}
		}
	})
}

// A list of digests names each sender once, ascending.
func TestEcho(t *testing.T) {
	for _, c := range []struct {
		list echo
		want bool
	}{
		{nil, true}, {echo{{from: 0}}, true}, {echo{{from: 1}, {from: 3}, {from: 4}}, true},
		{echo{{from: 2}, {from: 2}}, false}, {echo{{from: 2}, {from: 1}}, false},
		{echo{{from: 1}, {from: 3}, {from: 2}}, false},
	} {
		body, _ := c.list.AppendBinary(nil)
		var got echo
		if err := got.UnmarshalBinary(body); (err == nil) != c.want || c.want && !slices.Equal(got, c.list) {
			t.Errorf("%v is read as %v: %v", c.list, got, err)
		}
		if got.UnmarshalBinary(append(body, 0)) == nil {
			t.Errorf("%v with a byte more is read", c.list)
		}
	}
}

// Steps of W-MSR, computed by hand (LeBlanc et al. 2013, Section IV).
func TestTrimmed(t *testing.T) {
	for _, c := range []struct {
		values []int
		own, f int
		want   int
	}{
		{[]int{1, 5, 9}, 5, 0, 5},
		{[]int{0, 5, 50}, 5, 1, 5},       // one above and one below are dropped
		{[]int{5, 6, 50}, 5, 1, 6},       // none below; 50 is dropped; 5.5 is rounded up
		{[]int{5, 5, 50, 50}, 5, 1, 20},  // one 50 stays
		{[]int{0, 6, 12, 12}, 12, 1, 10}, // none above; both 12 stay
		{[]int{5}, 5, 3, 5},
		{[]int{-3, -2}, -2, 0, -2}, // −2.5 is rounded up
	} {
		if got := trimmed(c.values, c.own, c.f); got != c.want {
			t.Errorf("%v around %d, f=%d: %d, want %d", c.values, c.own, c.f, got, c.want)
		}
	}
}
