package llm

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/read"
)

// TestDialects sends replies in the dialects of servers and models through the client and the reader: how a call ended,
// and which answer was read; "" is none. Text that is no answer, such as thoughts, is never read as one.
func TestDialects(t *testing.T) {
	file, err := os.Open("testdata/dialects.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var x struct {
			Name   string
			Form   synod.Form
			Status synod.Status
			Answer synod.Answer
			Body   json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		t.Run(x.Name, func(t *testing.T) {
			m, _ := stub(t, nil, llmtest.With(func(e *llmtest.Exchange) { e.Send(200, "application/json", x.Body) }))
			reply, err := m.Complete(t.Context(), ask(t, "?"))
			if x.Status != synod.OK {
				checkFailure(t, reply, err, x.Status, "")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			read.SetVersion(&reply)
			q := &synod.Question{Form: x.Form, Options: []synod.Option{{Label: "A"}, {Label: "B"}}}
			if a, _, ok := read.Answer(q, &reply, false); a != x.Answer || ok != (x.Answer != synod.None) {
				t.Errorf("%q is read as %s, want %s", reply.Text, a, x.Answer)
			}
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}
