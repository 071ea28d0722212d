package node

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/network/node/call"
)

// A node removes the journals and records, with their receipts, of old runs, and their proofs of equivocation. It must
// still refuse a second signature in these runs. So it keeps one moment for ever: the horizon, in the file "horizon".
// It plays, resumes and certifies no run that begins at the horizon or before. The start of a run is a part of its id,
// so nobody can give a run another one. The horizon is on disk before anything is removed, and never goes back, also
// not when the clock is set back. A process that is killed while it removes leaves files of runs before the horizon,
// which the next look removes. The nodes of a Host have one folder, and so one horizon: it holds under every roster.

// Retention says how long a node keeps journals, records, receipts and proofs of runs.
type Retention struct {
	Age   time.Duration // 0: DefaultKeep; at least MinKeep
	Bytes int64         // of journals and records, of which the oldest go first; 0: DefaultKeepBytes
}

// The bounds of Retention. Runs of the last hours are kept although they have more bytes.
const (
	DefaultKeep      = 720 * time.Hour
	DefaultKeepBytes = 1 << 30
	MinKeep          = 2 * time.Hour
)

// Validate returns an error if the retention is shorter than what runs in progress need.
func (k Retention) Validate() error {
	if k.Age != 0 && k.Age < MinKeep || k.Bytes < 0 {
		return fmt.Errorf("a node keeps runs for %v at least, and not for a negative number of bytes", MinKeep)
	}
	return nil
}

// with returns the retention with what a request says.
func (k Retention) with(v url.Values) (_ Retention, err error) {
	if text := v.Get("keep"); text != "" {
		if k.Age, err = time.ParseDuration(text); err != nil {
			return k, err
		}
	}
	if text := v.Get("bytes"); text != "" {
		k.Bytes, err = strconv.ParseInt(text, 10, 64)
	}
	return k, err
}

func (k Retention) filled() Retention {
	if k.Age == 0 {
		k.Age = DefaultKeep
	}
	if k.Bytes == 0 {
		k.Bytes = DefaultKeepBytes
	}
	return k
}

// Pruned says what was removed, and what is left.
type Pruned struct {
	Runs      int   `json:"runs"`  // removed
	Bytes     int64 `json:"bytes"` // of their files
	Left      int   `json:"left"`  // runs
	LeftBytes int64 `json:"left_bytes"`
}

// certified is the slot of the one decision of a run that a seat certifies.
var certified = synod.Slot{Name: "certificate"}

// isSettled is the slot whose value says that a run has ended with a record.
var isSettled = synod.Slot{Name: "node:settled"}

var errSettled = errors.New("the run has ended")

// horizon is a moment in milliseconds since 1970: of runs that begin then or before, nothing is signed.
type horizon struct{ at atomic.Int64 }

func (h *horizon) covers(at int64) bool { return at <= h.at.Load() }

func (s *shared) horizonPath() string { return filepath.Join(s.dir, "horizon") }
func (s *shared) gonePath() string    { return filepath.Join(s.dir, "gone") }

// openRetention reads the horizon, and settles the runs that have ended.
func (s *shared) openRetention() error {
	if err := s.keep.Validate(); err != nil {
		return err
	}
	b, err := durable.ReadFile(s.horizonPath(), 64)
	if err == nil {
		var at int64
		if at, err = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil {
			s.horizon.at.Store(at)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; it says of which runs nothing may be signed: do not remove it", s.horizonPath(), err)
	}
	if err := s.slots.openGone(s.gonePath()); err != nil {
		return err
	}
	for _, id := range s.slots.unsettled() {
		if _, err := os.Stat(finalPath(s.dir, sign.Instance(id))); err == nil && plainID(sign.Instance(id)) {
			s.slots.settle(id)
		}
	}
	return s.slots.compact()
}

// settle forgets the signed values of a run that has left memory with a record.
func (n *Node) settle(r *run) {
	r.mu.Lock()
	ended := r.final != nil
	r.mu.Unlock()
	if ended && n.slots != nil {
		n.slots.settle(string(r.id))
	}
	if n.slots != nil && n.slots.needless() {
		select {
		case n.shared.prunes <- struct{}{}:
		default:
		}
	}
}

// pruneEvery is how often a node looks what it has kept too long.
const pruneEvery = time.Hour

// pruneLoop calls prune, with what the folder was opened with, until ctx ends.
func (s *shared) pruneLoop(ctx context.Context, prune func(context.Context, Retention) (Pruned, error)) {
	look := time.NewTicker(pruneEvery)
	defer look.Stop()
	for {
		if _, err := prune(ctx, s.keep); err != nil && ctx.Err() == nil {
			s.log.Error("old runs cannot be removed", "error", err)
		}
		select {
		case <-look.C:
		case <-s.prunes:
		case <-ctx.Done():
			return
		}
	}
}

// oldRun is what a folder has of a run: its id, the latest change of its files, and these.
type oldRun struct {
	id    string
	at    time.Time
	bytes int64
	files []string
	proof bool // it has nothing but proofs
}

func isProof(file string) bool { return filepath.Ext(file) == ".pem" }

// runsOnDisk returns the runs of which the folder has files, the oldest first.
func (s *shared) runsOnDisk() (all []*oldRun, err error) {
	by := map[string]*oldRun{}
	for _, dir := range []string{"records", "runs", "evidence"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, dir))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			id, _, _ := strings.Cut(strings.ReplaceAll(e.Name(), "-seat", "."), ".")
			info, err := e.Info()
			if err != nil || !plainID(sign.Instance(id)) {
				continue // it was removed meanwhile, or is no file of a run
			}
			r := by[id]
			if r == nil {
				r = &oldRun{id: id, proof: dir == "evidence"}
				by[id] = r
				all = append(all, r)
			}
			r.files = append(r.files, filepath.Join(s.dir, dir, e.Name()))
			if r.bytes += info.Size(); info.ModTime().After(r.at) {
				r.at = info.ModTime()
			}
		}
	}
	order.Sort(all, func(a, b *oldRun) int { return a.at.Compare(b.at) })
	return all, nil
}

