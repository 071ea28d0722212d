package computed

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Votes that were pulled are read like those of the public data, which are packed; a file of questions that has the
// same name is not mistaken for them.
func TestReadVotes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("gsm8k.jsonl", `{"question": "q", "answer": "a"}`)
	if _, err := readVotes(dir, "gsm8k"); err == nil || !strings.Contains(err.Error(), "synod data pull votes") {
		t.Error(err)
	}
	write("votes/gsm8k.jsonl", `{"id":"gsm8k-1","gold":"2","votes":{"b":"2","a":null}}`+"\n"+
		`{"id":"gsm8k-3","gold":"4","votes":{"b":"5"}}`)
	v, err := readVotes(dir, "gsm8k")
	if err != nil || len(v.questions) != 2 || !reflect.DeepEqual(v.models, []string{"a", "b"}) ||
		v.questions[0].answers[1] != "2" || v.questions[1].asked[0] {
		t.Errorf("%+v %v", v, err)
	}
}
