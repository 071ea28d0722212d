package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play asks twice, hears a peer, notes and decides: every kind of line.
func play(suffix string) script.Play {
	return func(me *script.Agent) synod.Answer {
		r := me.Ask(synod.Prompt{Purpose: synod.Answering}, synod.Prompt{Purpose: synod.Scoring, Candidate: "7"})
		script.Tell(me, synod.Respond, 0, synod.Response{Answer: "7"})
		heard := script.Collect[synod.Response](me, synod.Respond, 0, script.Until{At: 3})
		me.Note(synod.Opinion{Answer: synod.Answer(r[0].Text + suffix), Scores: []synod.Judged{{Of: 1, Score: synod.Untrusted}, {Of: 2, Score: .5}}, Retained: []synod.NodeID{1}, Dropped: []synod.NodeID{2}})
		return synod.Answer(fmt.Sprint(len(heard), suffix))
	}
}

func machine(suffix string) synod.Machine {
	return script.New(synod.Seat{Self: 0, Peers: []synod.NodeID{1}, Seed: 3}, script.Options{}, play(suffix))
}

// record writes a run of one node, with the replies in the given order.
func record(t testing.TB, path string, order ...synod.ConsultID) (digest string) {
	t.Helper()
	w, err := journal.Create(path, journal.Head{Program: "test", Question: synod.Question{Text: "?"}, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := machine("")
	replies := map[synod.ConsultID]synod.Reply{
		0: {Status: synod.OK, Text: "seven", Usage: synod.Usage{Prompt: 9}, Calls: 1},
		1: {Status: synod.Timeout, Detail: "after 30s", Calls: 4},
	}
	step := func(now synod.Tick, e synod.Event) {
		w.Event(now, 0, e)
		for _, x := range m.Step(now, e) {
			w.Effect(now, 0, x)
		}
	}
	step(0, synod.Begin{})
	for _, id := range order {
		w.Reply(0, id, replies[id])
	}
	for id := synod.ConsultID(0); id < 2; id++ {
		r := replies[id]
		step(1, synod.Answered{ID: id, Reply: &r})
	}
	body, _ := synod.Response{Answer: "8"}.AppendBinary(nil)
	step(2, synod.Heard{Message: &synod.Message{From: 1, Slot: synod.Slot{Name: synod.Respond}, Body: body}})
	step(3, synod.Expired{ID: 1})
	step(3, synod.Halt{})
	if digest, err = w.Close("rounds"); err != nil {
		t.Fatal(err)
	}
	return digest
}

func join(suffix string) func(synod.NodeID) (synod.Machine, error) {
	return func(synod.NodeID) (synod.Machine, error) { return machine(suffix), nil }
}

func TestReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	digest := record(t, path, 0, 1)
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.Replay(run, join(""))
	if err != nil || got != digest || run.End.Digest != digest {
		t.Errorf("replay: %s, %v; the run's digest is %s", got, err, digest)
	}
	if r := run.Replies[journal.Key{Node: 0, ID: 1}]; r.Status != synod.Timeout || r.Calls != 4 || r.Detail == "" {
		t.Errorf("the whole reply must be on file: %+v", r)
	}
	if o := run.Opinions(); len(o) != 1 || o[0].Answer != "seven" || o[0].Scores[0].Score != synod.Untrusted {
		t.Errorf("opinions: %+v", o)
	}
}

// The order in which replies arrive, and what they cost, are not part of what
// was done.
func TestDigestIgnoresArrival(t *testing.T) {
	dir := t.TempDir()
	a, b := record(t, filepath.Join(dir, "a"), 0, 1), record(t, filepath.Join(dir, "b"), 1, 0)
	if a != b {
		t.Errorf("digests differ: %s %s", a, b)
	}
}

func TestReplayFindsTheDifference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	run, _ := journal.Load(path)
	_, err := journal.Replay(run, join("!"))
	var d *journal.Divergence
	if !errors.As(err, &d) || !strings.Contains(d.Want, "seven") || !strings.Contains(d.Got, "seven!") {
		t.Errorf("the difference must be shown: %v", err)
	}
}

