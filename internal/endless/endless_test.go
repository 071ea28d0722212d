package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saying is a kind whose turns run a shell command.
func saying(name, script string) kind {
	return kind{name: name, commands: func(*log, int, time.Duration) ([]command, error) {
		return []command{{".", []string{"sh", "-c", script}}}, nil
	}}
}

// Turns are played in turn and kept; a failing one is a finding with its command; a later run goes on with other seeds.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	l, err := open(dir, time.Second, "")
	if err != nil {
		t.Fatal(err)
	}
	l.out, l.kinds = io.Discard, []kind{saying("good", "sleep 0.05"), saying("bad", "echo broken; exit 3")}
	if err := l.run(t.Context(), 200*time.Millisecond); !errors.Is(err, errFound) {
		t.Fatalf("error %v", err)
	}
	for i, turn := range l.turns {
		if bad := i%2 == 1; (turn.Found == "broken\n") != bad || turn.Kind != l.kinds[i%2].name {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
	again, err := open(dir, time.Second, "")
	if err != nil || len(again.turns) != len(l.turns) || again.begun != l.turns[0].At.Unix() {
		t.Fatalf("%d turns of %d, begun %d, error %v", len(again.turns), len(l.turns), again.begun, err)
	}
	if again.seedOf(0) == again.seedOf(1) {
		t.Error("two turns have one seed")
	}
	again.out, again.kinds = io.Discard, []kind{saying("good", "sleep 0.05")}
	if again.run(t.Context(), 50*time.Millisecond) != nil {
		t.Error("findings of an earlier run fail this one")
	}
}

// A turn that was cut off is not kept, and leaves no process behind.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	l, err := open(dir, time.Second, "")
	if err != nil {
		t.Fatal(err)
	}
	l.out, l.kinds = io.Discard, []kind{saying("slow", "sleep 30; touch "+filepath.Join(dir, "late"))}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := l.run(ctx, time.Minute); err != nil || len(l.turns) != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("%d turns after %v, error %v", len(l.turns), time.Since(begun), err)
	}
}

// A campaign that finds nothing leaves no folder, and one that fails does.
func TestSpent(t *testing.T) {
	for script, left := range map[string]bool{"mkdir $0; exit 0": false, "mkdir $0; exit 1": true} {
		dir := t.TempDir()
		l, err := open(dir, time.Second, "")
		if err != nil {
			t.Fatal(err)
		}
		k := kind{name: "campaign", spent: campaignFolder,
			commands: func(l *log, n int, _ time.Duration) ([]command, error) {
				return []command{{".", []string{"sh", "-c", script, campaignFolder(l, n)}}}, nil
			}}
		if _, err := l.play(t.Context(), k, time.Second); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(campaignFolder(l, 0)); (err == nil) != left {
			t.Errorf("%s: the folder is left: %v", script, err == nil)
		}
	}
}

// All fuzz targets of all modules are found.
func TestFuzzTargets(t *testing.T) {
	list, err := fuzzTargets("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, target := range list {
		seen[strings.TrimPrefix(target.dir, "../../")] = true
	}
	for _, dir := range []string{"core/journal", "llm/read", "cmd/synod-serve/internal/wire"} {
		if !seen[dir] {
			t.Errorf("no target of %s among %d", dir, len(list))
		}
	}
	if len(list) < 50 {
		t.Errorf("%d targets", len(list))
	}
	if _, err := open(t.TempDir(), time.Second, "nonsense"); err == nil {
		t.Error("an unknown kind is accepted")
	}
}
