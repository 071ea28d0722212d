package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/journal"
)

// The JSON files of a folder end with the SHA-256 of their content, and with the mark of
// the user who created the folder, so that a changed byte is noticed:
//
//	{
//	  …,
//	  "sum": "0123…",
//	  "origin": "4567…"
//	}
//
// The sum is that of the file without these two fields, the mark is that of the sum.

// seal encodes a manifest. mark marks a text as written by the user; nil: there is no mark.
func seal(manifest any, mark func([]byte) string) ([]byte, error) {
	body, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
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

// unseal checks the sum of a file that seal has encoded, and decodes it. It returns the sum
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

// The lines of attempts.jsonl end with a checksum: {…,"crc":"89abcdef"}. It is the CRC-32C
// of the line before this field.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealLine adds the checksum to a JSON object, and a newline.
func sealLine(object []byte) []byte {
	line := bytes.TrimSuffix(object, []byte("}"))
	return fmt.Appendf(line, ",\"crc\":\"%08x\"}\n", crc32.Checksum(line, castagnoli))
}

// attemptPrefix begins each line.
const attemptPrefix = `{"question":`

// crcField is the length of the last field of a line, with its end.
const crcField = len(`,"crc":"89abcdef"}` + "\n")

// whole reports whether a line has its checksum.
func whole(line []byte) bool {
	at := len(line) - crcField
	return at > 0 && bytes.Equal(line[at:], sealLine(append(bytes.Clone(line[:at]), '}'))[at:])
}

// errTorn reports that the last line of a file was being written when the process died.
var errTorn = errors.New("the last line is incomplete")

// unsealLine decodes a line of attempts.jsonl. The error is errTorn for an end of the file
// that can be the beginning of a line.
func unsealLine(line []byte, into any) error {
	switch {
	case whole(line):
		return json.Unmarshal(line, into)
	case bytes.HasSuffix(line, []byte("\n")), !durable.Torn(line, attemptPrefix):
		return fmt.Errorf("a line does not have its checksum: %w", journal.ErrChanged)
	case whole(append(bytes.Clone(line), '\n')):
		return json.Unmarshal(line, into)
	}
	return errTorn
}
