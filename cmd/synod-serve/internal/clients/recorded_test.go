package clients

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recorded is a request that a client has sent, and how it was answered.
type recorded struct {
	Method string
	Path   string
	Body   string
	Status int
	IDs    []string // of the response: later requests name them
}

var idShape = regexp.MustCompile(`(?:resp_|call_|msg_|fc_)[A-Za-z0-9_-]+`)

// ids returns the ids in a response, in their order and each once.
func ids(response []byte) (all []string) {
	seen := map[string]bool{}
	for _, id := range idShape.FindAllString(string(response), -1) {
		if !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	return all
}

// The requests that clients of other makers have sent are answered as they were when they were recorded: with the same
// status, in the shape of their API, and with as many ids. The clients themselves have checked what was in the answers.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.jsonl")
	if err != nil || len(files) < len(known) {
		t.Fatal("there are too few recorded clients: ", files, err)
	}
	url, _ := house(t)
	by := map[string]*tried{}
	defer func() {
		if !t.Failed() {
			checkTable(t, by)
		}
	}()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			now := strings.NewReplacer()
			x := &tried{}
			by[strings.TrimSuffix(filepath.Base(file), ".jsonl")] = x
			var pairs []string // ids of the recording, and those that took their places
			for _, r := range readRecorded(t, file) {
				got, status := send(t, url, r, now)
				if status != r.Status {
					t.Fatalf("%s %s: %d, and was %d: %.600s\nthe request: %.2000s", r.Method, r.Path, status, r.Status,
						got, r.Body)
				}
				if text := shapeless(r, got); text != "" {
					t.Errorf("%s %s: %s in %.600s", r.Method, r.Path, text, got)
				}
				x.note(r, got)
				fresh := ids(got)
				if len(fresh) != len(r.IDs) {
					t.Errorf("%s %s: %d ids, and there were %d", r.Method, r.Path, len(fresh), len(r.IDs))
					continue
				}
				for i := range fresh {
					pairs = append(pairs, r.IDs[i], fresh[i])
				}
				now = strings.NewReplacer(pairs...)
			}
		})
	}
}

func readRecorded(t *testing.T, file string) (all []recorded) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatal(file, lines.Err())
	}
	return all
}

// send sends a recorded request again.
func send(t *testing.T, url string, r recorded, now *strings.Replacer) ([]byte, int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, url+now.Replace(r.Path),
		strings.NewReader(now.Replace(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b, res.StatusCode
}

// shapeless says what a response of the API of a request must have and has not; "" if nothing is missing.
func shapeless(r recorded, got []byte) string {
	var of struct{ Stream bool }
	_ = json.Unmarshal([]byte(r.Body), &of) // a request without a body has no stream
	want := map[string]string{"/v1/chat/completions": `"object":"chat.completion"`, "/v1/responses": `"object":"response"`,
		"/v1/messages": `"type":"message"`}[r.Path]
	switch {
	case r.Status >= 400:
		want = `"error":`
	case of.Stream:
		want = map[string]string{"/v1/chat/completions": "data: [DONE]", "/v1/responses": "event: response.completed",
			"/v1/messages": "event: message_stop"}[r.Path]
	}
	if !strings.Contains(string(got), want) {
		return "there is no " + want
	}
	return ""
}
