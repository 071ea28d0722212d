package task

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/fetch"
)

// published is a set in GSM8K's layout that the test server publishes.
var published = bytes.Repeat([]byte(`{"question": "How many are 6 and 7?", "answer": "6 + 7 = 13\n#### 13"}`+"\n"), 900)

// toy returns GSM8K's entry with the test server as its source.
func toy(at string) Entry {
	sum := sha256.Sum256(published)
	e := gsm8k
	e.Source = Source{URL: at + "/test.jsonl", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(published))}
	return e
}

func hub(t *testing.T, serve http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return s.URL
}

func content(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

func toyStore(t *testing.T) Store {
	return Store{Dir: t.TempDir(), fetch: fetch.Client{Loopback: true}}
}

// A pulled set is found without --data, is not fetched twice, and is refused if it was changed.
func TestPull(t *testing.T) {
	asked := 0
	s, serve := toyStore(t), content(published)
	e := toy(hub(t, func(w http.ResponseWriter, r *http.Request) { asked++; serve(w, r) }))
	var missing *NoDataError
	if _, err := e.Open(Options{Pulled: s.Dir}); !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), "synod data pull gsm8k") {
		t.Fatal(err)
	}
	var told []string
	o := PullOptions{Notice: func(line string) { told = append(told, line) }}
	for range 2 {
		if err := s.Pull(context.Background(), e, o); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 || s.State(e) != Here || len(told) != 2 || !strings.Contains(told[1], "already there") {
		t.Errorf("asked %d times, %s, %q", asked, s.State(e), told)
	}
	set, err := e.Open(Options{Pulled: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if items, err := set.Items(); err != nil || len(items) != 900 {
		t.Error(len(items), err)
	}
	changed := bytes.Replace(published, []byte("13\"}"), []byte("14\"}"), 1)
	if err := os.WriteFile(s.file(e), changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Open(Options{Pulled: s.Dir}); !errors.Is(err, fetch.ErrDigest) {
		t.Errorf("a changed file is read: %v", err)
	}
	if err := s.Pull(context.Background(), e, PullOptions{}); err != nil || e.verify(s.file(e)) != nil {
		t.Errorf("a changed file is not mended: %v", err)
	}
}

// Only the pinned bytes get the file's name (SC-25).
func TestPullRefuses(t *testing.T) {
	flipped := slices.Clone(published)
	flipped[4000] ^= 1
	elsewhere := 0
	other := hub(t, func(http.ResponseWriter, *http.Request) { elsewhere++ })
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		wrong bool // content, not connection
		says  string
	}{
		"flipped byte": {content(flipped), true, "; expected "},
		"short":        {content(published[:len(published)-1]), false, "unexpected EOF"},
		"oversize":     {content(append(slices.Clone(published), 'x')), true, "more than"},
		"endless":      {endless, true, "more than"},
		"empty":        {content(nil), false, "unexpected EOF"},
		"not there":    {http.NotFound, false, "404 Not Found"},
		"failing": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "secret trace", http.StatusServiceUnavailable)
		}, false, "503"},
		"redirect": {http.RedirectHandler(strings.Replace(other, "127.0.0.1", "localhost", 1),
			http.StatusFound).ServeHTTP, false, "only https"},
		"redirect loop": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/", http.StatusFound)
		}, false, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := toyStore(t), toy(hub(t, c.serve))
			err := s.Pull(context.Background(), e, PullOptions{})
			var pe *PullError
			if !errors.As(err, &pe) || errors.Is(err, fetch.ErrDigest) != c.wrong ||
				!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), e.Source.URL) {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the server's words came through: %v", err)
			}
			if s.State(e) != Absent {
				t.Errorf("it is %s", s.State(e))
			}
		})
	}
	if elsewhere != 0 {
		t.Error("a redirect to http was followed")
	}
	s := Store{Dir: t.TempDir()}
	if err := s.Pull(context.Background(), toy(other), PullOptions{}); err == nil ||
		!strings.Contains(err.Error(), "only https") || elsewhere != 0 {
		t.Errorf("without TLS: %v", err)
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(published); err != nil {
			return
		}
	}
}

