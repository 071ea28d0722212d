package campaign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"syscall"

	"synod.dev/synod"
	"synod.dev/synod/internal/faultdisk"
)

// mostOperations bounds the operations of an execution on a disk.
const mostOperations = 64

// setupDisk draws the size of an execution on a disk.
func setupDisk(c chance, x *Execution) {
	x.N, x.Operations = 1, 3+c.IntN(8)
}

// diskHorizon is about how many calls of one kind an execution on a disk makes.
func diskHorizon(x *Execution) synod.Tick { return synod.Tick(2 * x.Operations) }

// calls draws which calls of a disk a fault hits, and its argument.
func (e *ScheduledFault) calls(c chance, x *Execution) {
	e.Arg = c.IntN(1 << 16)
	switch {
	case atRest(e.Kind): // it hits starts of a process, of which there are few
		e.From = synod.Tick(c.IntN(4) / 3)
		e.To = e.From + 1
	case crashes(e.Kind): // it hits calls of every kind, of which a ledger makes more
		most := 8 * x.Operations
		if x.Protocol == journalName {
			most = 3 * x.Operations
		}
		e.From = synod.Tick(c.IntN(most))
		e.To = e.From + 1 + synod.Tick(c.IntN(2))
	case c.IntN(4) > 0: // most faults pass
		e.To = e.From + 1 + synod.Tick(c.IntN(3))
	}
}

// crashes reports whether a fault ends the process.
func crashes(kind string) bool { return kind == "kill" || kind == "power-cut" || kind == "torn-sector" }

// atRest reports whether a fault happens while no process has the disk open.
func atRest(kind string) bool {
	return kind == "bit-rot" || kind == "ledger-lost" || kind == "ledger-rolled-back"
}

// drive is the disk of an execution with its faults.
type drive struct {
	*faultdisk.Disk
	t      *trace
	rand   *rand.Rand
	passed []int               // by event: the calls, or starts, that it might have hit
	crash  string              // the kind of fault that ended the process; "": it ended by itself
	cut    int                 // how often the power was cut
	hurt   bool                // a write or a sync has failed since what it writes was opened
	rotten bool                // a bit has changed
	torn   bool                // sectors were lost between others that were not
	files  []map[string][]byte // copies of all files, for ledgers that are rolled back
}

func newDrive(t *trace) *drive {
	d := &drive{Disk: faultdisk.New(), t: t, rand: rand.New(rand.NewPCG(t.x.Seed, 0xd15c)),
		passed: make([]int, len(t.x.Events))}
	if err := errors.Join(d.Mkdir("/data", 0o700), d.SyncDir("/")); err != nil {
		panic(err) // nothing fails yet
	}
	d.faulty(true)
	return d
}

// faulty switches faults on or off.
func (d *drive) faulty(on bool) {
	d.Inject = nil
	if on {
		d.Inject = d.inject
	}
}

// inject says how a call fails: by the first event whose turn it is.
func (d *drive) inject(c faultdisk.Call) (f faultdisk.Fault) {
	for i := range d.t.x.Events {
		e := &d.t.x.Events[i]
		if atRest(e.Kind) || !hits(e.Kind, c) || !d.turn(i) || f != (faultdisk.Fault{}) {
			continue
		}
		d.t.injected[e.kind] = true
		f = faultOf(e, c)
		if f.Kill {
			d.crash = e.Kind
		}
		d.hurt = d.hurt || f.Err != nil && (c.Op == faultdisk.Write || c.Op == faultdisk.Sync)
	}
	return f
}

// turn counts a call that an event may hit, and reports whether it does.
func (d *drive) turn(i int) bool {
	e, k := &d.t.x.Events[i], synod.Tick(d.passed[i])
	d.passed[i]++
	return k >= e.From && k < e.To
}

