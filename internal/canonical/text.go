package canonical

import (
	"bytes"
	"encoding/pem"
)

// Text returns bytes as text of a kind: PEM without headers.
func Text(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }

// FromText returns the bytes of a text. It reads exactly what Text returns, so that the bytes of a kind have one text.
// ok is false for every other text.
func FromText(kind string, text []byte) (b []byte, ok bool) {
	block, _ := pem.Decode(text)
	if block == nil || !bytes.Equal(Text(kind, block.Bytes), text) {
		return nil, false
	}
	return block.Bytes, true
}
