package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
)

const mask = "***"

// Secret is a key. Whatever prints or encodes it writes ***: fmt with any verb,
// JSON, YAML, text, slog. The text stands behind a pointer, because fmt does not
// ask the methods of an unexported field and would print a plain string there.
type Secret struct{ text *string }

// NewSecret keeps a key; space around it, as files and shells leave it, is cut.
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

// Redact replaces the key in a text by ***. Keys of under four bytes, as local
// servers take them, are no secrets and stay.
func (s Secret) Redact(text string) string {
	if key := s.Reveal(); len(key) >= 4 {
		return strings.ReplaceAll(text, key, mask)
	}
	return text
}

// String and its kin below all write ***.
func (s Secret) String() string { return mask }

// GoString serves %#v where Format is not asked.
func (s Secret) GoString() string { return mask }

// Format serves every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) }

// MarshalJSON serves encoding/json.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// MarshalText serves XML, map keys and encoders that know no better.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalYAML serves the YAML packages.
func (s Secret) MarshalYAML() (any, error) { return mask, nil }

// LogValue serves log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(mask) }
