package faultdisk

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// file is an open file.
type file struct {
	disk   *Disk
	node   *node
	path   string
	at     int64
	closed bool
}

func (f *file) fail(op string, err error) error { return &fs.PathError{Op: op, Path: f.path, Err: err} }

// begin counts a call of an open file.
func (f *file) begin(op string, c Call) (Fault, error) {
	if f.closed {
		return Fault{}, f.fail(op, fs.ErrClosed)
	}
	fault := f.disk.call(c)
	if fault.Err != nil {
		return fault, f.fail(op, fault.Err)
	}
	return fault, nil
}

// Read implements io.Reader. It may return less than there is.
func (f *file) Read(b []byte) (int, error) {
	fault, err := f.begin("read", Call{Op: Read, Len: len(b)})
	if err != nil {
		return 0, err
	}
	if f.at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	if fault.Keep > 0 {
		b = b[:min(len(b), fault.Keep)]
	}
	n := copy(b, f.node.data[f.at:])
	f.at += int64(n)
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if _, err := f.begin("read", Call{Op: Read, Len: len(b)}); err != nil {
		return 0, err
	}
	if len(b) == 0 {
		return 0, nil // also at the end, as with a file of the system
	}
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Write implements io.Writer.
func (f *file) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, f.at)
	f.at += int64(n)
	return n, err
}

// WriteAt implements io.WriterAt. A write that fails may have written a part.
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	grow := at+int64(len(b)) > int64(len(f.node.data))
	fault, err := f.begin("write", Call{Op: Write, Len: len(b), Grow: grow})
	if err != nil {
		b = b[:min(max(fault.Keep, 0), len(b))]
	}
	if len(b) > 0 {
		f.node.write(write{at: at, bytes: slices.Clone(b)})
	}
	return len(b), err
}

// Truncate implements durable.File.
func (f *file) Truncate(size int64) error {
	if _, err := f.begin("truncate", Call{Op: Write, Grow: size > int64(len(f.node.data))}); err != nil {
		return err
	}
	f.node.truncate(size)
	return nil
}

// Seek implements io.Seeker.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += int64(len(f.node.data))
	}
	if offset < 0 {
		return 0, f.fail("seek", errors.New("the position is negative"))
	}
	f.at = offset
	return offset, nil
}

// Sync implements durable.File. If it fails, the writes before it are on the disk neither then nor later.
func (f *file) Sync() error {
	fault, err := f.begin("sync", Call{Op: Sync})
	if err == nil {
		for _, w := range f.node.dirty {
			f.node.disk = w.apply(f.node.disk)
		}
	}
	if err == nil || !fault.Kill && !errors.Is(err, ErrKilled) {
		f.node.dirty = nil
	}
	return err
}

// Close implements io.Closer.
func (f *file) Close() error {
	if f.closed {
		return f.fail("close", fs.ErrClosed)
	}
	f.closed = true
	return nil
}

// Stat implements durable.File.
func (f *file) Stat() (fs.FileInfo, error) {
	return info{filepath.Base(f.path), int64(len(f.node.data))}, nil
}

func (n *node) write(w write) {
	n.data = w.apply(n.data)
	n.dirty = append(n.dirty, w)
}

func (n *node) truncate(size int64) { n.write(write{at: size, cut: true}) }

// info describes a file.
type info struct {
	name string
	size int64
}

func (i info) Name() string     { return i.name }
func (i info) Size() int64      { return i.size }
func (info) Mode() fs.FileMode  { return 0o600 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
