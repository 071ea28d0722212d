package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/council/trust"
)

// Marks are read as they were written; what is damaged is refused with its line.
func TestMarks(t *testing.T) {
	p := 0.9
	all := []trust.Mark{
		{Run: "req-1", Question: "q", Council: "team", Key: "k", At: time.UnixMilli(1e12).UTC(), Right: true,
			Probability: &p},
		{Run: "req-2", Question: "r", Council: "team", At: time.UnixMilli(2e12).UTC()},
	}
	if m := all[0].Month(); m != "2001-09" {
		t.Error(m)
	}
	var b bytes.Buffer
	if err := trust.WriteMarks(&b, all); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	read := func(text string) ([]trust.Mark, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return trust.ReadMarks(path)
	}
	if got, err := read(b.String()); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v %v", got, err)
	}
	first, _, _ := strings.Cut(b.String(), "\n")
	for bad, want := range map[string]string{
		first + "\n" + strings.Replace(first, "0.9", "1.1", 1): "line 2: probability is 1.1",
		strings.Replace(first, "right", "wrong", 1):            "line 1 is not a label",
		first + first: "line 1 is not a label",
		"[]":          "line 1 is not a label",
		"{}":          "line 1 is not a label",
		strings.Replace(first, `"run":"req-1"`, `"run":""`, 1):             "line 1 is not a label",
		strings.Replace(first, `"probability":0.9`, `"probability":-1`, 1): "must be in [0, 1]",
	} {
		if _, err := read(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	if _, err := trust.ReadMarks(path + "x"); err == nil {
		t.Error("a file that does not exist")
	}
}
