package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"synod.dev/synod"
)

// maxRow is the longest row of a recording that is read.
const maxRow = 16 << 20

// index reads the file once, a row at a time, keeps where the wanted rows stand,
// and returns the digest of the file.
func (t *recorded) index(c RecordedConfig) ([]byte, error) {
	hash := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(t.file, hash), 1<<16)
	models := map[string]bool{}
	at := int64(0)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := t.add(c, line, at, models); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		at += int64(len(line))
	}
	if len(t.items) == 0 {
		return nil, nothing(c, models)
	}
	for _, reels := range t.items {
		slices.SortFunc(reels, func(a, b reel) int { return cmp.Compare(a.trial, b.trial) })
	}
	return hash.Sum(nil), nil
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

// add puts a row into the index if it is one of the wanted.
func (t *recorded) add(c RecordedConfig, line []byte, at int64, models map[string]bool) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	r, err := readRow(line)
	if err != nil {
		return err
	}
	if c.Benchmark != "" && *r.Benchmark != c.Benchmark {
		return nil
	}
	models[*r.Model] = true
	if *r.Model != c.Model {
		return nil
	}
	for _, old := range t.items[r.item] {
		if old.trial == *r.Trial {
			return fmt.Errorf("item %s, trial %d of %s stands twice; name the benchmark if the file holds several", r.item, old.trial, c.Model)
		}
	}
	t.sure = t.sure || r.Sure != nil
	t.items[r.item] = append(t.items[r.item], reel{trial: *r.Trial, size: len(line), at: at})
	if r.Question != nil {
		key := hashString(0, *r.Question)
		if other, taken := t.texts[key]; taken && other != r.item {
			return fmt.Errorf("items %s and %s ask the same question", other, r.item)
		}
		t.texts[key] = r.item
	}
	return nil
}

// nothing says why no row was wanted, with the names that are there.
func nothing(c RecordedConfig, models map[string]bool) error {
	if len(models) == 0 {
		return fmt.Errorf("no rows%s", of(c.Benchmark))
	}
	names := make([]string, 0, len(models))
	for name := range models {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("no rows of model %q%s%s; there are: %q", c.Model, of(c.Benchmark), synod.Hint(c.Model, names), names)
}

func of(benchmark string) string {
	if benchmark == "" {
		return ""
	}
	return fmt.Sprintf(" of benchmark %q", benchmark)
}
