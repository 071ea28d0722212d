package node

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/order"
)

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
		if err := durable.WriteFile(s.horizonPath(), horizonText(at)); err != nil {
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
