package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/order"
)

// rowIndex says where the rows of one model are in a recording. It does not change after it was read, so councils share
// it.
type rowIndex struct {
	model, benchmark string
	items            map[string][]rowPlace   // by item id, in order of trials
	others           map[otherKey][]rowPlace // of rows with a purpose
	purposes         map[synod.Purpose]bool  // of any row
	texts            map[uint64]string       // item id by hash of the question's text
	confident        bool                    // a row has a confidence
}

// otherKey names the rows with a reply to a prompt that does not ask for an answer.
type otherKey struct {
	item    string
	purpose synod.Purpose
	about   string
}

// rowPlace is where a row is in the file. Replies may be long, so they stay there.
type rowPlace struct {
	trial, size int
	at          int64
}

// indexKey is the content of a recording and whose rows of it are wanted.
type indexKey struct {
	digest           [sha256.Size]byte
	model, benchmark string
}

// indexes has the indexes read last. A grid opens the same recordings for each of its cells.
var indexes = struct {
	sync.Mutex
	by map[indexKey]*rowIndex
}{by: map[indexKey]*rowIndex{}}

// maxIndexes is how many indexes are kept.
const maxIndexes = 32

// indexOf returns the index of a file, and the SHA-256 of the file.
func indexOf(f *os.File, c recordedConfig) (*rowIndex, [sha256.Size]byte, error) {
	key := indexKey{model: c.Model, benchmark: c.Benchmark}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return nil, key.digest, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, key.digest, err
	}
	key.digest = [sha256.Size]byte(hash.Sum(nil))
	indexes.Lock()
	x := indexes.by[key]
	indexes.Unlock()
	if x != nil {
		return x, key.digest, nil
	}
	x = &rowIndex{model: c.Model, benchmark: c.Benchmark, items: map[string][]rowPlace{},
		others: map[otherKey][]rowPlace{}, purposes: map[synod.Purpose]bool{}, texts: map[uint64]string{}}
	var err error
	if key.digest, err = x.read(f); err != nil { // of what was indexed, should the file have changed since
		return nil, key.digest, err
	}
	indexes.Lock()
	defer indexes.Unlock()
	if len(indexes.by) >= maxIndexes {
		clear(indexes.by)
	}
	indexes.by[key] = x
	return x, key.digest, nil
}

// maxRow is the length in bytes of the longest row that is read.
const maxRow = 16 << 20

// read reads a file once, row by row, keeps where the wanted rows are, and returns the SHA-256 of the file.
func (x *rowIndex) read(f io.Reader) (digest [sha256.Size]byte, err error) {
	hash := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(f, hash), 1<<16)
	models := map[string]bool{} // that have rows of the benchmark
	at := int64(0)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return digest, fmt.Errorf("line %d: %w", n, err)
		}
		if err := x.add(line, at, models); err != nil {
			return digest, fmt.Errorf("line %d: %w", n, err)
		}
		at += int64(len(line))
	}
	if len(x.items) == 0 {
		return digest, x.noRows(slices.Sorted(maps.Keys(models)))
	}
	for _, rows := range x.items {
		order.Sort(rows, func(a, b rowPlace) int { return cmp.Compare(a.trial, b.trial) })
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// readLine reads a line with its end, of at most maxRow bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxRow {
			return nil, fmt.Errorf("longer than %d bytes", maxRow)
		}
	}
}

// add indexes a row if it belongs to the wanted model and benchmark.
func (x *rowIndex) add(line []byte, at int64, models map[string]bool) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	r, err := readRow(line)
	if err != nil {
		return err
	}
	if x.benchmark != "" && *r.Benchmark != x.benchmark {
		return nil
	}
	models[*r.Model] = true
	if *r.Model != x.model {
		return nil
	}
	if r.Purpose != "" {
		key := otherKey{r.item, r.Purpose, r.About}
		x.purposes[r.Purpose] = true
		x.others[key] = append(x.others[key], rowPlace{trial: *r.Trial, size: len(line), at: at})
		return nil
	}
	for _, other := range x.items[r.item] {
		if other.trial == *r.Trial {
			return fmt.Errorf("item %s, trial %d of %s occurs twice; name the benchmark if the file has several",
				r.item, other.trial, x.model)
		}
	}
	x.confident = x.confident || r.Confidence != nil
	x.items[r.item] = append(x.items[r.item], rowPlace{trial: *r.Trial, size: len(line), at: at})
	if r.Question != nil {
		key := hashString(0, *r.Question)
		if other, taken := x.texts[key]; taken && other != r.item {
			return fmt.Errorf("items %s and %s ask the same question", other, r.item)
		}
		x.texts[key] = r.item
	}
	return nil
}

// noRows returns the error that no row is wanted, with the models that have rows.
func (x *rowIndex) noRows(models []string) error {
	of := ""
	if x.benchmark != "" {
		of = fmt.Sprintf(" of benchmark %q", x.benchmark)
	}
	if len(models) == 0 {
		return fmt.Errorf("no rows%s", of)
	}
	return fmt.Errorf("no rows of model %q%s%s; there are: %q", x.model, of, synod.Hint(x.model, models),
		models)
}
