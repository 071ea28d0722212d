package node

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// slots is the record of what this node has signed: one value for each slot of each run. A value is
// on disk before it is signed, and a second value for its slot is refused for ever (SC-21). The file
// is locked, so that two daemons of one owner cannot both sign.
//
// A line is: INSTANCE ROUND SUM "NAME" CHECKSUM. A line that is torn was never signed, and is cut off.
//
// Of a run that has ended with a record nothing but a certificate is signed any more, so it is settled: its values are
// forgotten, all but that one (retention).
type slots struct {
	mu      sync.Mutex
	path    string
	file    *os.File
	signed  map[string]map[synod.Slot][32]byte // by instance
	settled map[string]bool                    // by instance
	gone    map[uint64]bool                    // runs before the horizon, by the beginning of their ids
	lines   int                                // of the file
	failed  error                              // the first failure to write: nothing more is signed
}

// slotKey names a slot of this node in a run.
type slotKey struct {
	instance string
	slot     synod.Slot
}

// signing is a value for a slot.
type signing struct {
	key slotKey
	sum [32]byte
}

// errSecondValue is the error of a second value for a slot.
var errSecondValue = errors.New("another value was signed for this slot before")

// maxSlots bounds the file in memory. A node that has signed more begins a new folder.
const maxSlots = 4 << 20

func openSlots(path string) (*slots, error) {
	f, err := lockFile(path)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s: %w: a node is running with this folder", path, err)
	}
	if err != nil {
		return nil, err
	}
	s := &slots{path: path, file: f, signed: map[string]map[synod.Slot][32]byte{}, settled: map[string]bool{},
		gone: map[uint64]bool{}}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return s, durable.SyncDir(filepath.Dir(path))
}

func (s *slots) load() error {
	in, whole := bufio.NewReader(s.file), int64(0)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) { // a torn line: its write was not completed, so nothing was signed
			if err := s.file.Truncate(whole); err != nil {
				return err
			}
			_, err = s.file.Seek(whole, io.SeekStart)
			return err
		}
		if err != nil {
			return err
		}
		v, err := parseSigning(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return fmt.Errorf("line %d: %w; do not sign with this key again until you know what has changed the file",
				n, err)
		}
		if s.lines++; s.lines > maxSlots {
			return fmt.Errorf("it has more than %d lines; begin a new folder with --dir, under a new key", maxSlots)
		}
		s.set(v)
		whole += int64(len(line))
	}
}

// lockFile opens and locks the file with a path. Whoever holds the lock may put another file in its place (compact).
func lockFile(path string) (*os.File, error) {
	for {
		f, err := filelock.Lock(path)
		if err != nil {
			return nil, err
		}
		here, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(here, now) {
			return f, nil
		}
		f.Close()
	}
}

// line returns the line of a signed value: the run, the round, the hash of the value, the name of the slot, and a
// checksum of these, which lines of earlier versions lack.
func (v signing) line() string {
	text := fmt.Sprintf("%s %d %x %s", v.key.instance, v.key.slot.Round, v.sum, strconv.Quote(v.key.slot.Name))
	return text + " " + lineSum(text) + "\n"
}

// lineSum returns the checksum of a line in eight hexadecimal digits.
func lineSum(text string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))
}

func parseSigning(line string) (v signing, err error) {
	parts := strings.SplitN(line, " ", 4)
	if len(parts) != 4 {
		return v, errors.New("it does not have four parts")
	}
	v.key.instance = parts[0]
	sum, err := hex.DecodeString(parts[2])
	if err != nil || len(sum) != len(v.sum) {
		return v, errors.New("it has no SHA-256")
	}
	v.sum = [32]byte(sum)
	if v.key.slot.Round, err = strconv.Atoi(parts[1]); err != nil {
		return v, errors.New("it has no round")
	}
	quoted, err := strconv.QuotedPrefix(parts[3])
	if err != nil {
		return v, errors.New("it has no slot")
	}
	if v.key.slot.Name, err = strconv.Unquote(quoted); err != nil {
		return v, errors.New("it has no slot")
	}
	given := parts[3][len(quoted):]
	if given != "" && given != " "+lineSum(strings.TrimSuffix(line, given)) {
		return v, errors.New("its checksum does not match")
	}
	return v, nil
}

// commit puts values on disk, all or none, and returns only when they are there. A value that was
// signed before may be signed again. The error is errSecondValue if a slot has another value.
func (s *slots) commit(values []signing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	var lines strings.Builder
	fresh := map[slotKey][32]byte{}
	for _, v := range values {
		sum, known := s.signed[v.key.instance][v.key.slot]
		again, twice := fresh[v.key]
		if known && sum != v.sum || twice && again != v.sum {
			return fmt.Errorf("%s %d of run %.12s: %w", v.key.slot.Name, v.key.slot.Round, v.key.instance,
				errSecondValue)
		}
		if !known && !twice {
			lines.WriteString(v.line())
			fresh[v.key] = v.sum
		}
	}
	for k := range fresh {
		if _, other := s.signed[k.instance][elsewhere]; other {
			return fmt.Errorf("%s %d of run %.12s: %w", k.slot.Name, k.slot.Round, k.instance, errOlder)
		}
		if s.settled[k.instance] && k.slot != certified || s.isGone(k.instance) {
			return fmt.Errorf("%s %d of run %.12s: %w", k.slot.Name, k.slot.Round, k.instance, errSettled)
		}
	}
	return s.write(fresh, lines.String())
}

// write appends lines and waits until they are on disk. s.mu is held.
func (s *slots) write(fresh map[slotKey][32]byte, lines string) error {
	if lines == "" {
		return nil
	}
	if _, err := s.file.WriteString(lines); err != nil {
		s.failed = fmt.Errorf("slots: %w", err)
		return s.failed
	}
	if err := s.file.Sync(); err != nil { // not tried again: what is on disk is not known any more
		s.failed = fmt.Errorf("slots: %w", err)
		return s.failed
	}
	s.lines += len(fresh)
	for k, sum := range fresh {
		s.set(signing{k, sum})
	}
	return nil
}

// elsewhere is the slot whose value says that the key has signed in the run what this file did not have.
var elsewhere = synod.Slot{Name: "node:elsewhere"}

// holds reports whether a value was signed.
func (s *slots) holds(v signing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, ok := s.signed[v.key.instance][v.key.slot]
	return ok && sum == v.sum
}

// isElsewhere reports whether the key has signed in a run what this file did not have.
func (s *slots) isElsewhere(instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.signed[instance][elsewhere]
	return ok
}

// disown notes that the key has signed a value that this file does not have. From then on no value is signed in its
// run that was not signed before. fresh says that it is the first one of the run.
func (s *slots) disown(v signing) (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := signing{key: slotKey{v.key.instance, elsewhere}}
	if _, known := s.signed[v.key.instance][elsewhere]; known {
		return false, nil
	}
	if s.failed != nil {
		return true, s.failed
	}
	return true, s.write(map[slotKey][32]byte{mark.key: mark.sum}, mark.line())
}

func (s *slots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = errors.New("slots: the node has ended")
	return s.file.Close()
}

// errOlder is the error of a run in which this key has signed what the node's folder does not have.
var errOlder = errors.New("this node's folder is older than what its key has signed in the run, so it signs nothing " +
	"more in it")
