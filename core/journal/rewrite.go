package journal

import (
	"errors"
	"io"
	"maps"
	"slices"

	"synod.dev/synod/internal/durable"
)

// rewrite writes the chunks of all runs to a new file, which takes the place of the old one.
func (s *Segment) rewrite() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.forgot = false
	old := s.file
	if len(s.runs) == 0 || s.disk == nil { // memory has no disk
		if len(s.runs) > 0 {
			return nil
		}
		// Without a sync a power cut could leave what is written now in the middle of what is there.
		if err := errors.Join(s.file.Truncate(0), s.file.Sync()); err != nil {
			s.err = err
			return err
		}
		s.size, s.unsafe = 0, false
		return nil
	}
	f, err := durable.Fresh(s.disk, s.path+".new")
	if err != nil {
		return err
	}
	from, runs := s.runs, s.runs
	s.file, s.size, s.runs = f, 0, map[string]*attempts{}
	if err = s.copy(old, from); err == nil {
		err = s.sync()
	}
	if err == nil {
		err = durable.RenameOn(s.disk, s.path+".new", s.path)
	}
	if err != nil {
		s.file, s.runs, s.err = old, runs, err
		f.Close()
		return err
	}
	return old.Close()
}

// copy appends the chunks of runs that another file holds.
func (s *Segment) copy(old io.ReaderAt, runs map[string]*attempts) (err error) {
	var buf []byte
	for _, id := range slices.Sorted(maps.Keys(runs)) {
		r := runs[id]
		for _, chunks := range r.all {
			for k, x := range chunks {
				if buf, err = x.read(old, buf); err != nil {
					return err
				}
				c := chunk{Run: id, Begin: k == 0, Kept: r.kept && k == len(chunks)-1}
				if err := s.append(c, buf, false); err != nil {
					return err
				}
			}
		}
		if s.runs[id] == nil {
			s.runs[id] = &attempts{}
		}
		s.runs[id].finished = r.finished
	}
	return nil
}

// memory is the storage of a segment that has no file.
type memory struct{ b []byte }

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(m.b)) {
		return 0, io.EOF
	}
	n := copy(b, m.b[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements io.WriterAt. Segments write at the end only.
func (m *memory) WriteAt(b []byte, at int64) (int, error) {
	m.b = append(m.b[:at], b...)
	return len(b), nil
}

func (m *memory) Truncate(size int64) error { m.b = m.b[:size]; return nil }
func (m *memory) Sync() error               { return nil }
func (m *memory) Close() error              { return nil }
