package node

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// certified is the slot of the one decision of a run that a seat certifies.
var certified = synod.Slot{Name: "certificate"}

// isSettled is the slot whose value says that a run has ended with a record.
var isSettled = synod.Slot{Name: "node:settled"}

var errSettled = errors.New("the run has ended")

// unsettled returns the instances of which single values are in memory.
func (s *slots) unsettled() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.signed {
		if !s.settled[id] {
			all = append(all, id)
		}
	}
	return all
}

// set notes a value. s.mu is held.
func (s *slots) set(v signing) {
	if v.key.slot == isSettled {
		s.settleRun(v.key.instance)
		return
	}
	values := s.signed[v.key.instance]
	if values == nil {
		values = map[synod.Slot][32]byte{}
		s.signed[v.key.instance] = values
	}
	values[v.key.slot] = v.sum
}

// settle forgets the values of a run that has ended. From then on nothing new but a certificate is signed in it.
func (s *slots) settle(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleRun(instance)
}

func (s *slots) settleRun(instance string) {
	if s.isGone(instance) {
		return
	}
	s.settled[instance] = true
	values := map[synod.Slot][32]byte{}
	for slot, sum := range s.signed[instance] {
		if slot == certified || slot == elsewhere {
			values[slot] = sum
		}
	}
	if delete(s.signed, instance); len(values) > 0 {
		s.signed[instance] = values
	}
}

// forgotten reports whether the values of a run are not in memory: it is settled, or gone.
func (s *slots) forgotten(instance string) (settled, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled[instance], s.isGone(instance)
}

// drop forgets runs before the horizon. Eight bytes of the id of each stay for ever, in a file: a signature of this
// node in such a run is no proof that its folder is older.
func (s *slots) drop(instances []string, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b []byte
	for _, id := range instances {
		if !s.isGone(id) {
			b = binary.BigEndian.AppendUint64(b, beginning(id))
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close(), durable.SyncDir(filepath.Dir(path))); err != nil {
		return err
	}
	for _, id := range instances {
		s.gone[beginning(id)] = true
		delete(s.signed, id)
		delete(s.settled, id)
	}
	return nil
}

// openGone reads which runs are gone. An entry that is torn is cut off: its run was not forgotten.
func (s *slots) openGone(path string) error {
	b, err := durable.ReadFile(path, maxSlots*8)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := len(b) / 8 * 8
	for ; len(b) >= 8; b = b[8:] {
		s.gone[binary.BigEndian.Uint64(b)] = true
	}
	if len(b) > 0 {
		return os.Truncate(path, int64(whole))
	}
	return nil
}

// isGone reports whether a run is before the horizon and was forgotten. s.mu is held.
func (s *slots) isGone(instance string) bool { return s.gone[beginning(instance)] }

// beginning returns the first eight bytes of the id of a run.
func beginning(instance string) uint64 {
	b, err := hex.DecodeString(instance[:min(len(instance), 16)])
	if err != nil || len(b) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// writeAll writes what is in memory into a file, and returns how many lines that are. s.mu is held.
func (s *slots) writeAll(f *os.File) (lines int, err error) {
	out := bufio.NewWriter(f)
	write := func(v signing) {
		out.WriteString(v.line()) // Flush returns the first error
		lines++
	}
	for _, id := range slices.Sorted(maps.Keys(s.settled)) {
		write(signing{key: slotKey{id, isSettled}})
	}
	for id, values := range s.signed {
		for slot, sum := range values {
			write(signing{slotKey{id, slot}, sum})
		}
	}
	return lines, errors.Join(out.Flush(), f.Sync())
}

// compactAfter is how many needless lines make the file of slots be written anew while the node runs.
const compactAfter = 1 << 15

// needless reports whether the file has many lines that are not needed.
func (s *slots) needless() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines > s.count()+compactAfter
}

// count returns how many lines are needed. s.mu is held.
func (s *slots) count() (lines int) {
	for _, values := range s.signed {
		lines += len(values)
	}
	return lines + len(s.settled)
}

// compact writes the file anew without the lines that are not needed. The new file is locked before it takes the place
// of the old one.
func (s *slots) compact() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if s.lines <= s.count() {
		return nil
	}
	path := s.path + ".new"
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := filelock.Lock(path)
	if err != nil {
		return err
	}
	lines := 0
	if lines, err = s.writeAll(f); err == nil {
		err = durable.Rename(path, s.path)
	}
	if err != nil {
		s.failed = fmt.Errorf("slots: %w", err) // which of the two files is in place is not known
		return errors.Join(err, f.Close())
	}
	old := s.file
	s.file, s.lines = f, lines
	return old.Close()
}