// hits reports whether a kind of fault may hit a call.
func hits(kind string, c faultdisk.Call) bool {
	switch kind {
	case "disk-full", "disk-quota":
		return c.Grow
	case "disk-read-only":
		return c.Op == faultdisk.Write || c.Op == faultdisk.Rename || c.Op == faultdisk.Name && c.Grow
	case "write-error", "short-write":
		return c.Op == faultdisk.Write
	case "sync-error":
		return c.Op == faultdisk.Sync || c.Op == faultdisk.SyncDir
	case "rename-error":
		return c.Op == faultdisk.Rename
	case "read-error", "short-read":
		return c.Op == faultdisk.Read
	}
	return true
}

// faultOf returns how a fault lets a call fail.
func faultOf(e *ScheduledFault, c faultdisk.Call) faultdisk.Fault {
	part := e.Arg % (c.Len + 1)
	switch e.Kind {
	case "disk-full":
		return faultdisk.Fault{Err: syscall.ENOSPC, Keep: part}
	case "disk-quota":
		return faultdisk.Fault{Err: syscall.EDQUOT, Keep: part}
	case "disk-read-only":
		return faultdisk.Fault{Err: syscall.EROFS}
	case "short-write":
		return faultdisk.Fault{Err: io.ErrShortWrite, Keep: part}
	case "short-read":
		return faultdisk.Fault{Keep: 1 + e.Arg%7}
	case "kill", "power-cut", "torn-sector":
		return faultdisk.Fault{Kill: true, Keep: part}
	}
	return faultdisk.Fault{Err: syscall.EIO}
}

// start ends what is left of a process, lets happen what happens at rest, and begins another one.
func (d *drive) start() {
	switch {
	case d.crash == "power-cut" || d.crash == "torn-sector":
		d.PowerCut(d.rand, d.crash == "torn-sector")
		d.cut, d.torn = d.cut+1, d.torn || d.crash == "torn-sector"
	default:
		d.Kill()
	}
	d.crash, d.hurt = "", false
	if d.t.subject.Name == ledgerName {
		d.files = append(d.files, d.Backup())
	}
	for i := range d.t.x.Events {
		if e := &d.t.x.Events[i]; atRest(e.Kind) && d.changes(e) && d.turn(i) {
			d.change(e)
			d.t.injected[e.kind] = true
		}
	}
}

// changes reports whether a fault at rest would change anything.
func (d *drive) changes(e *ScheduledFault) bool {
	if e.Kind == "ledger-rolled-back" {
		return d.older(e) != nil
	}
	return len(d.Files()) > 0
}

// change lets a fault at rest happen.
func (d *drive) change(e *ScheduledFault) {
	switch e.Kind {
	case "bit-rot":
		files := d.Files()
		d.Flip(files[e.Arg%len(files)], e.Arg/len(files))
		d.rotten = true
	case "ledger-lost":
		d.Restore(nil)
	case "ledger-rolled-back":
		d.Restore(d.older(e))
	}
}

// older returns a copy of all files that differs from what they are; nil: there is none.
func (d *drive) older(e *ScheduledFault) map[string][]byte {
	now := d.Backup()
	for i := range d.files {
		if copied := d.files[(e.Arg+i)%len(d.files)]; !maps.EqualFunc(copied, now, bytes.Equal) {
			return copied
		}
	}
	return nil
}

// digest is a hash of all files.
func (d *drive) digest() uint64 {
	h, all := uint64(1), d.Backup()
	for _, path := range d.Files() {
		h = hashText(hashText(h, path), string(all[path]))
	}
	return h
}

// mostTries is how often a process is started while faults last: then they are over.
const mostTries = 12

// again starts processes until open succeeds. It returns the last error of open after the faults are over.
func (d *drive) again(open func() error) (err error) {
	defer d.faulty(true)
	for range mostTries {
		d.hurt = false
		err = open()
		switch {
		case d.Dead():
			d.start()
		case err == nil:
			return nil
		}
	}
	d.faulty(false)
	d.hurt = false
	return open()
}

// seedBytes returns bytes that follow from a number.
func seedBytes(n uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), n) }
