package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
)

// A body that is passed on gets the model's key, its name at the server and the header that shows loops; the
// response comes back as it is, but for the key.
func TestRelay(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var got struct{ Model, Extra string }
		if json.Unmarshal(b, &got) != nil || got.Extra != "kept" || got.Model != "stub" {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":"bad `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+
				`","code":"wrong","param":"extra"}}`)
			return
		}
		key := r.Header.Get("Authorization")
		fmt.Fprint(w, key == "Bearer "+canary, " ", key, " ", r.Header.Get(Via))
	}))
	defer s.Close()
	m := openStub(t, &Pool{}, s.URL, canary, "concurrency: 1")
	ctx := WithVia(context.Background(), "gateway-1")
	body := []byte(`{"model":"stub","Extra":"kept"}`)
	for range 3 { // each one frees the only slot
		res, err := Relay(ctx, m, body)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		if err := res.Body.Close(); err != nil ||
			string(b) != "true Bearer "+strings.Repeat("*", len(canary))+" gateway-1" {
			t.Fatalf("%q, %v", b, err)
		}
	}
	for range 5 { // a body that the server refuses is not a failure of the server, and opens no breaker
		_, err := Relay(ctx, m, []byte(`{"model":"stub"}`))
		var refused *Refusal
		if !errors.As(err, &refused) || refused.HTTP != 400 || refused.Param != "extra" || refused.Code != "wrong" {
			t.Fatal(err)
		}
		if strings.Contains(refused.Message, canary) {
			t.Errorf("the message holds the key: %s", refused.Message)
		}
	}
}

// A model that is out of order is not called for a while, and the limit of its account holds for relayed
// bodies too.
func TestRelayKeepsToLimits(t *testing.T) {
	hold, calls := make(chan struct{}), make(chan struct{}, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- struct{}{}
		<-hold
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer s.Close()
	m := openStub(t, &Pool{}, s.URL, canary, "concurrency: 1")
	done := make(chan error, 1)
	go func() { _, err := Relay(context.Background(), m, []byte(`{}`)); done <- err }()
	<-calls
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := Relay(ctx, m, []byte(`{}`))
	if f := AsFailure(err); f == nil || f.Status != synod.Timeout || len(calls) > 0 {
		t.Errorf("with the only slot taken: %v, %d more calls", err, len(calls))
	}
	close(hold)
	if f := AsFailure(<-done); f == nil || f.Status != synod.Unavailable {
		t.Error(f)
	}
	for range 3 {
		_, err = Relay(context.Background(), m, []byte(`{}`))
	}
	if n := len(calls); n != 2 || !strings.Contains(err.Error(), "not called for another") {
		t.Errorf("%d calls after the first of a server that fails; want 2 and then an open breaker: %v", n, err)
	}
	if _, err := Relay(context.Background(), standard(&embedded{}, testLayers{}), nil); !errors.Is(err, ErrNoRelay) {
		t.Error("an embedded model has no server")
	}
}

// A body with max_tokens that a server refuses is sent once more with the key that it takes. Later ones are sent with
// it at once, also by another process with the same file. Other bodies and other refusals are left alone.
func TestRelayCompletionTokens(t *testing.T) {
	var got []string
	refusal := `"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, string(b))
		var all map[string]json.RawMessage
		if json.Unmarshal(b, &all) != nil || all["max_tokens"] != nil {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error":{"message":`+refusal+`,"param":"max_tokens","code":"unsupported_parameter"}}`)
		}
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "habits.json")
	open := func() Model {
		m, err := new(Pool).Open("openai", yamlSettings("url: "+s.URL+"\nmodel: stub\n"),
			Options{Env: Env{Habits: file, Getenv: func(string) string { return "" }}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeModel(t, m) })
		return m
	}
	send := func(m Model, body string) (requests []string, err error) {
		got = nil
		res, err := Relay(t.Context(), m, []byte(body))
		if err == nil {
			res.Body.Close()
		}
		return got, err
	}
	const old, fit = `{"model":"stub","max_tokens":9,"tools":[{"max_tokens":1}]}`,
		`{"model":"stub","max_completion_tokens":9,"tools":[{"max_tokens":1}]}`
	m := open()
	for i, want := range [][]string{{old, fit}, {fit}} {
		if all, err := send(m, old); err != nil || !slices.Equal(all, want) {
			t.Errorf("request %d: %v, %q", i, err, all)
		}
	}
	if all, err := send(open(), old); err != nil || !slices.Equal(all, []string{fit}) {
		t.Errorf("another process: %v, %q", err, all)
	}
	file, refusal = filepath.Join(t.TempDir(), "habits.json"), `"max_tokens is too large"`
	m = open()
	for range 2 {
		if all, err := send(m, old); err == nil || len(all) != 1 {
			t.Errorf("another refusal: %v, %q", err, all)
		}
	}
	refusal = `"use max_completion_tokens"`
	if all, err := send(m, `{"max_tokens":9,"max_completion_tokens":9}`); err == nil || len(all) != 1 {
		t.Errorf("both keys: %v, %q", err, all)
	}
}
