package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play asks twice, hears a peer, notes and decides, so that its journal has every kind
// of line.
func play(suffix string) script.Play {
	return func(me *script.Agent) synod.Answer {
		r := me.Ask(synod.Prompt{Purpose: synod.Answering}, synod.Prompt{Purpose: synod.Scoring, Candidate: "7"})
		script.Tell(me, synod.Respond, 0, synod.Response{Answer: "7"})
		heard := script.Collect[synod.Response](me, synod.Respond, 0, script.Until{At: 3})
		me.Note(synod.Opinion{Answer: synod.Answer(r[0].Text + suffix),
			Scores: []synod.Judged{{Of: 1, Score: synod.Untrusted}, {Of: 2, Score: .5}}, Retained: []synod.NodeID{1},
			Dropped: []synod.NodeID{2}})
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
		t.Errorf("the journal must have the whole reply: %+v", r)
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

func TestDivergenceOfLongLines(t *testing.T) {
	same := strings.Repeat("x", 10_000)
	text := (&journal.Divergence{Want: same + "seven" + same, Got: same + "eight" + same}).Error()
	if len(text) > 1000 || !strings.Contains(text, "xseven") || !strings.Contains(text, "xeight") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

// Any changed byte before the end line is an error or a difference: of the head, of what
// was done, and of what a reply said and cost.
func TestEveryChangeIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, _ := os.ReadFile(path)
	at, tried := 0, 0
	for l := range strings.Lines(string(whole)) {
		to := len(l)
		if strings.Contains(l, `"k":"end"`) {
			to = 0 // it describes the other lines
		}
		for i := range to {
			tried++
			b := []byte(string(whole))
			b[at+i] ^= 1
			run, err := journal.Read(strings.NewReader(string(b)))
			if err == nil {
				_, err = journal.Replay(run, join(""))
			}
			if err == nil {
				t.Errorf("a change of bit 0 of byte %d (%q in %q) is not found", at+i, l[i], l)
			}
		}
		at += len(l)
	}
	if tried < 800 {
		t.Errorf("only %d bytes were tried", tried)
	}
}

// A run that was killed at any byte can be read, and what is whole in it replays.
func TestTornAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	record(t, path, 0, 1)
	whole, _ := os.ReadFile(path)
	for n := afterHead(whole); n <= len(whole); n++ {
		run, err := journal.Read(strings.NewReader(string(whole[:n])))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if _, err := journal.Replay(run, join("")); err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if (run.End != nil) != (n >= len(whole)-1) { // the last newline is not needed
			t.Fatalf("cut at byte %d: end is %v", n, run.End)
		}
	}
}

func TestBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for name, text := range map[string]string{
		"empty":           "",
		"no head":         `{"k":"event","t":0,"n":0,"w":"begin"}` + "\n",
		"not JSON":        "hello\n",
		"later version":   `{"k":"head","version":99}` + "\n",
		"no version":      `{"k":"head"}` + "\n",
		"negative seat":   `{"k":"head","version":3}` + "\n" + `{"k":"event","t":0,"n":-1,"w":"begin"}` + "\n",
		"far too many":    `{"k":"head","version":3}` + "\n" + `{"k":"event","t":0,"n":2000000,"w":"begin"}` + "\n",
		"a segment":       `{"k":"chunk","run":"x","bytes":0,"crc":"00000000"}` + "\n",
		"two heads":       `{"k":"head","version":3}` + "\n" + `{"k":"head","version":3,"seed":1}` + "\n",
		"after the end":   `{"k":"head","version":3}` + "\n" + `{"k":"end"}` + "\n" + `{"k":"end"}` + "\n",
		"unknown kind":    `{"k":"head","version":3}` + "\n" + `{"k":"tail"}` + "\n",
		"effect at first": `{"k":"head","version":3}` + "\n" + `{"k":"effect","t":0,"n":0,"w":"decide"}` + "\n",
	} {
		for _, text := range []string{text, journal.Summed(text)} {
			run, err := journal.Read(strings.NewReader(text))
			if err == nil {
				_, err = journal.Replay(run, join(""))
			}
			if err == nil {
				t.Errorf("%s: is accepted", name)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = journal.SummarizeFile(path)
			if err == nil && name != "effect at first" { // only a replay needs events
				t.Errorf("%s: is summarized", name)
			}
		}
	}
}

// afterHead returns where the head and its sum line end.
func afterHead(whole []byte) int {
	head := bytes.IndexByte(whole, '\n') + 1
	return head + bytes.IndexByte(whole[head:], '\n') + 1
}

// Journals of earlier formats are refused, with what to do.
func TestEarlierFormatsAreRefused(t *testing.T) {
	for _, version := range []string{"1", "2"} {
		_, err := journal.Read(strings.NewReader(`{"k":"head","version":` + version + "}\n" + `{"k":"event"}` + "\n"))
		if err == nil || !strings.Contains(err.Error(), "format "+version+" of an earlier version") ||
			!strings.Contains(err.Error(), "ask the question again") {
			t.Errorf("%v", err)
		}
	}
}

// talk is a toy protocol in which members ask, tell one another, and decide.
func talk(me *script.Agent) synod.Answer {
	r := me.Ask(synod.Prompt{Purpose: synod.Answering})[0]
	script.Tell(me, synod.Respond, 0, synod.Response{Answer: synod.Answer(r.Text)})
	heard := script.Collect[synod.Response](me, synod.Respond, 0, script.Until{At: 5})
	me.Note(synod.Opinion{Answer: synod.Answer(r.Text)})
	return synod.Answer(fmt.Sprint(len(heard)))
}

// oneSeat is a sim.Log without that package: it keeps the lines of one seat.
type oneSeat struct {
	*journal.Writer
	seat synod.NodeID
}

func (o oneSeat) Event(now synod.Tick, node synod.NodeID, e synod.Event) {
	if node == o.seat {
		o.Writer.Event(now, node, e)
	}
}

func (o oneSeat) Effect(now synod.Tick, node synod.NodeID, e synod.Effect) {
	if node == o.seat {
		o.Writer.Effect(now, node, e)
	}
}

// A seat's own journal has the lines and the digest that the seat has in the journal of
// the whole run, replays alone, and has no seed of the run.
func TestSeatJournal(t *testing.T) {
	const n = 3
	dir := t.TempDir()
	seat := func(id synod.NodeID) synod.Machine {
		peers := slices.DeleteFunc([]synod.NodeID{0, 1, 2}, func(p synod.NodeID) bool { return p == id })
		return script.New(synod.Seat{Self: id, Peers: peers, Seed: 100 + uint64(id)}, script.Options{}, talk)
	}
	all, err := journal.Create(filepath.Join(dir, "all"), journal.Head{Seed: 7, Identities: journal.DerivedIdentities})
	if err != nil {
		t.Fatal(err)
	}
	type logger interface {
		Event(synod.Tick, synod.NodeID, synod.Event)
		Effect(synod.Tick, synod.NodeID, synod.Effect)
	}
	logs := []logger{all}
	var own [n]*journal.Writer
	for i := range own {
		id := synod.NodeID(i)
		if own[i], err = journal.Create(filepath.Join(dir, fmt.Sprint(i)),
			journal.Head{Seat: &id, Seed: 100 + uint64(i)}); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, oneSeat{own[i], id})
	}
	var machines [n]synod.Machine
	var heard []synod.Send
	step := func(now synod.Tick, id synod.NodeID, e synod.Event) {
		for _, l := range logs {
			l.Event(now, id, e)
		}
		for _, x := range machines[id].Step(now, e) {
			for _, l := range logs {
				l.Effect(now, id, x)
			}
			if s, ok := x.(synod.Send); ok {
				heard = append(heard, s)
			}
		}
	}
	for i := range machines {
		machines[i] = seat(synod.NodeID(i))
		step(0, synod.NodeID(i), synod.Begin{})
	}
	for i := range synod.NodeID(n) {
		r := synod.Reply{Status: synod.OK, Text: fmt.Sprint("t", i)}
		all.Reply(i, 0, r)
		own[i].Reply(i, 0, r)
		step(1, i, synod.Answered{ID: 0, Reply: &r})
	}
	for _, s := range heard {
		for _, to := range s.To {
			step(2, to, synod.Heard{Message: s.Message})
		}
	}
	for i := range synod.NodeID(n) {
		step(5, i, synod.Expired{ID: 1})
		step(5, i, synod.Halt{})
	}
	digest, seats := all.Digests()
	if closed, err := all.Close("rounds"); err != nil || closed != digest || len(seats) != n ||
		journal.RunDigest(seats) != digest {
		t.Fatal(closed, digest, seats, err)
	}
	run, err := journal.Load(filepath.Join(dir, "all"))
	if err != nil || run.Digest() != digest || !slices.Equal(run.SeatDigests(), seats) ||
		!slices.Equal(run.End.Seats, seats) {
		t.Fatal(err, run)
	}
	whole, _ := os.ReadFile(filepath.Join(dir, "all"))
	for i := range own {
		if d, err := own[i].Close("rounds"); err != nil || d != seats[i] {
			t.Errorf("seat %d has digest %s alone and %s in the run: %v", i, d, seats[i], err)
		}
		path := filepath.Join(dir, fmt.Sprint(i))
		mine, err := journal.Load(path)
		if err != nil || mine.Digest() != seats[i] || *mine.Head.Seat != synod.NodeID(i) {
			t.Fatal(mine, err)
		}
		d, err := journal.Replay(mine, func(id synod.NodeID) (synod.Machine, error) { return seat(id), nil })
		if err != nil || d != seats[i] {
			t.Errorf("replay of seat %d alone: %s, %v", i, d, err)
		}
		text, _ := os.ReadFile(path)
		steps := func(text []byte) (lines []string) {
			for l := range strings.Lines(string(text)) {
				if strings.Contains(l, fmt.Sprintf(`"n":%d,"w"`, i)) {
					lines = append(lines, l)
				}
			}
			return lines
		}
		if !slices.Equal(steps(text), steps(whole)) || len(steps(text)) < 10 {
			t.Errorf("seat %d: other lines alone than in the run:\n%s", i, text)
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
	w, err := journal.Over(openFull(t))
	if err != nil {
		t.Fatal(err)
	}
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
	f.Add(strings.Replace(string(whole), `"version":3`, `"version":3,"seat":0`, 1))
	f.Add(`{"k":"head","version":3}` + "\n" + `{"k":"event","t":0,"n":0,"w":"heard"}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := journal.Read(strings.NewReader(text))
		if err == nil {
			journal.Replay(run, join("")) // must not panic or hang
		}
	})
}
