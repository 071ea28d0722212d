package gateway

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// quoted matches a value in quotation marks.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// Whatever a client sends, an event is one line of the log, and no text of a client looks like an event or steers a
// terminal [SC-38].
func TestLogLines(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Settings.Content = true })
	const forged = "a\nlevel=ERROR msg=\"forged\"\r\x1b[2J\u2028\u202e level=ERROR"
	for _, texts := range [][2]string{{"dice", sum + forged}, {"dice" + forged, sum}} {
		body, err := json.Marshal(map[string]any{"model": texts[0],
			"messages": []any{map[string]any{"role": "user", "content": texts[1]}}})
		if err != nil {
			t.Fatal(err)
		}
		h.post(t, chats, string(body))
	}
	h.post(t, chats, questionBody("dice", sum), "User-Agent", "x level=ERROR msg=forged", "X-Request-Id", "level=ERROR")
	h.post(t, "/v1/%0alevel=ERROR%0d", "{}")
	log := h.log.String()
	if !strings.Contains(log, "forged") {
		t.Errorf("the question is not logged, so that nothing was tested: %q", log)
	}
	for line := range strings.Lines(log) {
		outside := quoted.ReplaceAllString(strings.TrimSuffix(line, "\n"), "Q")
		if !strings.HasPrefix(line, "time=") || strings.Count(outside, "level=") != 1 ||
			strings.ContainsAny(line, "\r\x1b\u2028\u202e") {
			t.Errorf("a line of the log: %q", line)
		}
	}
}
