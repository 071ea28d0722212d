package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/llm"
)

// stranger is a worker that sends what it likes.
func stranger(t *testing.T, address string) (*worker, pulse) {
	t.Helper()
	nc, err := dial(address, "", natsAccess{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	w := &worker{id: newID(), nc: nc, names: names{defaultQueue}}
	var p pulse
	err = w.ask(t.Context(), askBeat, &beat{hello: hello{Worker: w.id}, Protocol: protocolVersion, Version: version,
		Host: "evil\x1b[31m", Parallel: 1, Playing: []string{"x"}}, &p)
	if err != nil {
		t.Fatal(err)
	}
	w.pulse = p
	return w, p
}

// TestForgedResults: what a worker sends counts only if it is the journal of the unit. The hub refuses everything else,
// and goes on.
func TestForgedResults(t *testing.T) {
	dir := study(t, simulated(2), 2)
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address)
	hub.expect("listening on", 30*time.Second)
	w, _ := stranger(t, address)
	grid, err := bench.OpenGrid(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	run, other := grid.Runs[0], grid.Runs[1]
	hash, err := run.Hash()
	if err != nil {
		t.Fatal(err)
	}
	good, foreign := played(t, run), played(t, other)
	x := unit{hash, run.Jobs()[0]}
	bomb, err := pack(make([]byte, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"nothing": {}, "text": []byte("{}"), "another cell": foreign, "cut off": good[:len(good)/2],
		"a changed byte": bytes.Replace(good, []byte(`"k":"effect"`), []byte(`"k":"effecT"`), 1),
	} {
		packed, err := pack(text)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := w.upload(t.Context(), x, packed, 1); err != nil || said.Stored || said.Refused == "" {
			t.Errorf("%s: %+v, %v", name, said, err)
		}
	}
	if said, err := w.upload(t.Context(), x, bomb, 1); err != nil || said.Refused == "" {
		t.Errorf("zeros: %+v, %v", said, err)
	}
	for name, r := range map[string]resultPart{
		"too large":    {Unit: x, Total: maxPacked + 1, Part: []byte("x")},
		"behind":       {Unit: x, From: 5, Total: 5, Part: []byte("x")},
		"negative":     {Unit: x, From: -1, Total: 5, Part: []byte("x")},
		"no question":  {Unit: unit{hash, bench.Job{Question: "?"}}, Total: 1, Part: []byte("x")},
		"other repeat": {Unit: unit{hash, bench.Job{Question: x.Question, Repeat: -1}}, Total: 1, Part: []byte("x")},
	} {
		r.hello = w.hello()
		var said stored
		if err := w.ask(t.Context(), askResult, &r, &said); err == nil && said.Refused == "" {
			t.Errorf("%s: %+v", name, said)
		}
	}
	for _, wanted := range []llm.Wanted{{}, {Most: llm.Spent{Calls: 1, USD: -1}}, {Most: llm.Spent{Calls: -1}}} {
		if err := w.ask(t.Context(), askPermit, &permitRequest{w.hello(), newID(), wanted}, nil); err == nil {
			t.Errorf("%+v is granted", wanted)
		}
	}
	packed, err := pack(good)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one is known
		if said, err := w.upload(t.Context(), x, packed, 1); err != nil || !said.Stored {
			t.Errorf("the journal: %+v, %v", said, err)
		}
	}
	if out := hub.output(); strings.Contains(out, "\x1b") || !strings.Contains(out, "refused") {
		t.Errorf("the hub says %q", out)
	}
}

// played returns the journal of the first job of a run.
func played(t *testing.T, run *bench.Run) []byte {
	t.Helper()
	p, err := run.Player(bench.Options{Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	path := filepath.Join(t.TempDir(), "j")
	if _, err := p.Play(t.Context(), run.Jobs()[0], path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNoTimeOfDay: no message has a time of day, so a clock that is an hour wrong cannot be in one.
func TestNoTimeOfDay(t *testing.T) {
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		switch {
		case of == reflect.TypeFor[time.Time]():
			t.Errorf("%s is a time of day", path)
		case of.Kind() == reflect.Slice, of.Kind() == reflect.Pointer, of.Kind() == reflect.Map:
			walk(path, of.Elem())
		case of.Kind() == reflect.Struct:
			for i := range of.NumField() {
				walk(path+"."+of.Field(i).Name, of.Field(i).Type)
			}
		}
	}
	for _, m := range []any{beat{}, pulse{}, cellRequest{}, cellPart{}, claim{}, claimed{}, resultPart{}, stored{},
		failure{}, permitRequest{}, permitReply{}, releaseRequest{}, reply{}, unit{}, entry{}} {
		walk(reflect.TypeOf(m).Name(), reflect.TypeOf(m))
	}
}

// TestLedger: a hub that was killed knows what was spent and what may still be on its way, also if the last line was
// cut off at any byte; a line that was changed is an error.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	w := llm.Wanted{Provider: "p", Model: "m", Most: llm.Spent{Calls: 1, Tokens: 100, USD: 0.5}}
	l, _, err := openLedger(dir, llm.Spent{Calls: 2, USD: 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{l.granted("a", "w", w), l.granted("b", "w", w),
		l.released("a", llm.Spent{Calls: 1, Tokens: 10, USD: 0.125}), l.close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, ledgerFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readLedger(path)
	if err != nil || s.spent != (llm.Spent{Calls: 3, Tokens: 10, USD: 1.125}) || len(s.open) != 1 ||
		!reflect.DeepEqual(s.open["b"].Wanted, w) {
		t.Errorf("%+v, %v", s, err)
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	for n := last; n < len(text)-1; n++ {
		if err := os.WriteFile(path, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := readLedger(path); err != nil || len(s.open) != 2 || s.spent.Calls != 2 {
			t.Fatalf("cut after %d bytes: %+v, %v", n, s, err)
		}
	}
	changed := bytes.Replace(text, []byte(`{"grant":"b"`), []byte(`"grant":"b"`), 1)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readLedger(path); err == nil {
		t.Error("a changed line was not noticed")
	}
}

// TestUnits: units that failed are asked again when the others are finished, as long as that finishes any, and those of
// a queue that is lost are put into it again.
func TestUnits(t *testing.T) {
	dir := study(t, simulated(1), 5)
	grid, err := bench.OpenGrid(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := openResults(grid)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	u, err := newUnits([]string{"a"}, grid.Runs, 3, kept.Left)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := u.take(10)
	if len(first) != 3 {
		t.Fatalf("%d units, the window is 3", len(first))
	}
	u.lost()
	again, round := u.take(10)
	if len(again) != 3 || round != 1 {
		t.Errorf("%d units of a lost queue in round %d", len(again), round)
	}
	settle := func(all []unit, states ...byte) {
		for i, x := range all {
			u.settle(x, states[i%len(states)])
		}
	}
	settle(again, finishedUnit, failedUnit)
	rest, _ := u.take(10)
	settle(rest, finishedUnit)
	if !u.again() {
		t.Error("the unit that failed is not asked again")
	}
	last, round := u.take(10)
	settle(last, failedUnit)
	if _, _, finished, failed := u.tally(); len(last) != 1 || round != 2 || finished != 4 || failed != 1 || u.again() {
		t.Errorf("%d units in round %d; %d finished, %d failed", len(last), round, finished, failed)
	}
	u.settle(last[0], finishedUnit) // it comes late
	if over, known := u.isFinished(last[0]); !over || !known {
		t.Error("a late unit does not count")
	}
}

// TestLargestMessage: a message with the largest part fits into one of NATS.
func TestLargestMessage(t *testing.T) {
	b, err := json.Marshal(resultPart{hello: hello{newID(), newID()}, Unit: unit{strings.Repeat("a", 64),
		bench.Job{Question: strings.Repeat("\x00", 500)}}, Part: make([]byte, maxPart)})
	if err != nil || len(b) > 1<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
