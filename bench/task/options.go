package task

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"

	"synod.dev/synod"
)

// qid returns the SAC paper's name for an item: the first eight hexadecimal digits of the text's MD5.
func qid(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// columns are choices in the flat layout.
type columns struct {
	Label []string `json:"label"`
	Text  []string `json:"text"`
}

func (c *columns) options() ([]synod.Option, error) {
	if len(c.Label) != len(c.Text) {
		return nil, fmt.Errorf("there are %d labels and %d texts of choices", len(c.Label), len(c.Text))
	}
	out := make([]synod.Option, len(c.Label))
	for i := range out {
		out[i] = synod.Option{Label: c.Label[i], Text: c.Text[i]}
	}
	return out, nil
}

// lettered labels choices A, B, C, …
func lettered(texts []string) ([]synod.Option, error) {
	if len(texts) > 26 {
		return nil, fmt.Errorf("there are %d choices; letters reach to 26", len(texts))
	}
	out := make([]synod.Option, len(texts))
	for i, text := range texts {
		out[i] = synod.Option{Label: string(rune('A' + i)), Text: text}
	}
	return out, nil
}
