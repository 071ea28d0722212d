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
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
)

// Version is the format that is written, and the only one that is read.
const Version = 3

// Head describes a run completely enough to run it again.
type Head struct {
	Kind     string          `json:"k"`
	Version  int             `json:"version"`
	Program  string          `json:"program"` // that wrote the journal
	Spec     json.RawMessage `json:"spec"`    // the council, as its owner encodes it
	Question synod.Question  `json:"question"`

	// Seat is the only seat whose lines the journal holds; nil: it holds all seats.
	Seat *synod.NodeID `json:"seat,omitempty"`
	// Instance is the instance id to which the run's signatures are bound.
	Instance string `json:"instance,omitempty"`
	// Identities is the origin of the seats' keys and seeds: DerivedIdentities,
	// or "" in the journal of a seat that has an identity of its own.
	Identities string `json:"identities,omitempty"`
	// Seed is the seed of the run, from which all identities are derived. In the
	// journal of a seat that has an identity of its own it is the seed of this seat
	// in this run, which reveals nothing about other seats or other runs.
	Seed uint64 `json:"seed"`

	// Prompts are digests of the prompt templates by name: a run is not resumed with
	// other templates.
	Prompts map[string]string `json:"prompts,omitempty"`

	// Origin is a mark of Content by which users know their own journals; "": none.
	Origin string `json:"origin,omitempty"`

	// Unanswered are the requests of earlier, cut-off attempts at this run whose replies
	// never came, one entry for a seat; see Run.Unanswered.
	Unanswered []Unanswered `json:"unanswered,omitempty"`

	// Known are the replies of earlier attempts. They follow the head, at once: an attempt
	// that is cut off early has them too, so that the next one can be resumed from it.
	Known Replies `json:"-"`
}

// Cost is the cost of requests that left: their number, and the tokens that they may
// have cost at most.
type Cost struct {
	Calls int         `json:"calls"`
	Usage synod.Usage `json:"usage,omitzero"`
}

// Plus returns the sum, by synod.Sum.
func (c Cost) Plus(d Cost) Cost {
	return Cost{synod.Sum(c.Calls, d.Calls), c.Usage.Plus(d.Usage)}
}

// Unanswered is the cost of a seat's requests whose replies never came.
type Unanswered struct {
	Node synod.NodeID `json:"n"`
	Cost
}

// Content returns what a mark of the head is about: all other fields.
func (h Head) Content() []byte {
	h.Kind, h.Version, h.Origin = "head", Version, ""
	b, _ := json.Marshal(h) // it fails only for a Spec that is not JSON, which cannot be written either
	return b
}

// DerivedIdentities is the value of Head.Identities in a simulation: whoever knows
// the seed in the head knows the keys and seeds of all seats.
const DerivedIdentities = "derived from the seed"

// End describes how the run ended.
type End struct {
	Kind    string     `json:"k"`
	Stopped string     `json:"stopped"`
	Digest  string     `json:"digest"`           // of the run, or of the only seat
	Seats   []string   `json:"seats,omitempty"`  // digests by NodeID; nil in the journal of one seat
	Record  string     `json:"record,omitempty"` // SHA-256 of the head, asked and reply lines and of Digest
	Ticks   synod.Tick `json:"ticks,omitempty"`  // virtual time that the run took
}

// RunDigest returns the digest of a run, made of the digests of its seats by NodeID.
func RunDigest(seats []string) string {
	h := sha256.New()
	for _, s := range seats {
		fmt.Fprintln(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digests computes the digests of one journal while its lines are written or read.
type digests struct {
	seat   *synod.NodeID // as in Head
	seats  []hash.Hash   // by NodeID
	record hash.Hash
}

// add takes an event or effect line of a node. It fails if there is no such node.
func (d *digests) add(node synod.NodeID, line []byte) error {
	if node < 0 || node >= maxSeats {
		return fmt.Errorf("there is no seat %d", node)
	}
	for int(node) >= len(d.seats) {
		d.seats = append(d.seats, nil)
	}
	if d.seats[node] == nil {
		d.seats[node] = sha256.New()
	}
	d.seats[node].Write(line)
	return nil
}

// maxSeats bounds the seats of a journal, so that a line of a damaged file cannot
// take all memory.
const maxSeats = 1 << 17

// note takes a head, asked, reply or report line.
func (d *digests) note(line []byte) {
	if d.record == nil {
		d.record = sha256.New()
	}
	d.record.Write(line)
}

// end returns the digest of the run and of its seats. It leaves the digests as they
// are, so that more lines can follow.
func (d *digests) end() (digest string, seats []string) {
	seats = make([]string, len(d.seats))
	for i, h := range d.seats {
		seats[i] = hexOf(h)
	}
	if d.seat == nil {
		return RunDigest(seats), seats
	}
	if own := int(*d.seat); own >= 0 && own < len(seats) {
		return seats[own], nil
	}
	return hexOf(nil), nil
}

// recordOf returns End.Record for a run's digest. No line that note takes can follow.
func (d *digests) recordOf(digest string) string {
	d.note([]byte(digest))
	return hexOf(d.record)
}

// hexOf returns a digest in hexadecimal. A nil hash is that of no lines.
func hexOf(h hash.Hash) string {
	if h == nil {
		h = sha256.New()
	}
	var buf [sha256.Size]byte
	return hex.EncodeToString(h.Sum(buf[:0]))
}

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

// Report is what a seat that was played elsewhere, or by the clock, reports of its calls and its end.
type Report struct {
	Kind     string          `json:"k"`
	Node     synod.NodeID    `json:"n"`
	Instance string          `json:"instance"` // of the run that it has played
	Account  json.RawMessage `json:"account"`  // as its owner encodes it
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
	b, err := json.Marshal(Report{Kind: "report", Node: node, Instance: instance, Account: text})
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

// maxBuffer is how many bytes of lines wait to be written at most, roughly.
const maxBuffer = 256 << 10

// lineBuffers are buffers of Writers, and of readers of segments, to use again.
var lineBuffers = sync.Pool{New: func() any { return new(make([]byte, 0, 16<<10)) }}

// recycle makes a buffer of lines available to others, unless it is very large.
func recycle(buf []byte) {
	if buf = buf[:0]; cap(buf) <= 2*maxBuffer {
		lineBuffers.Put(&buf)
	}
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
