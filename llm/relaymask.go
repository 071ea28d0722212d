package llm

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// maskedBody replaces secrets in a body that is passed on by as many asterisks, so that its length stays: a server may
// echo the request, and who reads the response may not be the owner of the key. It finds a secret also where
// escapes write it ("\/", "\u0073", "%73"), and holds back only bytes that may begin one. Secrets of fewer than eight
// bytes stay, because they could be a part of any word.
type maskedBody struct {
	io.ReadCloser
	secrets [][]byte
	buf     []byte // has ready, and then held
	ready   []byte // to be returned
	held    []byte // may begin a secret
	err     error  // after ready
}

// masking returns a body without the secrets of the client.
func (m *httpClient) masking(body io.ReadCloser) io.ReadCloser {
	b := &maskedBody{ReadCloser: body}
	for _, s := range append([]Secret{m.key}, m.hidden...) {
		if text := s.Reveal(); len(text) >= 8 && !placeholders[strings.ToLower(text)] {
			b.secrets = append(b.secrets, []byte(text))
		}
	}
	if b.secrets == nil {
		return body
	}
	slices.SortFunc(b.secrets, func(x, y []byte) int { return len(y) - len(x) }) // one may contain another
	b.buf = make([]byte, 4096+widest*len(b.secrets[0]))
	return b
}

// Read implements io.Reader.
func (b *maskedBody) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil && len(p) > 0 {
		n, err := b.ReadCloser.Read(b.buf[copy(b.buf, b.held):])
		buf := b.buf[:len(b.held)+n]
		b.err = err
		for _, s := range b.secrets {
			hide(buf, s)
		}
		begun := 0
		if err == nil {
			begun = b.begun(buf)
		}
		b.ready, b.held = buf[:len(buf)-begun], buf[len(buf)-begun:]
	}
	n := copy(p, b.ready)
	if b.ready = b.ready[n:]; len(b.ready) == 0 {
		return n, b.err
	}
	return n, nil
}

// hide replaces a secret in a text by asterisks wherever it stands whole.
func hide(text, secret []byte) {
	for {
		at, n := find(text, secret)
		if n == 0 {
			return
		}
		copy(text[at:], bytes.Repeat([]byte("*"), n))
		text = text[at+n:]
	}
}

// begun returns how many bytes at the end of a text may begin a secret.
func (b *maskedBody) begun(text []byte) (most int) {
	for _, s := range b.secrets {
		for n := min(widest*len(s)-1, len(text)); n > most; n-- {
			if _, begun := spelled(text[len(text)-n:], s); begun {
				most = n
			}
		}
	}
	return most
}
