package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Rules say which entries the replicas of a group take. They are the same for all replicas.
type Rules struct {
	Group    Replicas
	MaxEntry int                // in bytes
	Check    func(*Entry) error // why an entry may not be appended; nil: all may
}

// StateMachine is what a replica does whatever library orders the entries of its group: it checks entries, appends
// them to its log in the order of the consensus, sets heads that a quorum has signed, and tells callers where their
// entries are. Only one goroutine at a time may call Apply, AddSignature and Commit.
type StateMachine struct {
	*Log // what the replica has of the group's log

	rules  Rules
	claims *Claims

	mu      sync.Mutex
	size    uint64                          // of the log, after the last Commit
	applied map[[sha256.Size]byte]uint64    // since then: the index of each entry
	heads   map[uint64]*SignedHead          // those that no quorum has signed yet, by size
	waiting map[[sha256.Size]byte]*decision // what callers wait for
	since   time.Time                       // of the last Commit, or of the first entry that waits for one
	failed  error
}

// decision is where an entry is; made is closed when that is known.
type decision struct {
	made chan struct{}
	at   uint64 // or Waits
}

// OpenStateMachine opens the log of a replica in a folder, and makes it if there is none. size is how many entries the
// consensus has applied for good, and held are the entries that waited then (Held).
func OpenStateMachine(dir string, r Rules, size uint64, held [][]byte) (*StateMachine, error) {
	m := &StateMachine{rules: r, size: size, heads: map[uint64]*SignedHead{},
		waiting: map[[sha256.Size]byte]*decision{}}
	var err error
	if m.Log, err = OpenReplica(dir, &m.rules.Group, size); err != nil {
		return nil, err
	}
	if m.claims, err = m.restore(held); err != nil {
		return nil, errors.Join(err, m.Log.Close())
	}
	return m, nil
}

// restore returns the claims as they were after the last Commit.
func (m *StateMachine) restore(held [][]byte) (*Claims, error) {
	g := &m.rules.Group
	if !g.holds() {
		return NewClaims(g), nil
	}
	var entries []*Entry
	for at := range m.size {
		e, err := m.Entry(at)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return Restore(g, entries, held)
}

// Allow returns why an encoded entry may not be appended; nil: it may. All replicas return the same.
func (m *StateMachine) Allow(body []byte) error {
	if len(body) > m.rules.MaxEntry {
		return fmt.Errorf("ledger: the entry has %d bytes; at most %d are allowed: keep hashes only", len(body),
			m.rules.MaxEntry)
	}
	e, err := DecodeEntry(body)
	if err == nil {
		err = m.rules.Group.Allows(e)
	}
	if err != nil || m.rules.Check == nil {
		return err
	}
	return m.rules.Check(e)
}

// After returns size and root of the log as Apply would leave it, and changes nothing.
func (m *StateMachine) After(bodies [][]byte) (size uint64, root []byte, err error) {
	entries, err := m.claims.Try(bodies)
	if err != nil {
		return 0, nil, err
	}
	return m.Next(entries)
}

// Apply appends the encoded entries of a block, which Allow has allowed, and those that waited for them. They are on
// disk when it returns. Entries that the log has already are not appended again, so a block may be applied twice.
func (m *StateMachine) Apply(bodies [][]byte) error {
	entries, err := m.claims.Take(bodies)
	if err != nil {
		return err
	}
	at, err := m.Extend(entries)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = map[[sha256.Size]byte]uint64{}
	for _, b := range bodies {
		m.applied[sha256.Sum256(b)] = Waits
	}
	for i, b := range entries {
		m.applied[sha256.Sum256(b)] = at[i]
	}
	return nil
}

// AddSignature adds a replica's signature under a head of the log, and sets the head when a quorum has signed it.
// Whoever signed a head that the log does not have at this size is Byzantine: that signature is ignored.
func (m *StateMachine) AddSignature(size uint64, root []byte, s Signature) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size <= m.Head().Head.Size || size > m.Size() {
		return nil
	}
	own, err := m.RootOf(size)
	if err != nil || !bytes.Equal(own, root) {
		return err
	}
	g := &m.rules.Group
	h := m.heads[size]
	if h == nil {
		h = &SignedHead{Head: Head{Log: g.Log(), Size: size, Root: root}, Operator: []byte{}}
		m.heads[size] = h
	}
	if err := h.Add(s); err != nil {
		return err
	}
	if len(h.Witnesses) < g.Quorum() || h.VerifyGroup(g) != nil {
		return nil
	}
	for earlier := range m.heads {
		if earlier <= size {
			delete(m.heads, earlier)
		}
	}
	return m.SetHead(h)
}

// Commit tells callers where the entries of the last Apply are.
func (m *StateMachine) Commit() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size, m.since = m.Size(), time.Now()
	for key, at := range m.applied {
		if d := m.waiting[key]; d != nil {
			d.at = at
			close(d.made)
			delete(m.waiting, key)
		}
	}
	m.applied = nil
}

// Held returns the encoded entries that wait until more replicas hold their record, for OpenStateMachine.
func (m *StateMachine) Held() [][]byte { return m.claims.Waiting() }

// again is after how long an entry that is not decided is submitted again.
const again = time.Second

// Decide has submit hand an entry to the consensus, again every second, until the entry is decided, and returns its
// index in the log. It fails when submit fails or ctx ends, and returns ErrWaits as Ledger.Append does.
func (m *StateMachine) Decide(ctx context.Context, e *Entry, submit func(body []byte) error) (uint64, error) {
	b, err := e.Encode()
	if err == nil {
		err = m.Allow(b)
	}
	if err != nil {
		return 0, err
	}
	d, at, ok := m.wait(b, e)
	if ok {
		return at, nil
	}
	for {
		if err := submit(b); err != nil {
			return 0, err
		}
		select {
		case <-d.made:
			if d.at == Waits {
				return 0, ErrWaits
			}
			return d.at, nil
		case <-time.After(again):
		case <-ctx.Done():
			return 0, fmt.Errorf("ledger: the entry is not decided yet: %w", context.Cause(ctx))
		}
	}
}

// wait returns the index of an entry, or the decision to wait for.
func (m *StateMachine) wait(body []byte, e *Entry) (d *decision, at uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok = m.Find(e); ok && at < m.size {
		return nil, at, true
	}
	if len(m.waiting) == 0 {
		m.since = time.Now()
	}
	key := sha256.Sum256(body)
	if m.waiting[key] == nil {
		m.waiting[key] = &decision{made: make(chan struct{})}
	}
	return m.waiting[key], 0, false
}

// Stalled returns how long entries have waited since the last Commit; 0: none waits.
func (m *StateMachine) Stalled() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 {
		return 0
	}
	return time.Since(m.since)
}

// Fail marks the replica as failed. Only the first error is kept.
func (m *StateMachine) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed = err
	}
}

// Failed implements Failing: it returns why the replica has stopped to take part; nil: it has not.
func (m *StateMachine) Failed() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}
