package trust_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/trust"
)

func observation(q, member, answer string, label reliability.Label) reliability.Observation {
	return reliability.Observation{Question: q, Kind: "number", Member: member, Answer: answer, Label: label}
}

func add(t *testing.T, path string, all ...reliability.Observation) {
	t.Helper()
	if err := trust.Update(path, func(h *trust.History) error {
		h.Add(all)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A question that is asked again counts once, keeps its label and its likelihood with the same answer, and loses them
// with another one.
func TestAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "trust.json")
	if h, err := trust.Load(path); err != nil || len(h.Questions) != 0 {
		t.Fatalf("a file that does not exist: %v %v", h, err)
	}
	one, other := observation("q", "a", "1", reliability.Right), observation("q", "b", "2", reliability.Wrong)
	one.Sure, other.Sure = 0.75, 0.5
	add(t, path, one, other)
	add(t, path, observation("q", "a", "1", ""), observation("q", "b", "3", ""))
	h, err := trust.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(h.Observations()); got != "[{q number a 1 right 0.75} {q number b 3  0}]" {
		t.Error(got)
	}
	if h.Has([]string{"q", "other"}) != 1 {
		t.Error("q is known")
	}
	if n := h.Forget("a", "choice"); n != 0 {
		t.Errorf("%d answers of another kind forgotten", n)
	}
	if n := h.Forget("a", ""); n != 1 || len(h.Observations()) != 1 {
		t.Errorf("%d answers forgotten, %v left", n, h.Observations())
	}
}

// Many writers at once lose nothing.
func TestUpdatesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { add(t, path, observation(fmt.Sprint(i), "a", "1", "")) })
	}
	all.Wait()
	if h, err := trust.Load(path); err != nil || len(h.Questions) != 20 {
		t.Errorf("%d questions, %v", len(h.Questions), err)
	}
}

// A file that is torn or of another version is refused and stays as it is; a crash while it is written leaves the old
// one, because the new one has another name until it is complete.
func TestDamaged(t *testing.T) {
	for want, text := range map[string]string{"cannot be read": `{"version":1,"questions":[{"id`, "version 2": `{"version":2}`} {
		path := filepath.Join(t.TempDir(), "trust.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := trust.Update(path, func(*trust.History) error { return nil })
		if b, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || string(b) != text {
			t.Errorf("%s: %v, then %s", want, err, b)
		}
	}
	path := filepath.Join(t.TempDir(), "trust.json")
	add(t, path, observation("q", "a", "1", ""))
	if err := os.WriteFile(path+".new", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	add(t, path, observation("r", "a", "1", ""))
	if h, err := trust.Load(path); err != nil || len(h.Questions) != 2 {
		t.Errorf("after a torn write: %v %v", h, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// No changed bit is accepted silently: the file is refused, or says the same as before.
func TestFlips(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	add(t, path, observation("q", "a", "1", reliability.Right), observation("q", "b", "2", reliability.Wrong),
		observation("r", "a", "1", ""))
	was, err := trust.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 8*len(text); i += 3 {
		changed := bytes.Clone(text)
		changed[i/8] ^= 1 << (i % 8)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := trust.Load(path)
		if err == nil && fmt.Sprint(h.Observations()) != fmt.Sprint(was.Observations()) {
			t.Errorf("bit %d: %q is read as %v", i, changed, h.Observations())
		}
	}
}

// A file of an earlier program has no checksum. It is read, and gets one with the next change.
func TestWithoutSum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	old := `{"version":1,"questions":[{"id":"q","kind":"number","answers":[{"member":"a","answer":"1"}]}]}`
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := trust.Load(path); err != nil || !h.Unsealed {
		t.Errorf("it does not say that it has no checksum: %+v, %v", h, err)
	}
	add(t, path, observation("r", "a", "1", ""))
	h, err := trust.Load(path)
	if err != nil || len(h.Questions) != 2 || h.Unsealed {
		t.Errorf("%+v, %v", h, err)
	}
	if err := os.WriteFile(path, []byte(old+old), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Load(path); err == nil {
		t.Error("two histories in one file are read as one")
	}
}

// A file whose end was lost is refused, wherever it was cut.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	add(t, path, observation("q", "a", "1", ""), observation("r", "b", "2", ""))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(text) {
		if err := os.WriteFile(path, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if h, err := trust.Load(path); err == nil {
			t.Errorf("the first %d of %d bytes are read as %+v", n, len(text), h)
		}
	}
}

// The earlier program wrote the checksum at the end. Its file is read, refused if it was changed, and gets the checksum
// at its beginning with the next change.
func TestSumAtEnd(t *testing.T) {
	const content = `{"version":1,"questions":[{"id":"q","kind":"number","answers":[{"member":"a","answer":"1"}]}]`
	old := fmt.Sprintf("%s,\"sum\":\"%x\"}\n", content, sha256.Sum256([]byte(content+"}")))
	path := filepath.Join(t.TempDir(), "trust.json")
	if err := os.WriteFile(path, []byte(strings.Replace(old, `"a"`, `"b"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := trust.Load(path); err == nil {
		t.Errorf("a changed file is read as %+v", h)
	}
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := trust.Load(path); err != nil || len(h.Questions) != 1 || h.Unsealed {
		t.Errorf("%+v, %v", h, err)
	}
	add(t, path, observation("r", "a", "1", ""))
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), `{"sum":"`) {
		t.Errorf("%s, %v", b, err)
	}
}
