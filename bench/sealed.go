package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"synod.dev/synod/core/journal"
)

// The manifests in results.db end with the SHA-256 of their content, and with the mark of
// the user who created the folder, so that a changed byte is noticed:
//
//	{
//	  …,
//	  "sum": "0123…",
//	  "origin": "4567…"
//	}
//
// The sum is that of the text without these two fields, the mark is that of the sum.

// seal encodes a manifest. mark marks a text as written by the user; nil: there is no mark.
func seal(manifest any, mark func([]byte) string) ([]byte, error) {
	body, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	sum := sumOf(body)
	body = fmt.Appendf(bytes.TrimSuffix(body, []byte("\n}")), ",\n  \"sum\": %q", sum)
	if mark != nil {
		if origin := mark([]byte(sum)); origin != "" {
			body = fmt.Appendf(body, ",\n  \"origin\": %q", origin)
		}
	}
	return append(body, "\n}\n"...), nil
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

var sealed = regexp.MustCompile(`,\n  "sum": "([0-9a-f]{64})"(?:,\n  "origin": "([0-9a-f]{64})")?\n}\n$`)

// unseal checks the sum of a text that seal has encoded, and decodes it. It returns the sum
// and the mark; "" if there is none.
func unseal(b []byte, manifest any) (sum, origin string, err error) {
	end := sealed.FindSubmatch(b)
	if end == nil {
		return "", "", fmt.Errorf("it has no checksum: %w", journal.ErrChanged)
	}
	sum, origin = string(end[1]), string(end[2])
	body := append(bytes.Clone(bytes.TrimSuffix(b, end[0])), "\n}"...)
	if sumOf(body) != sum {
		return "", "", fmt.Errorf("it does not have its checksum: %w", journal.ErrChanged)
	}
	return sum, origin, json.Unmarshal(body, manifest)
}

// checkVersion returns an error for a manifest of another version.
func checkVersion(b []byte, want int) error {
	var m struct{ Version int }
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Version != want {
		return fmt.Errorf("the folder has version %d; this program reads version %d", m.Version, want)
	}
	return nil
}
