package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mask = "***"

// Secret is a key that is never printed: fmt with any verb, JSON, YAML, text and
// slog write *** instead. The text is behind a pointer, because fmt does not call
// the methods of an unexported field and would print a plain string there.
type Secret struct{ text *string }

// NewSecret returns a key without the space around it; an empty text is no key.
func NewSecret(text string) Secret {
	if text = strings.TrimSpace(text); text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the key itself.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.text == nil }

// identity returns a short hash that tells keys apart, "none" if there is none.
func (s Secret) identity() string {
	if s.text == nil {
		return "none"
	}
	sum := sha256.Sum256([]byte("synod key\n" + *s.text))
	return hex.EncodeToString(sum[:8])
}

// Redact replaces the key in a text by ***, also where escapes of JSON or of a URL write it. A key of fewer than eight
// bytes is replaced where it stands alone, and not inside a word or number. Keys that stand for none, such as "none" or
// "x", are no secrets and stay: local servers accept any.
func (s Secret) Redact(text string) string {
	key := s.Reveal()
	switch {
	case len(key) < 2 || placeholders[strings.ToLower(key)]:
		return text
	case len(key) >= 8:
		return redact(text, key)
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, key)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if partOfWord(last) || partOfWord(next) {
			b.WriteString(key)
		} else {
			b.WriteString(mask)
		}
		text = after
	}
}

// redact replaces a key in a text by ***.
func redact(text, key string) string {
	var b strings.Builder
	for rest := []byte(text); ; {
		at, n := find(rest, []byte(key))
		if n == 0 {
			b.Write(rest)
			return b.String()
		}
		b.Write(rest[:at])
		b.WriteString(mask)
		rest = rest[at+n:]
	}
}

// placeholders are keys that users give to servers which want none.
var placeholders = map[string]bool{
	"none": true, "no": true, "null": true, "empty": true, "no-key": true, "nokey": true, "key": true, "token": true,
	"test": true, "dummy": true, "local": true, "ollama": true, "vllm": true, "lm-studio": true, "anything": true,
}

func partOfWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// String returns ***.
func (s Secret) String() string { return mask }

// GoString returns ***, for %#v where Format is not called.
func (s Secret) GoString() string { return mask }

// Format writes ***, for every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) }

// MarshalJSON returns "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// MarshalText returns ***, for XML and map keys.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalYAML returns ***.
func (s Secret) MarshalYAML() (any, error) { return mask, nil }

// LogValue returns ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }
