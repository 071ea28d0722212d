// Package journal is the versioned record of a run: every event and effect of
// every machine, in order, and every model reply at the moment it came.
//
// It is written ahead: a reply that cost something is on file before the machine
// that asked sees it, so nothing that was paid for is lost with the process, and a
// run that was cut off goes on from its journal (Run.Replies). It is enough to play the run again
// without any model (Replay), and grading, metrics and plots are functions of it.
//
// A journal is JSON lines. The digest covers the event and effect lines as they
// stand in the file, and nothing that differs between two runs of one seed and
// one set of replies: no clock, no token count, no order of arrival.
//
//	{"k":"head",…}            what was run: version, spec, question, seed
//	{"k":"reply","n":1,"id":0,…}   a reply, whole, when it came
//	{"k":"event","t":3,"n":1,…}    what node 1 was given at tick 3
//	{"k":"effect","t":3,"n":1,…}   what it wanted done
//	{"k":"end",…}             why it stopped, and the digest
package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"sync"

	"synod.dev/synod"
)

// Version is the format that is written. Read refuses a later one.
const Version = 1

// Head says what was run, completely enough to run it again.
type Head struct {
	Kind     string          `json:"k"`
	Version  int             `json:"version"`
	Program  string          `json:"program"` // who wrote it
	Spec     json.RawMessage `json:"spec"`    // the council, as its owner encodes it
	Question synod.Question  `json:"question"`
	Seed     uint64          `json:"seed"`

	// Prompts are digests of the pages that say prompts in words, by name: a run
	// does not go on with others. Nil in journals of old.
	Prompts map[string]string `json:"prompts,omitempty"`
}

// End says how the run ended.
type End struct {
	Kind    string `json:"k"`
	Stopped string `json:"stopped"`
	Digest  string `json:"digest"`
	// Ticks is how much virtual time the run took; 0 in journals of old.
	Ticks synod.Tick `json:"ticks,omitempty"`
}

// Writer writes one journal. Its methods may be called concurrently. The first
// write that fails is kept (Err) and ends the writing, not the run: the run's
// owner decides what a lost journal means.
type Writer struct {
	mu   sync.Mutex
	path string
	file *os.File
	buf  *bufio.Writer
	sum  hash.Hash
	room []byte // for a line
	seal bool
	now  synod.Tick // of the last event
	err  error
}

// Create makes a new journal file, readable by its owner only, and writes the
// head. It does not replace a file.
func Create(path string, head Head) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	w := &Writer{path: path, file: f, buf: bufio.NewWriter(f), sum: sha256.New()}
	head.Kind, head.Version = "head", Version
	w.line(head)
	w.flush()
	if w.err != nil {
		f.Close()
		os.Remove(path)
		return nil, w.err
	}
	return w, nil
}

// Path is the file's path, "" if there is none.
func (w *Writer) Path() string { return w.path }

// Reply puts a reply on file at once, so that it outlives the process.
func (w *Writer) Reply(node synod.NodeID, id synod.ConsultID, r synod.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reply(node, id, &r)
	w.flush()
}

// Free puts a reply on file that costs nothing to ask for again: it may go with
// the next one that does.
func (w *Writer) Free(node synod.NodeID, id synod.ConsultID, r synod.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reply(node, id, &r)
}

// Event records what a node was given.
func (w *Writer) Event(now synod.Tick, node synod.NodeID, e synod.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seal {
		w.now = now
		w.step(eventOf(now, node, e))
	}
}

// Effect records what a node wanted done.
func (w *Writer) Effect(now synod.Tick, node synod.NodeID, e synod.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seal {
		w.step(effectOf(now, node, e))
	}
}

// Seal ends the record of events and effects: what is still done while a run is
// being cut off is no part of it, and a run that goes on does it again. Replies
// are still taken.
func (w *Writer) Seal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seal = true
}

// Sync puts everything so far on disk.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	if w.file != nil && w.err == nil {
		if err := w.file.Sync(); err != nil {
			w.err = fmt.Errorf("journal: %w", err)
		}
	}
	return w.err
}

// Close writes the end, syncs and closes. The digest is that of the run even if
// the file could not be written.
func (w *Writer) Close(stopped string) (digest string, err error) {
	w.mu.Lock()
	digest = hex.EncodeToString(w.sum.Sum(nil))
	w.line(End{"end", stopped, digest, w.now})
	w.mu.Unlock()
	return digest, w.release()
}

// Abandon closes without an end, so that the run counts as cut off and can be
// resumed.
func (w *Writer) Abandon() (digest string, err error) {
	w.mu.Lock()
	digest = hex.EncodeToString(w.sum.Sum(nil))
	w.mu.Unlock()
	return digest, w.release()
}

func (w *Writer) release() error {
	w.Sync()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		if err := w.file.Close(); err != nil && w.err == nil {
			w.err = fmt.Errorf("journal: %w", err)
		}
		w.file = nil
	}
	return w.err
}

// Err is the first failure to write.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// step writes an event or effect, which the digest covers.
func (w *Writer) step(l line) {
	b, err := l.append(w.room[:0])
	if err != nil {
		w.fail(err)
		return
	}
	w.room = append(b, '\n')
	w.sum.Write(w.room)
	w.put(w.room)
}

func (w *Writer) line(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		w.fail(err)
		return
	}
	w.put(append(b, '\n'))
}

func (w *Writer) put(b []byte) {
	if w.file == nil || w.err != nil {
		return
	}
	if _, err := w.buf.Write(b); err != nil {
		w.fail(err)
	}
}

func (w *Writer) flush() {
	if w.file != nil && w.err == nil {
		if err := w.buf.Flush(); err != nil {
			w.fail(err)
		}
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("journal: %w", err)
	}
}
