package sign

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/internal/damage"
)

// No change of a file with a secret is accepted silently: another secret would sign under another key.
func TestDamagedSecret(t *testing.T) {
	s, err := Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "owner.key")
	if err := os.WriteFile(path, []byte(s.File()), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := func(text []byte) []byte {
		first, _, _ := strings.Cut(string(text), "\n")
		return []byte(first + "\n")
	}
	damage.Check(t, path, 500, bare, func() (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		s, err := ParseSecret(string(text))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%x", s.PublicKey()), nil
	})
}
