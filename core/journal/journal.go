// Package journal is the versioned record of a run: every event and effect of every
// machine, in order, and every model reply at the moment it came.
//
// A journal is written ahead: a reply that was paid for is in the file before the
// machine that asked sees it, so it is not lost with the process, and a run that
// was cut off goes on from its journal (Run.Replies). A journal is enough to play
// the run again without any model (Replay), and grading, metrics and plots are
// computed from it.
//
// # Format 3
//
// A journal is JSON lines:
//
//	{"k":"head",…}                 what was run: version, spec, question, seed
//	{"k":"asked","n":1,"id":0,…}   a request is about to leave, and what it may cost
//	{"k":"reply","n":1,"id":0,…}   a reply with its cost, when it came
//	{"k":"report","n":1,…}         what a seat played elsewhere reports of its run
//	{"k":"event","t":3,"n":1,…}    what node 1 was given at tick 3
//	{"k":"effect","t":3,"n":1,…}   what node 1 wanted done
//	{"k":"end",…}                  why the run stopped, and the digests
//	{"k":"head",…}                 a later attempt at a run that was cut off
//	{"k":"sum","bytes":N,"crc":…}  the CRC-32C of the N bytes before this line
//
// Every write to the file ends with a sum line. Lines after the last sum line were being
// written when the process died, and are left out. A file whose bytes do not have their
// sum was changed, and is an error, whether the run was finished or not.
//
// Each seat has a digest: the SHA-256 of its event and effect lines, as they stand in
// the file. An answered event holds a hash of the reply's content, so the seat's
// digest covers that too. The digest of the run is the SHA-256 of the seats' digests
// in order (RunDigest). Nothing that differs between two runs of one seed and one set
// of replies is under these digests: no clock, no token count, no order of arrival.
// The end line also has the SHA-256 of the head, asked, reply and report lines with the run's
// digest, so that no byte of a finished journal can be changed without being noticed.
//
// An asked line is with the operating system before its request leaves. There is one
// for each request, so for one call there may be several: a repeated request, or the
// second copy of a slow one. The reply line of a call has the cost of all its requests.
// Asked lines without a later reply line of their call are requests whose reply never
// came, because the run was cut off. They are paid for all the same: whoever resumes the
// run charges them what they may have cost, and writes them into the new head
// (Head.Unanswered), so that they count however often the run is resumed.
//
// The event and effect lines of a seat are the same wherever they are written: a
// journal that holds one seat only (Head.Seat) has the lines, and the digest, that
// this seat has in the journal of the whole run.
//
// A run that was cut off goes on in its file (Resume, Run.Continue): another head begins
// another attempt, which has all lines that it needs to be replayed. A reader returns the
// last attempt; until that has an end, replies of earlier ones are kept too.
//
// The journal of a run whose seats were played by nodes of their owners has the seats' opinions as effects,
// and report lines in place of asked and reply lines. It cannot be replayed: each node's own journal can.
//
// # Segments
//
// The journals of many runs that are being played may share one file (Segment). Finished ones that
// cost nothing can be packed (Packed).
//
// The package has rank 1: it records the vocabulary of the root package and knows no
// council, protocol or model.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
)

// output is where the lines of one journal go.
type output interface {
	// write takes whole lines. If sync is set, they must be with the operating system
	// when it returns, so that they outlive the process.
	write(lines []byte, sync bool) error
	// close ends the output after the last lines, and owns them from then on. ended
	// says that they are the end of a finished run. packed is its packed form; nil: there is
	// none.
	close(lines []byte, packed *Packed, ended bool) error
}

// Writer writes one journal. Its methods may be called concurrently. The first
// write that fails is kept (Err) and ends the writing, not the run: the run's owner
// decides what a lost journal means.
type Writer struct {
	mu      sync.Mutex
	path    string
	out     output // nil once it is closed
	buf     []byte // lines that have not been written
	digests digests
	packing *packing   // nil: the output does not pack
	now     synod.Tick // of the last event
	err     error
}

// Create makes a new journal file, readable by its owner only, and writes the head.
// It does not replace a file. Until the Writer is closed other processes cannot resume
// the journal.
func Create(path string, head Head) (*Writer, error) { return CreateOn(durable.System, path, head) }

// CreateOn is Create on a disk, which campaigns let fail.
func CreateOn(d durable.Disk, path string, head Head) (*Writer, error) {
	if err := durable.MkdirAllOn(d, filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := d.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	w, err := (*Writer)(nil), d.Hold(f)
	if err == nil {
		w, err = newWriter(path, &file{File: f}, head, true)
	}
	if err == nil {
		err = d.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		d.Remove(path)
		return nil, err
	}
	return w, nil
}

func newWriter(path string, out output, head Head, now bool) (*Writer, error) {
	w := &Writer{path: path, out: out, digests: digests{seat: head.Seat}, buf: *lineBuffers.Get().(*[]byte)}
	if a, ok := out.(*attempt); ok && a.segment.Pack {
		w.packing = &packing{}
		w.packing.head(&head)
	}
	if _, only := out.(digesting); only {
		return w, nil // the head and the replies are not in the digest of a run
	}
	head.Kind, head.Version = "head", Version
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	w.buf = append(append(w.buf, line...), '\n')
	w.digests.note(w.buf)
	for _, key := range slices.SortedFunc(maps.Keys(head.Known), Key.compare) {
		r := head.Known[key]
		w.reply(key.Node, key.ID, &r)
	}
	if now {
		w.flush()
	}
	return w, w.err
}

// Path returns where the journal can be loaded from: its file, or FILE#ID in a
// segment.
func (w *Writer) Path() string { return w.path }

// Asked writes that a request for a call is about to leave, at once, so that it is known
// even if the process dies before the reply comes. A request must not leave if it fails.
func (w *Writer) Asked(node synod.NodeID, id synod.ConsultID, c Cost) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out == nil {
		return errors.Join(w.err, errClosed)
	}
	w.unpacked()
	start := len(w.buf)
	w.buf = append(appendAskedLine(w.buf, node, id, c), '\n')
	w.digests.note(w.buf[start:])
	w.flush()
	return w.err
}

