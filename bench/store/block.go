package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod/core/journal"
)

// block is the journals of some results.
type block struct {
	bodies    []Body
	committed time.Time
}

// maxBlock bounds the bytes of a block before it is compressed.
const maxBlock = 1 << 30

// encode compresses the journals: numbers with the lengths and the sizes of the two parts, all texts, and all words.
// The words are ordered by the place of their bytes, because those at one place are alike.
func encode(bodies []Body) ([]byte, error) {
	var head, text, words []byte
	head = binary.AppendUvarint(head, uint64(len(bodies)))
	for _, b := range bodies {
		text = binary.AppendUvarint(text, uint64(len(b.Text)))
		text = binary.AppendUvarint(text, uint64(len(b.Words)/8))
	}
	for _, b := range bodies {
		text, words = append(text, b.Text...), append(words, b.Words...)
	}
	shuffled := make([]byte, 0, len(words))
	for k := range 8 {
		for i := k; i < len(words); i += 8 {
			shuffled = append(shuffled, words[i])
		}
	}
	first, err := deflate(text)
	if err != nil {
		return nil, err
	}
	second, err := deflate(shuffled)
	if err != nil {
		return nil, err
	}
	for _, n := range []int{len(text), len(words), len(first)} {
		head = binary.AppendUvarint(head, uint64(n))
	}
	return append(append(head, first...), second...), nil
}

var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, 6) // it fails for unknown levels only
	return w
}}

func deflate(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func inflate(b []byte, size int) ([]byte, error) {
	in := flate.NewReader(bytes.NewReader(b))
	out := make([]byte, size)
	_, err := io.ReadFull(in, out)
	return out, err
}

var errBlock = errors.New("it is not a block of journals")

// decode is the inverse of encode.
func decode(b []byte) ([]Body, error) {
	var numbers [4]int
	for i := range numbers {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > maxBlock {
			return nil, errBlock
		}
		numbers[i], b = int(n), b[size:]
	}
	count, size, wordBytes, first := numbers[0], numbers[1], numbers[2], numbers[3]
	if first > len(b) || count > size || wordBytes%8 != 0 {
		return nil, errBlock
	}
	text, err := inflate(b[:first], size)
	if err != nil {
		return nil, err
	}
	shuffled, err := inflate(b[first:], wordBytes)
	if err != nil {
		return nil, err
	}
	words := make([]byte, wordBytes)
	for i, c := range shuffled {
		words[i%(wordBytes/8)*8+i/(wordBytes/8)] = c
	}
	return split(text, words, count)
}

// split cuts the texts and words of a block.
func split(text, words []byte, count int) ([]Body, error) {
	lengths := make([][2]int, count)
	for i := range lengths {
		for k := range 2 {
			n, size := binary.Uvarint(text)
			if size <= 0 || n > maxBlock {
				return nil, errBlock
			}
			lengths[i][k], text = int(n), text[size:]
		}
	}
	bodies := make([]Body, count)
	for i, n := range lengths {
		if n[0] > len(text) || 8*n[1] > len(words) {
			return nil, errBlock
		}
		bodies[i], text, words = Body{text[:n[0]:n[0]], words[: 8*n[1] : 8*n[1]]}, text[n[0]:], words[8*n[1]:]
	}
	if len(text)+len(words) > 0 {
		return nil, errBlock
	}
	return bodies, nil
}

// blocks are the blocks that were read last.
type blocks struct {
	store *Store

	mu    sync.Mutex
	files map[int]*os.File
	known map[int64]*lookup
	order []int64 // of known, the oldest first
}

// lookup is a block that is being read, or was.
type lookup struct {
	once sync.Once
	*block
	err error
}

// maxKnown is how many blocks are kept in memory.
const maxKnown = 16

func (b *blocks) open(s *Store) {
	b.store, b.files, b.known = s, map[int]*os.File{}, map[int64]*lookup{}
}

func (b *blocks) close() (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.files {
		err = errors.Join(err, f.Close())
	}
	b.files = nil
	return err
}

// get returns a block; it is read once, also if several ask for it at once.
func (b *blocks) get(id int64) (*block, error) {
	b.mu.Lock()
	r := b.known[id]
	if r == nil {
		r = &lookup{}
		b.known[id], b.order = r, append(b.order, id)
		if len(b.order) > maxKnown {
			delete(b.known, b.order[0])
			b.order = b.order[1:]
		}
	}
	b.mu.Unlock()
	r.once.Do(func() { r.block, r.err = b.read(id) })
	return r.block, r.err
}

func (b *blocks) read(id int64) (*block, error) {
	var segment, entries int
	var at, size int64
	var crc uint32
	var committed string
	err := b.store.db.QueryRow("SELECT segment, offset, bytes, entries, crc, committed FROM blocks WHERE id = ?", id).
		Scan(&segment, &at, &size, &entries, &crc, &committed)
	if err == nil && (size < 0 || size > maxBlock || at < 0) {
		err = fmt.Errorf("block %d has %d bytes at %d: %w", id, size, at, journal.ErrChanged)
	}
	if err != nil {
		return nil, b.store.named(err)
	}
	f, err := b.file(segment)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("store: %w", err)
	}
	out := &block{}
	if crc32.Checksum(raw, castagnoli) == crc {
		out.bodies, err = decode(raw)
	} else {
		err = errors.New("it does not have its checksum")
	}
	if err != nil || len(out.bodies) != entries {
		return nil, fmt.Errorf("store: %s: the block at byte %d: %w: %w", f.Name(), at, errors.Join(err),
			journal.ErrChanged)
	}
	out.committed, err = time.Parse(stampForm, committed)
	return out, b.store.named(err)
}

func (b *blocks) file(segment int) (*os.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.files[segment]; f != nil {
		return f, nil
	}
	f, err := os.Open(b.store.segment(segment))
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: %w", err, journal.ErrChanged)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	b.files[segment] = f
	return f, nil
}

// segment is the path of a segment file.
func (s *Store) segment(n int) string { return filepath.Join(s.dir, fmt.Sprintf("journals-%d.seg", n)) }
