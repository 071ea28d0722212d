package read

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"synod.dev/synod"
)

// digits are those that a score may have.
const digits = "0123456789"

// naivePaperScore is SAC B.1 without a regular expression: the first run of digits, with a fraction if one follows.
func naivePaperScore(text string) synod.Score {
	from := strings.IndexAny(text, digits)
	if from < 0 {
		return 0.5
	}
	number := text[from:]
	whole := len(number) - len(strings.TrimLeft(number, digits))
	if rest, ok := strings.CutPrefix(number[whole:], "."); ok {
		if fraction := len(rest) - len(strings.TrimLeft(rest, digits)); fraction > 0 {
			whole += 1 + fraction
		}
	}
	v, _ := strconv.ParseFloat(number[:whole], 64)
	return synod.Score(min(v, 1))
}

// FuzzPaperScore compares the paper's parser with a second one.
func FuzzPaperScore(f *testing.F) {
	for _, s := range []string{"Step 1: the answer is wrong.\nScore: 0.0", "8/10 wrong", "-0.9", ".1", "no", "1.",
		"1..2", "0.30000000000000004", "9999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxRead {
			return
		}
		if got, want := PaperScore(text), naivePaperScore(text); got != want {
			t.Errorf("%q scores %v; want %v", text, got, want)
		}
	})
}

// FuzzScore: without JSON, a score that is read is the only number of the last line; and a line with a score is read
// back, whatever other lines precede it (finding F4).
func FuzzScore(f *testing.F) {
	for _, s := range []string{"Step 1: the answer is wrong.\nScore: 0.0", "8/10", "-0.9", ".1", "**Final score: 0.7**",
		"Score = 1.", "{\"score\": 0.4}", "<think>0.3</think>\n0.2",
		"0\r0"} {
		f.Add(s, uint16(700))
	}
	f.Fuzz(func(t *testing.T, text string, n uint16) {
		if len(text) > maxRead-100 {
			return
		}
		if s, ok := ScoreIn(text); ok && !strings.ContainsAny(text, "{<`") {
			lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r", "\n")), "\n")
			numbers := strings.FieldsFunc(lines[len(lines)-1], func(r rune) bool {
				return !strings.ContainsRune(digits+".", r)
			})
			v, err := strconv.ParseFloat(strings.TrimRight(strings.Join(numbers, " "), " ."), 64)
			if err != nil || synod.Score(v) != s {
				t.Errorf("%q scores %v; its last line has %q", text, s, numbers)
			}
		}
		want := float64(n%1001) / 1000
		if strings.ContainsAny(text, "{<`[") || !utf8.ValidString(text) {
			return // a JSON object counts wherever it is, and thinking is left out
		}
		if s, ok := ScoreIn(fmt.Sprintf("%s\nScore: %v", text, want)); !ok || s != synod.Score(want) {
			t.Errorf("%q and a line with %v: %v, %v", text, want, s, ok)
		}
	})
}