var errClosed = errors.New("the journal is closed")

// Reply writes a reply at once, so that it outlives the process.
func (w *Writer) Reply(node synod.NodeID, id synod.ConsultID, r synod.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reply(node, id, &r)
	w.flush()
}

// Free writes a reply that costs nothing to ask for again: it may reach the file
// together with later lines.
func (w *Writer) Free(node synod.NodeID, id synod.ConsultID, r synod.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reply(node, id, &r)
}

// Report writes the report of a seat.
func (w *Writer) Report(node synod.NodeID, instance string, account any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, err := json.Marshal(account)
	if err != nil {
		w.fail(err)
		return
	}
	b, err := json.Marshal(SeatReport{Kind: "report", Node: node, Instance: instance, Account: text})
	if err != nil {
		w.fail(err)
		return
	}
	w.unpacked()
	start := len(w.buf)
	w.buf = append(append(w.buf, b...), '\n')
	w.digests.note(w.buf[start:])
	w.flush()
}

// unpacked says that the journal has lines that are not packed.
func (w *Writer) unpacked() {
	if w.packing != nil {
		w.packing.bad = true
	}
}

// Event records what a node was given.
func (w *Writer) Event(now synod.Tick, node synod.NodeID, e synod.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
	w.step(eventOf(now, node, e))
}

// Effect records what a node wanted done.
func (w *Writer) Effect(now synod.Tick, node synod.NodeID, e synod.Effect) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step(effectOf(now, node, e))
}

// Digests returns the digest of the run so far, and those of its seats by NodeID.
func (w *Writer) Digests() (run string, seats []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.digests.end()
}

// Close writes the end, syncs and closes. The digest is that of the run even if the
// file could not be written.
func (w *Writer) Close(stopped string) (digest string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	digest, seats := w.digests.end()
	end := End{Kind: "end", Stopped: stopped, Digest: digest, Seats: seats, Ticks: w.now,
		Record: w.digests.recordOf(digest)}
	line, err := json.Marshal(end)
	if err != nil {
		w.fail(err)
	}
	w.buf = append(append(w.buf, line...), '\n')
	if w.packing != nil {
		w.packing.end(&end)
	}
	return digest, w.release(true)
}

// Abandon closes without an end, so that the run counts as cut off and can be
// resumed.
func (w *Writer) Abandon() (digest string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	digest, _ = w.digests.end()
	return digest, w.release(false)
}

func (w *Writer) release(ended bool) error {
	if w.out != nil {
		lines := w.buf
		if w.err != nil {
			lines, ended = nil, false // a file with a gap must not look whole
		}
		if err := w.out.close(lines, w.packing.packed(), ended); err != nil {
			w.fail(err)
		}
		w.out, w.buf, w.packing = nil, nil, nil
	}
	return w.err
}

// Err returns the first failure to write.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// step writes an event or effect.
func (w *Writer) step(l line) {
	start := len(w.buf)
	b, err := l.append(w.buf)
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = append(b, '\n')
	if err := w.digests.add(l.Node, w.buf[start:]); err != nil {
		w.fail(err)
		return
	}
	if l.Opinion != nil && w.packing != nil {
		w.packing.note(l.Tick, l.Node, l.Opinion)
	}
	if l.What == opened && w.packing != nil {
		w.packing.opened(l.Node, l.First)
	}
	w.written()
}

func (w *Writer) reply(node synod.NodeID, id synod.ConsultID, r *synod.Reply) {
	start := len(w.buf)
	b, err := appendReplyLine(w.buf, node, id, r)
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = append(b, '\n')
	w.digests.note(w.buf[start:])
	if w.packing != nil {
		w.packing.reply(node, id, r)
	}
	w.written()
}

// written keeps the buffer small.
func (w *Writer) written() {
	switch {
	case w.out == nil || w.err != nil:
		w.buf = w.buf[:0]
	case len(w.buf) > maxBuffer:
		w.put(false)
	}
}

func (w *Writer) flush() { w.put(true) }

func (w *Writer) put(sync bool) {
	if w.out != nil && w.err == nil && len(w.buf) > 0 {
		if err := w.out.write(w.buf, sync); err != nil {
			w.fail(err)
		}
	}
	w.buf = w.buf[:0]
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = fmt.Errorf("journal: %w", err)
	}
}

// file is the output of a journal that has a file of its own.
type file struct {
	durable.File
	size int64
	crc  uint32 // of the file
}

// write writes lines and their sum. After a failure it takes back what was written of
// them, as far as that is possible.
func (f *file) write(lines []byte, _ bool) error {
	if len(lines) == 0 {
		return nil
	}
	crc := crc32.Update(f.crc, castagnoli, lines)
	n := len(lines)
	lines = appendSum(lines, f.size+int64(n), crc)
	if _, err := f.Write(lines); err != nil {
		f.Truncate(f.size) // if this fails too, readers leave the lines out
		return err
	}
	f.size, f.crc = f.size+int64(len(lines)), crc32.Update(crc, castagnoli, lines[n:])
	return nil
}

func (f *file) close(lines []byte, _ *Packed, _ bool) error {
	defer recycle(lines)
	return errors.Join(f.write(lines, true), f.Sync(), f.Close())
}