// Any change of a byte of what was done, or of what a reply said, is an error or
// a difference.
func TestEveryChangeIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(whole), "\n")
	at, tried := len(lines[0]), 0
	for _, l := range lines[1:] {
		from, to := 0, len(l)
		switch {
		case strings.Contains(l, `"k":"end"`):
			to = 0 // it speaks of the others
		case strings.Contains(l, `"k":"reply"`):
			from = strings.Index(l, `"status":"`) + len(`"status":"`)
			to = strings.Index(l, `,"detail`)
			if to < 0 {
				to = strings.Index(l, `,"usage`)
			}
		}
		for i := from; i < to; i++ {
			tried++
			b := []byte(string(whole))
			b[at+i] ^= 1
			run, err := journal.Read(strings.NewReader(string(b)))
			if err == nil {
				_, err = journal.Replay(run, join(""))
			}
			if err == nil {
				t.Errorf("bit 0 of byte %d (%q in %q) can change unseen", at+i, l[i], l)
			}
		}
		at += len(l)
	}
	if tried < 500 {
		t.Errorf("only %d bytes were tried", tried)
	}
}

// A run that was killed at any byte can be read, and what is whole in it replays.
func TestTornAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, _ := os.ReadFile(path)
	head := strings.IndexByte(string(whole), '\n') + 1
	for n := head; n <= len(whole); n++ {
		run, err := journal.Read(strings.NewReader(string(whole[:n])))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if _, err := journal.Replay(run, join("")); err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if (run.End != nil) != (n == len(whole)) {
			t.Fatalf("cut at byte %d: end is %v", n, run.End)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty":           "",
		"no head":         `{"k":"event","t":0,"n":0,"w":"begin"}` + "\n",
		"not JSON":        "hello\n",
		"later version":   `{"k":"head","version":99}` + "\n",
		"two heads":       `{"k":"head","version":1}` + "\n" + `{"k":"head","version":1}` + "\n",
		"after the end":   `{"k":"head","version":1}` + "\n" + `{"k":"end"}` + "\n" + `{"k":"end"}` + "\n",
		"unknown kind":    `{"k":"head","version":1}` + "\n" + `{"k":"tail"}` + "\n",
		"effect at first": `{"k":"head","version":1}` + "\n" + `{"k":"effect","t":0,"n":0,"w":"decide"}` + "\n",
	} {
		run, err := journal.Read(strings.NewReader(text))
		if err == nil {
			_, err = journal.Replay(run, join(""))
		}
		if err == nil {
			t.Errorf("%s: is let through", name)
		}
	}
}

func TestCreateDoesNotReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	if _, err := journal.Create(path, journal.Head{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("an old journal must stay: %v", err)
	}
	info, _ := os.Stat(path)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v; prompts and replies are the owner's", info.Mode())
	}
}

// A full disk ends the writing and not the run, and the digest is still the
// run's.
func TestDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	w := journal.Over(openFull(t))
	w.Event(0, 0, synod.Begin{})
	w.Reply(0, 0, synod.Reply{Status: synod.OK})
	digest, err := w.Close("rounds")
	if err == nil || w.Err() == nil || len(digest) != 64 {
		t.Errorf("a full disk must be reported: digest %q, error %v", digest, err)
	}
}

func openFull(t *testing.T) *os.File {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "j")
	record(f, path, 0, 1)
	whole, _ := os.ReadFile(path)
	f.Add(string(whole))
	f.Add(`{"k":"head","version":1}` + "\n" + `{"k":"event","t":0,"n":0,"w":"heard"}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := journal.Read(strings.NewReader(text))
		if err == nil {
			journal.Replay(run, join("")) // must not panic or hang
		}
	})
}
