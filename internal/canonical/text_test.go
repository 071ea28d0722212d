package canonical

import (
	"bytes"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, b := range [][]byte{nil, {1}, bytes.Repeat([]byte("x"), 500)} {
		text := string(Text("SYNOD THING", b))
		if got, ok := FromText("SYNOD THING", []byte(text)); !ok || !bytes.Equal(got, b) {
			t.Errorf("%q is read as %x, %v", text, got, ok)
		}
		for _, other := range []string{
			strings.Replace(text, "THING-----\n", "THING-----\nname: value\n\n", 1), // a header of PEM
			"before\n" + text, text + "after", text + "\n", strings.TrimSpace(text),
			strings.ReplaceAll(text, "\n", "\r\n"),
			strings.Replace(text, "-----END", "\n-----END", 1), strings.ReplaceAll(text, "THING", "OTHER"), "",
		} {
			if _, ok := FromText("SYNOD THING", []byte(other)); ok {
				t.Errorf("%q is read", other)
			}
		}
	}
}