// Bytes received before a connection broke are not fetched again.
func TestPullGoesOn(t *testing.T) {
	const cut = 20_000
	var from []string
	serve := content(published)
	s := toyStore(t)
	e := toy(hub(t, func(w http.ResponseWriter, r *http.Request) {
		if from = append(from, r.Header.Get("Range")); len(from) > 1 {
			serve(w, r)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(published)))
		_, _ = w.Write(published[:cut])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	if err := s.Pull(context.Background(), e, PullOptions{}); err == nil ||
		!strings.Contains(err.Error(), "the part is kept") {
		t.Fatal(err)
	}
	var last int64
	if err := s.Pull(context.Background(), e, PullOptions{Progress: func(done, _ int64) { last = done }}); err != nil {
		t.Fatal(err)
	}
	if len(from) != 2 || from[1] == "" || last != e.Source.Size {
		t.Errorf("asked for %q, told of %d", from, last)
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, "*", "*.part"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A set without a known digest is never fetched, and a set in the binary need not be.
func TestUnpinned(t *testing.T) {
	s := toyStore(t)
	for _, e := range Catalogue.All() {
		if len(e.Parts()) > 1 {
			continue
		}
		err := s.Pull(context.Background(), Entry{Entry: e.Entry, Layout: e.Layout,
			Source: Source{URL: e.Source.URL}}, PullOptions{}) // neither digest nor revision
		var none *NoSourceError
		if e.NeedsData() != errors.As(err, &none) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if left, _ := os.ReadDir(s.Dir); len(left) > 0 {
		t.Errorf("it wrote %v", left)
	}
}

// Every pin of a file with a copy beside the repository is the digest of the copy (CommonsenseQA's is rebuilt
// in TestPinOfCSQA); every URL names a whole commit if its host has commits; every file has a name that its
// loader looks for; rows have a revision.
func TestPins(t *testing.T) {
	pinned := 0
	for _, e := range Catalogue.All() {
		if e.NeedsData() != (len(e.Files) > 0 || len(e.Parts()) > 1) {
			t.Errorf("%s: its layout does not say whether it needs data", e.Name)
		}
		if !e.Source.Pinned() {
			continue
		}
		pinned++
		u, err := url.Parse(e.Source.URL)
		if err != nil || u.Scheme != "https" {
			t.Errorf("%s: %s, %v", e.Name, e.Source.URL, err)
		}
		if r := e.Source.Rows; r != nil {
			q := u.Query()
			if !wholeCommit(r.Revision) || r.Count != e.Items || u.Host != "datasets-server.huggingface.co" ||
				q.Get("dataset") != r.Set || q.Get("config") != r.Config || q.Get("split") != r.Split {
				t.Errorf("%s: %s, %+v", e.Name, e.Source.URL, r)
			}
			continue
		}
		// HellaSwag's authors have not changed their branch since 2019, and two public records name its address.
		stores := []string{"s3.amazonaws.com", "storage.googleapis.com"}
		branch := e.Name == "hellaswag"
		if !branch && !slices.Contains(stores, u.Host) &&
			!slices.ContainsFunc(strings.Split(u.Path, "/"), wholeCommit) {
			t.Errorf("%s: %s names no commit", e.Name, e.Source.URL)
		}
		if sum, err := hex.DecodeString(e.Source.SHA256); err != nil || len(sum) != sha256.Size {
			t.Errorf("%s: %q is no SHA-256", e.Name, e.Source.SHA256)
		}
		if !slices.ContainsFunc(e.Files, func(f string) bool { return path.Base(f) == path.Base(u.Path) }) {
			t.Errorf("%s: %s is not a name that it looks for", e.Name, path.Base(u.Path))
		}
	}
	if pinned != 13 {
		t.Errorf("%d sets are pinned", pinned)
	}
	for name, file := range map[string]string{"gsm8k": "gsm8k-test.jsonl", "math500": "math500.jsonl",
		"xstest": "xstest_prompts.csv"} {
		e, err := Catalogue.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		size, sum, err := fetch.Digest(filepath.Join(dataDir(t), file))
		if err != nil || size != e.Source.Size || sum != e.Source.SHA256 {
			t.Errorf("%s: the copy has %d bytes and %s (%v)", name, size, sum, err)
		}
	}
}

// The mix is present if all its parts are, and can be opened.
func TestPullOfParts(t *testing.T) {
	s := toyStore(t)
	mix, err := Catalogue.Find("commonsense170k")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.State(mix); got != Absent || len(mix.Parts()) != 8 {
		t.Errorf("%s, of %d parts", got, len(mix.Parts()))
	}
	if _, err := mix.Open(Options{Pulled: s.Dir}); err == nil ||
		!strings.Contains(err.Error(), "synod data pull arc-challenge") {
		t.Errorf("opened without its parts: %v", err)
	}
	var pull *PullError
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Pull(ctx, mix, PullOptions{}); !errors.As(err, &pull) || pull.Entry.Name != "arc-challenge" {
		t.Errorf("pulled without a network: %v", err)
	}
}

func wholeCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}
