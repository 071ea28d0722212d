package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
)

// TestWatch: "synod bench watch" prints an address on loopback where the folder is shown, needs no model and no
// council, and ends when it is interrupted.
func TestWatch(t *testing.T) {
	spec, err := plan.Parse([]byte(diceFile))
	if err != nil {
		t.Fatal(err)
	}
	items := []task.Item{task.Ungraded(synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number})}
	r, err := bench.Draft(bench.RunPlan{Task: "t", Items: items, Repeat: 3, Spec: spec})
	dir := filepath.Join(t.TempDir(), "My Study")
	if err == nil {
		err = r.Create(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, wrong := range [][]string{{"watch"}, {"watch", home}, {"watch", dir, "--listen", "0.0.0.0:0"}} {
		if code, out, errs := command(t, append(wrong, "--home", home)...); code == 0 || out != "" || errs == "" {
			t.Error(wrong, code, out, errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &lockedBuffer{}, make(chan int, 1)
	go func() { done <- run(ctx, []string{"watch", dir, "--home", home}, out, &bytes.Buffer{}) }()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)
	for begun := time.Now(); address.FindString(out.String()) == ""; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal(out.String())
		}
	}
	res, err := http.Get(address.FindString(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), "My Study") ||
		!strings.Contains(string(body), "0 <small>of 3") {
		t.Error(res.Status, err, string(body))
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if code := <-done; code != 0 {
		t.Error("exit code", code)
	}
}
