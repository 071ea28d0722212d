package models

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"synod.dev/synod/internal/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gguf returns n bytes that begin like a GGUF file.
func gguf(n int) []byte {
	b := append([]byte("GGUF"), bytes.Repeat([]byte("synod "), n/6+1)...)
	return b[:n]
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// pinned returns an entry for content with the source url.
func pinned(content []byte, url string) Entry {
	return Entry{
		Name: "toy", Kind: Weights, Bytes: int64(len(content)), SHA256: sum(content),
		Sources: []Source{{Via: "https", URL: url}},
	}
}

// hubServer is a model hub on loopback.
type hubServer struct {
	*httptest.Server
	content  []byte
	cut      atomic.Int64 // close the connection after so many bytes, 0: never
	requests atomic.Int64
	ranges   atomic.Int64
	redirect string
}

func newHub(t *testing.T, content []byte) *hubServer {
	t.Helper()
	h := &hubServer{content: content}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *hubServer) serve(w http.ResponseWriter, r *http.Request) {
	h.requests.Add(1)
	if h.redirect != "" {
		http.Redirect(w, r, h.redirect, http.StatusFound)
		return
	}
	if r.Header.Get("Range") != "" {
		h.ranges.Add(1)
	}
	if cut := h.cut.Load(); cut > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.content)))
		_, _ = w.Write(h.content[:cut])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.content))
}

func toyStore(t *testing.T) Store {
	return Store{Dir: t.TempDir(), fetch: fetch.Client{Loopback: true}, clients: map[string][][]string{}}
}

// put pulls an entry that is not in the catalogue.
func (s Store) put(e Entry, opts Options) error {
	return s.pullSources(context.Background(), e, opts)
}

// client returns the command of a package client that copies a file to its destination.
func client(t *testing.T, archive string) []string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "client")
	text := fmt.Sprintf("#!/bin/sh\ncp %q \"$1\"\n", archive)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{script, "{}"}
}

type tarMember struct {
	name string
	body string
	link string
}

func tgz(t *testing.T, members ...tarMember) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.body)), Typeflag: tar.TypeReg}
		if m.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "package.tgz")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func wheel(t *testing.T, name string, body []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "package.whl")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustContain(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}
