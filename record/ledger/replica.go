package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/transparency-dev/merkle/compact"

	"synod.dev/synod/internal/durable"
)

// OpenReplica opens what one replica of a group has of the group's log, and makes it if there is none. The
// consensus appends with Extend and sets heads with SetHead. Entries after the head are cut off, except the
// first keep ones, so that the consensus can apply them again; ErrDamaged reports that there are fewer.
func OpenReplica(dir string, g *Replicas, keep uint64) (*Log, error) {
	lock, err := lockFolder(durable.System, dir)
	if err != nil {
		return nil, err
	}
	check := func(h *SignedHead) error { return h.VerifyGroup(g) }
	l, err := load(durable.System, dir, check, os.O_RDWR|os.O_CREATE, keep)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.group, l.lock = g, lock
	if l.head == nil {
		l.head = &SignedHead{Head: Head{Log: g.Log(), Root: hasher.EmptyRoot()}, Operator: []byte{}}
	}
	if err := l.cut(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if l.Size() < keep {
		return nil, errors.Join(fmt.Errorf("%w: it has %d entries of %d", ErrDamaged, l.Size(), keep), l.Close())
	}
	return l, nil
}

// Next returns size and root of the log as they would be with these encoded entries after its own. Those that it
// has already do not count.
func (l *Log) Next(bodies [][]byte) (size uint64, root []byte, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	factory := &compact.RangeFactory{Hash: hasher.HashChildren}
	tree, err := factory.NewRange(0, uint64(len(l.at)), slices.Clone(l.tree.Hashes()))
	if err != nil {
		return 0, nil, fmt.Errorf("ledger: %w", err)
	}
	fresh := map[string]bool{}
	for _, b := range bodies {
		leaf := hasher.HashLeaf(b)
		if _, ok := l.known[[32]byte(leaf)]; ok || fresh[string(leaf)] {
			continue
		}
		fresh[string(leaf)] = true
		if err := tree.Append(leaf, nil); err != nil {
			return 0, nil, fmt.Errorf("ledger: %w", err)
		}
	}
	if tree.End() == 0 {
		return 0, hasher.EmptyRoot(), nil
	}
	root, err = tree.GetRootHash(nil)
	return tree.End(), root, err
}

// Extend appends those of some encoded entries that the log does not have, in order, and returns the index of
// each. They are on disk when it returns. No head covers them before SetHead.
func (l *Log) Extend(bodies [][]byte) ([]uint64, error) {
	for _, b := range bodies {
		if _, err := DecodeEntry(b); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(bodies)
}

// SetHead sets the head of a log that replicas keep, after it has checked who has signed it and that it has the
// root of the log's entries. A head that is not longer than the last one changes nothing.
func (l *Log) SetHead(h *SignedHead) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.Head.Size <= l.head.Head.Size {
		return nil
	}
	if err := l.check(h); err != nil {
		return err
	}
	root, err := l.rootOf(h.Head.Size)
	if err != nil {
		return err
	}
	if !bytes.Equal(root, h.Head.Root) {
		return fmt.Errorf("%w: a head of %d entries does not have their root", ErrDamaged, h.Head.Size)
	}
	if err := durable.WriteFileOn(l.disk, filepath.Join(l.dir, headFile), h.File()); err != nil {
		l.err = fmt.Errorf("ledger: %w", err)
		return l.err
	}
	l.head = h
	return nil
}

// RootOf returns the root of the first entries.
func (l *Log) RootOf(size uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rootOf(size)
}

func (l *Log) rootOf(size uint64) ([]byte, error) {
	if size > uint64(len(l.at)) {
		return nil, fmt.Errorf("ledger: the log has %d entries, and not %d", len(l.at), size)
	}
	if size == 0 {
		return hasher.EmptyRoot(), nil
	}
	hashes := [][]byte{}
	for _, id := range compact.RangeNodes(0, size, nil) {
		hashes = append(hashes, l.nodes[id])
	}
	tree, err := (&compact.RangeFactory{Hash: hasher.HashChildren}).NewRange(0, size, hashes)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return tree.GetRootHash(nil)
}
