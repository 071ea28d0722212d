package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"

	"synod.dev/synod/core/journal"
)

const segmentPath = "/data/working.jsonl"

// tray writes the journals of runs into one segment.
type tray struct {
	t       *trace
	d       *drive
	segment *journal.Segment
	open    []*playing
	begun   []*account        // all runs that may be in the segment
	taken   map[string][]byte // the lines of runs that were taken and not forgotten
	calls   int
	failed  bool // the segment has failed since it was opened
}

// playing is a run that is being played.
type playing struct {
	*account
	w    *journal.Writer
	asks int // calls of this attempt
}

func playSegment(t *trace, d *drive) {
	k := &tray{t: t, d: d, taken: map[string][]byte{}}
	ok := k.start()
	for i := 0; i < t.x.Operations && ok; i++ {
		k.operate()
		if d.Dead() {
			ok = k.restart()
		}
	}
	if ok {
		if d.rand.IntN(2) == 0 {
			_ = k.segment.Close() // what it has not written counts as lost
		}
		d.crash = "power-cut"
		ok = k.restart()
	}
	t.State("not resumed", !ok)
	if ok && k.segment.Close() == nil {
		k.d.faulty(false)
		k.flip()
	}
}

// flip changes single bits of the segment: it cannot be opened then, or has all that it had. A byte without any bit is
// also what a power cut leaves of the end.
func (k *tray) flip() {
	was, err := k.contents()
	if err != nil {
		return
	}
	files := k.d.Backup()
	whole := files[segmentPath]
	for range min(8, len(whole)) {
		at, bad := k.d.rand.IntN(len(whole)), bytes.Clone(whole)
		if bad[at] ^= 1 << k.d.rand.IntN(8); bad[at] == 0 {
			continue
		}
		files[segmentPath] = bad
		k.d.Restore(files)
		is, err := k.contents()
		k.t.Claim(claimRead, err != nil || maps.Equal(is, was), "byte %d of %d of the segment is %#x and not %#x: it "+
			"has %q, and had %q", at, len(whole), bad[at], whole[at], is, was)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	next := bytes.Index(whole[min(1, len(whole)):], whole[:min(12, len(whole))]) // where the second part begins
	if first < 12 || next+1 < first+32 {
		return
	}
	bad, at := bytes.Clone(whole), first+k.d.rand.IntN(next+1-first-16)
	clear(bad[at : at+1+k.d.rand.IntN(16)])
	files[segmentPath] = bad
	k.d.Restore(files)
	is, err := k.contents()
	k.t.Claim(claimRead, err != nil || maps.Equal(is, was), "bytes from %d on are empty, and the second part begins "+
		"at %d: the segment has %q, and had %q", at, next+1, is, was)
}

// contents opens the segment and returns what it has of each run: its replies, and whether it was taken.
func (k *tray) contents() (map[string]string, error) {
	s, err := journal.OpenSegmentOn(k.d, segmentPath)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, id := range s.IDs() {
		run, err := s.Load(id)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		all[id] = fmt.Sprint(s.Finished(id), texts(run.Replies))
	}
	return all, s.Close()
}

// restart ends the process and begins another one.
func (k *tray) restart() bool {
	_ = k.segment.Close() // it fails after a kill
	k.d.start()
	return k.start()
}

// start opens the segment and checks what it holds; false: it cannot be opened.
func (k *tray) start() bool {
	err := k.d.again(func() (err error) {
		k.segment, err = journal.OpenSegmentOn(k.d, segmentPath)
		return err
	})
	if err != nil {
		// A chunk that lacks a sector is told from a changed one only at the end of the file.
		k.t.Claim(claimPaid, k.d.rotten || k.d.torn, "the segment cannot be opened: %v", err)
		return false
	}
	k.d.faulty(false)
	defer k.d.faulty(true)
	k.failed, k.open = false, nil
	for _, a := range k.begun {
		if lines := k.taken[a.id]; lines != nil {
			k.kept(a.id, lines)
		}
		k.resumed(a)
	}
	return true
}

// kept checks a run that was taken and not forgotten. After a power cut a changed bit may look like the end of a file
// that was not written to its end.
func (k *tray) kept(id string, lines []byte) {
	got, err := k.segment.Lines(id)
	claim := claimPaid
	if k.d.rotten {
		claim = claimRead
	}
	k.t.Claim(claim, err == nil && bytes.Equal(got, lines) || k.d.rotten && k.d.cut > 0 && err != nil,
		"%s was taken with %d bytes, and %d are left: %v", id, len(lines), len(got), err)
}

// resumed checks a run that was cut off.
func (k *tray) resumed(a *account) {
	lost := k.d.cut > a.cut || k.d.rotten
	run, err := k.segment.Load(a.id)
	if errors.Is(err, os.ErrNotExist) && len(a.paid) > 0 {
		k.t.Claim(claimPaid, lost, "the segment has nothing of %s, of which %d replies were paid for", a.id,
			len(a.paid))
	}
	if err != nil {
		k.t.Claim(claimPaid, lost || errors.Is(err, os.ErrNotExist), "%s cannot be loaded: %v", a.id, err)
		a.paid = replies{}
		return
	}
	k.t.State("resumed", true)
	desk := &desk{t: k.t, d: k.d}
	desk.compare(a, run, lost)
	a.cut = k.d.cut
	if !k.segment.Finished(a.id) {
		a.paid = texts(run.Replies)
	} else if lines, err := k.segment.Lines(a.id); err == nil { // it was taken, and its user was not told
		k.taken[a.id] = lines
	}
}

// operate uses the segment once.
func (k *tray) operate() {
	k.calls++
	n := k.d.rand.IntN(10)
	switch {
	case len(k.open) == 0 || n == 0 && len(k.open) < 3:
		k.create()
	case n < 6:
		p := k.open[k.d.rand.IntN(len(k.open))]
		p.asks++
		k.failed = ask(k.t, k.d, p.w, p.account, k.calls, k.failed)
	case n < 9:
		k.take()
	default:
		k.forget()
	}
}

// create begins a run, or goes on with one that was cut off.
func (k *tray) create() {
	head := journal.Head{Program: "campaign", Seed: 1}
	a := newAccount(fmt.Sprint("q", k.calls), k.d)
	if old := k.cutOff(); old != nil {
		run, err := k.segment.Load(old.id)
		if err != nil {
			return
		}
		a, head.Known, head.Unanswered = old, run.Answered(), run.Lost()
		a.wrote = texts(run.Replies)
	} else {
		k.begun = append(k.begun, a)
	}
	w, err := k.segment.Create(a.id, head)
	if err != nil {
		return
	}
	k.open = append(k.open, &playing{account: a, w: w})
}

// cutOff returns a run that nobody is playing and that is not finished; nil: there is none.
func (k *tray) cutOff() *account {
	for _, a := range k.begun {
		playing := false
		for _, p := range k.open {
			playing = playing || p.account == a
		}
		if !playing && !k.segment.Finished(a.id) && k.segment.Holds(a.id) {
			return a
		}
	}
	return nil
}

// take ends a run and takes its journal, which is on the disk then.
func (k *tray) take() {
	at := k.d.rand.IntN(len(k.open))
	p := k.open[at]
	k.open = append(k.open[:at], k.open[at+1:]...)
	p.ended = true
	var err error
	var f *journal.Finished
	if p.digest, err = p.w.Close("rounds"); err == nil {
		f, err = k.segment.Take(p.id)
	}
	if err != nil {
		k.failed = k.failed || k.d.hurt // it may also be that it could not be read
		return
	}
	if p.asks == 0 {
		return // it cost nothing more than the attempts before it, which stay until it is forgotten
	}
	k.t.Claim(claimLeaves, !k.failed, "%s is taken after the segment has failed", p.id)
	k.t.State("closed", true)
	k.taken[p.id] = bytes.Clone(f.Lines)
}

// forget forgets one of the runs that were taken.
func (k *tray) forget() {
	for _, a := range k.begun {
		if k.taken[a.id] != nil {
			delete(k.taken, a.id)
			a.paid = replies{}
			if err := k.segment.Forget(a.id); err != nil {
				k.failed = k.failed || k.d.hurt
			}
			return
		}
	}
}
