package engine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFrame is the largest message in bytes, in both directions. The longest ones are prompts.
const maxFrame = 16 << 20

// toChild is a message from the parent.
type toChild struct {
	ID            uint64   `json:"id"`
	Generate      *Request `json:"generate,omitempty"`
	Prefix        string   `json:"prefix,omitempty"`
	Continuations []string `json:"continuations,omitempty"`
	Capture       *Capture `json:"capture,omitempty"` // with Continuations
	Cancel        bool     `json:"cancel,omitempty"`
}

// fromChild is a message from the child. The first one, with ID 0, has either an Info
// or an error.
type fromChild struct {
	ID     uint64     `json:"id"`
	Hello  *Info      `json:"hello,omitempty"`
	Err    *wireError `json:"err,omitempty"`
	Result *Result    `json:"result,omitempty"`
	Scores []LogProb  `json:"scores,omitempty"`
	States []*States  `json:"states,omitempty"` // with Scores
	Usage  *Usage     `json:"usage,omitempty"`
}

// wireError is an error and the name of its sentinel error.
type wireError struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// kinds are the sentinel errors by name.
var kinds = map[string]error{"request": ErrRequest, "model": ErrModel, "library": ErrLibrary}

func toWire(err error) *wireError {
	for _, k := range []string{"request", "model", "library"} {
		if errors.Is(err, kinds[k]) {
			return &wireError{Kind: k, Text: err.Error()}
		}
	}
	return &wireError{Text: err.Error()}
}

func (w *wireError) err() error {
	if w == nil {
		return nil
	}
	return &childError{text: w.Text, kind: kinds[w.Kind]}
}

// childError is an error from the child: its text and its sentinel error.
type childError struct {
	text string
	kind error
}

func (e *childError) Error() string { return e.text }
func (e *childError) Unwrap() error { return e.kind }

func writeFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if len(body) > maxFrame {
		return fmt.Errorf("engine: %w: message of %d bytes, at most %d", ErrRequest, len(body), maxFrame)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func readFrame(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("engine: message of %d bytes, at most %d", n, maxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}
