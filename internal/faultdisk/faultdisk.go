// Package faultdisk is a file system in memory whose calls can fail, whose process can die at any call, and whose power
// can be cut. Ledgers and journals are played on it (durable.Disk).
//
// A write is seen by all who read at once, and is on the disk after the next Sync of its file. A name is on the disk
// after the next SyncDir of its folder. When the power is cut, names and writes that are not on the disk are lost from
// some call on; of the last write that is not lost, some sectors may be on the disk. A Sync that fails drops what it
// should have put on the disk, as Linux does: it can still be read, and a later Sync that succeeds does not put it
// there.
//
// Its rank is 0: it is a disk of internal/durable.
package faultdisk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"synod.dev/synod/internal/durable"
)

// Op is a kind of call of a disk.
type Op string

// The kinds of calls. Names are calls that make or open a file, or make a folder.
const (
	Read    Op = "read"
	Write   Op = "write" // or Truncate
	Sync    Op = "sync"
	SyncDir Op = "sync-dir"
	Rename  Op = "rename"
	Name    Op = "name"
)

// Call is a call of a disk that is about to be made.
type Call struct {
	Op   Op
	Len  int  // of a Read or Write, in bytes
	Grow bool // the file becomes longer, or a new name is made
}

// Fault is how a call fails.
type Fault struct {
	Err  error // that the call returns; nil: it succeeds
	Keep int   // bytes of a Write that are written although it fails; of a Read that does not: the most, 0: all
	Kill bool  // the process dies: this call is its last one that may have an effect
}

// ErrKilled is what calls return to a process that is dead.
var ErrKilled = errors.New("faultdisk: the process was killed")

// Disk is a durable.Disk. It is not safe for concurrent use.
type Disk struct {
	// Inject says how a call fails; nil: no call fails.
	Inject func(Call) Fault
	// Calls is the number of calls that were made.
	Calls int

	seen   map[string]*node // by path: what processes see
	stable map[string]*node // by path: the names that are on the disk
	names  []change         // of names, that are not on the disk
	dead   bool
}

// New returns an empty disk with a root folder.
func New() *Disk {
	root := &node{folder: true}
	return &Disk{seen: map[string]*node{"/": root}, stable: map[string]*node{"/": root}}
}

// node is a file or a folder.
type node struct {
	folder bool
	data   []byte  // what processes see
	disk   []byte  // what is on the disk
	dirty  []write // that are not on the disk
}

// write is a write or, without bytes, a truncation.
type write struct {
	at    int64
	bytes []byte
	cut   bool
}

// change is a change of a name: it stands for a node, or for nothing.
type change struct {
	path string
	to   *node
	from string // the name that a Rename takes away; "": none
}

// Dead reports whether the process has died.
func (d *Disk) Dead() bool { return d.dead }

// call counts a call and returns how it fails.
func (d *Disk) call(c Call) Fault {
	if d.dead {
		return Fault{Err: ErrKilled}
	}
	d.Calls++
	if d.Inject == nil {
		return Fault{}
	}
	f := d.Inject(c)
	if f.Kill {
		d.dead = true
		if f.Err == nil {
			f.Err = ErrKilled
		}
	}
	return f
}

// OpenFile implements durable.Disk.
func (d *Disk) OpenFile(path string, flag int, _ fs.FileMode) (durable.File, error) {
	path = filepath.Clean(path)
	n := d.seen[path]
	fresh := n == nil && flag&os.O_CREATE != 0
	if f := d.call(Call{Op: Name, Grow: fresh}); f.Err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: f.Err}
	}
	above := d.seen[filepath.Dir(path)]
	switch {
	case above == nil || !above.folder || n == nil && !fresh:
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
	case n != nil && n.folder:
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EEXIST}
	case fresh:
		n = &node{}
		d.rename(change{path: path, to: n})
	}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		n.truncate(0)
	}
	return &file{disk: d, node: n, path: path}, nil
}

// Mkdir implements durable.Disk.
func (d *Disk) Mkdir(dir string, _ fs.FileMode) error {
	dir = filepath.Clean(dir)
	if f := d.call(Call{Op: Name, Grow: d.seen[dir] == nil}); f.Err != nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: f.Err}
	}
	switch {
	case d.seen[dir] != nil:
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.EEXIST}
	case d.seen[filepath.Dir(dir)] == nil:
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOENT}
	}
	d.rename(change{path: dir, to: &node{folder: true}})
	return nil
}

// Rename implements durable.Disk, for names of one folder.
func (d *Disk) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	if f := d.call(Call{Op: Rename}); f.Err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: f.Err}
	}
	n := d.seen[from]
	if n == nil || filepath.Dir(from) != filepath.Dir(to) {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.ENOENT}
	}
	d.rename(change{path: to, to: n, from: from})
	return nil
}

// Remove implements durable.Disk.
func (d *Disk) Remove(path string) error {
	path = filepath.Clean(path)
	if f := d.call(Call{Op: Rename}); f.Err != nil {
		return &fs.PathError{Op: "remove", Path: path, Err: f.Err}
	}
	if d.seen[path] == nil {
		return &fs.PathError{Op: "remove", Path: path, Err: syscall.ENOENT}
	}
	d.rename(change{path: path})
	return nil
}

// SyncDir implements durable.Disk.
func (d *Disk) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	if f := d.call(Call{Op: SyncDir}); f.Err != nil {
		return &fs.PathError{Op: "sync", Path: dir, Err: f.Err}
	}
	if d.seen[dir] == nil {
		return &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOENT}
	}
	d.names = slices.DeleteFunc(d.names, func(c change) bool {
		if filepath.Dir(c.path) != dir {
			return false
		}
		c.apply(d.stable)
		return true
	})
	return nil
}

// Hold implements durable.Disk. There is one process at a time.
func (d *Disk) Hold(durable.File) error { return nil }

func (d *Disk) rename(c change) {
	c.apply(d.seen)
	d.names = append(d.names, c)
}

// apply changes names.
func (c *change) apply(names map[string]*node) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.to == nil {
		delete(names, c.path)
	} else {
		names[c.path] = c.to
	}
}

// Files returns the paths of all files that have bytes, sorted.
func (d *Disk) Files() []string {
	var paths []string
	for path, n := range d.seen {
		if !n.folder && len(n.data) > 0 {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Flip flips a bit of a file, by its number modulo their number. Nobody may have the file open.
func (d *Disk) Flip(path string, bit int) {
	n := d.seen[path]
	bit %= 8 * len(n.data)
	n.data[bit/8] ^= 1 << (bit % 8)
	if bit/8 < len(n.disk) {
		n.disk[bit/8] ^= 1 << (bit % 8)
	}
}

// Backup returns the files that processes see.
func (d *Disk) Backup() map[string][]byte {
	all := map[string][]byte{}
	for path, n := range d.seen {
		if !n.folder {
			all[path] = slices.Clone(n.data)
		}
	}
	return all
}

// Restore replaces all files by those of a backup, which are on the disk. Nobody may have a file open.
func (d *Disk) Restore(files map[string][]byte) {
	maps.DeleteFunc(d.seen, func(_ string, n *node) bool { return !n.folder })
	for path, b := range files {
		d.seen[path] = &node{data: slices.Clone(b), disk: slices.Clone(b)}
	}
	d.stable, d.names = maps.Clone(d.seen), nil
}