// Prune removes what is older than the retention, or more than it: the oldest runs first. Runs that may be in progress
// stay. It compacts the file of signed slots. A node of a Host is pruned by the Host.
func (n *Node) Prune(ctx context.Context, keep Retention) (Pruned, error) {
	return n.shared.prune(ctx, keep, []*Node{n})
}

// Prune removes old runs of all rosters, as Node.Prune. Runs that may be in progress under one of them stay.
func (h *Host) Prune(ctx context.Context, keep Retention) (Pruned, error) {
	return h.shared.prune(ctx, keep, h.nodes())
}

// prune removes old runs of a folder in which these nodes play.
func (s *shared) prune(ctx context.Context, keep Retention, nodes []*Node) (p Pruned, err error) {
	if err := keep.Validate(); err != nil {
		return p, err
	}
	s.pruning.Lock()
	defer s.pruning.Unlock()
	all, err := s.runsOnDisk()
	if err != nil {
		return p, err
	}
	keep, now := keep.filled(), s.now()
	all = slices.DeleteFunc(all, func(r *oldRun) bool { return r.proof && now.Sub(r.at) <= keep.Age })
	old := tooOld(all, keep, now, latestToRemove(now, nodes))
	if len(old) > 0 {
		if err := s.forgetUntil(old); err != nil {
			return p, err
		}
	}
	if err := s.slots.compact(); err != nil {
		return p, err
	}
	for _, r := range old {
		if err := r.remove(ctx, now.Sub(r.at) <= keep.Age); err != nil {
			return p, err
		}
		p.Runs, p.Bytes = p.Runs+1, p.Bytes+r.bytes
	}
	for _, r := range all[len(old):] {
		p.Left, p.LeftBytes = p.Left+1, p.LeftBytes+r.bytes
	}
	if p.Runs > 0 {
		s.log.Info("old runs were removed", "runs", p.Runs, "bytes", p.Bytes, "left", p.Left, "left_bytes", p.LeftBytes)
	}
	return p, nil
}

// remove removes the files of a run. Proofs stay that are not old: then the run had to go because of the bytes of
// others.
func (r *oldRun) remove(ctx context.Context, proofsStay bool) error {
	for _, file := range r.files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isProof(file) && proofsStay {
			continue
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// latestToRemove returns the moment after which no run of nodes may have changed that is removed: runs in progress may
// be as old as the longest run of any roster, and none that plays may get behind the horizon, however old it is.
func latestToRemove(now time.Time, nodes []*Node) time.Time {
	settled := MinKeep
	for _, n := range nodes {
		settled = max(settled, n.longest()+time.Hour)
	}
	latest := now.Add(-settled)
	for _, n := range nodes {
		for _, r := range n.active() {
			if begins := r.begins.Add(-2 * ahead); !r.over() && begins.Before(latest) {
				latest = begins
			}
		}
	}
	return latest
}

// tooOld returns which of the runs, the oldest first, are to be removed: none that has changed after latest.
func tooOld(all []*oldRun, keep Retention, now, latest time.Time) []*oldRun {
	left := int64(0)
	for _, r := range all {
		if !r.proof {
			left += r.bytes
		}
	}
	for i, r := range all {
		if !r.at.Before(latest) || now.Sub(r.at) <= keep.Age && left <= keep.Bytes {
			return all[:i]
		}
		if !r.proof {
			left -= r.bytes
		}
	}
	return all
}

// ahead is how long before its start a run can be begun, and so by how much its start can be later than its files.
const ahead = time.Minute

// forgetUntil moves the horizon beyond the starts of runs, and then forgets what was signed in them.
func (s *shared) forgetUntil(old []*oldRun) error {
	at := old[len(old)-1].at.Add(ahead).UnixMilli()
	if at > s.horizon.at.Load() {
		if err := durable.WriteFile(s.horizonPath(), []byte(strconv.FormatInt(at, 10)+"\n")); err != nil {
			return err
		}
		s.horizon.at.Store(at)
	}
	ids := make([]string, len(old))
	for i, r := range old {
		ids[i] = r.id
	}
	return s.slots.drop(ids, s.gonePath())
}

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

// hasSigned reports whether the folder has a value that is said to be this node's. kept returns what is on disk of its
// run.
func (n *Node) hasSigned(v signing, kept func() *call.Kept) bool {
	settled, gone := n.slots.forgotten(v.key.instance)
	if !settled || n.slots.holds(v) {
		return gone || n.slots.holds(v)
	}
	k := kept()
	return k != nil && slices.ContainsFunc(k.Receipts, func(c call.Receipt) bool {
		return c.From == uint64(n.seat) && c.Slot == v.key.slot.Name && c.Round == uint64(v.key.slot.Round) &&
			bytes.Equal(c.Sum, v.sum[:])
	})
}

// keptFor returns a function that reads once what is on disk of a run that has ended, for a neighbour, which pays as if
// it had sent the record.
func (n *Node) keptFor(by synod.NodeID, id sign.Instance) func() *call.Kept {
	return sync.OnceValue(func() *call.Kept {
		info, err := os.Stat(n.finalPath(id))
		if err != nil {
			return nil
		}
		n.links[by].pay(n.context, int(min(1+info.Size()/bytesPerCheck, checkBurst)))
		return n.keptOf(id)
	})
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
