package durable

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

type sealedValue struct {
	Name string         `json:"name"`
	Of   map[string]int `json:"of"`
}

// A sealed object is decoded as it was. With one changed bit or a missing end it is refused, as it is with a bit of the
// checksum's own name changed.
func TestSeal(t *testing.T) {
	want := sealedValue{"a", map[string]int{"b": 1}}
	compact, _ := json.Marshal(want)
	indented, _ := json.MarshalIndent(want, "", "  ")
	for _, object := range [][]byte{compact, indented, append(indented, '\n')} {
		text := Seal(object)
		var got sealedValue
		if sealed, err := DecodeSealed(text, &got); !sealed || err != nil || got.Name != "a" || got.Of["b"] != 1 {
			t.Fatalf("%s: %+v, %v, %v", text, got, sealed, err)
		}
		if back, _, err := Unseal(text); err != nil || !bytes.Equal(back, bytes.TrimRight(object, "\n")) {
			t.Errorf("%q becomes %q: %v", object, back, err)
		}
		for bit := range 8 * len(text) {
			changed := bytes.Clone(text)
			changed[bit/8] ^= 1 << (bit % 8)
			if _, err := DecodeSealed(changed, new(sealedValue)); err == nil {
				t.Errorf("%q is read", changed)
			}
		}
		for n := range text {
			if _, err := DecodeSealed(text[:n], new(sealedValue)); err == nil {
				t.Errorf("%q is read", text[:n])
			}
		}
	}
}

// An object without a checksum is read, and the caller is told.
func TestUnsealed(t *testing.T) {
	var got sealedValue
	if sealed, err := DecodeSealed([]byte(`{"name":"a"}`), &got); sealed || err != nil || got.Name != "a" {
		t.Errorf("%+v, %v, %v", got, sealed, err)
	}
	for _, bad := range []string{"", "{}{}", `{"other":1}`, `{"name":"a","sum":"00"}`} {
		if _, err := DecodeSealed([]byte(bad), &got); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	changed := bytes.Replace(Seal([]byte(`{"name":"a"}`)), []byte(`"a"`), []byte(`"b"`), 1)
	if _, err := DecodeSealed(changed, &got); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}
