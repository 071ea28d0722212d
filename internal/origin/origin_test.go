package origin

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestMarks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var all sync.WaitGroup
	keys := make([]Key, 8)
	for i := range keys { // processes that start at the same time get the same key
		all.Go(func() {
			var err error
			if keys[i], err = Load(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	own := keys[0]
	for _, k := range keys {
		if !bytes.Equal(k, own) || len(k) != keyBytes {
			t.Fatalf("two keys: %x and %x", own, k)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "origin.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	other, err := Load(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mark := own.Mark("journal", []byte("text"))
	if !own.Wrote("journal", []byte("text"), mark) {
		t.Error("the key does not know its mark")
	}
	for name, known := range map[string]bool{
		"another key":  other.Wrote("journal", []byte("text"), mark),
		"no key":       Key(nil).Wrote("journal", []byte("text"), mark),
		"another kind": own.Wrote("run", []byte("text"), mark),
		"another text": own.Wrote("journal", []byte("texts"), mark),
		"no mark":      own.Wrote("journal", []byte("text"), ""),
		"no key, none": Key(nil).Wrote("journal", nil, Key(nil).Mark("journal", nil)),
	} {
		if known {
			t.Errorf("%s: the mark is accepted", name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "origin.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("an empty key is accepted")
	}
}
