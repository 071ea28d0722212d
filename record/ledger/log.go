package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
)

// The files of a log. An entry in the file of entries is its length in four bytes, its leaf
// hash (RFC 6962), and its bytes.
const (
	entriesFile = "entries"
	headFile    = "head.pem"
	header      = 4 + sha256.Size
)

// ErrDamaged reports a log whose file is not what its head was signed for.
var ErrDamaged = errors.New("ledger: the log was changed")

// Log is a log in a folder: of one operator (Open), or what one replica of Replicas has of the group's log
// (OpenReplica). It may be used by many goroutines.
type Log struct {
	disk   durable.Disk
	dir    string
	secret sign.Secret
	group  *Replicas // nil: it has an operator
	check  func(*SignedHead) error
	lock   io.Closer

	mu    sync.Mutex
	file  durable.File
	at    []int64 // by entry: where it begins
	end   int64
	tree  *compact.Range
	nodes map[compact.NodeID][]byte
	known map[[sha256.Size]byte]uint64 // by leaf hash: the first entry with it
	head  *SignedHead
	err   error // of a write: nothing is written after it
}

// Open opens the log in a folder for writing, and makes it if there is none. secret is the
// operator's. It fails with filelock.ErrHeld if another process has it open, and with
// ErrDamaged if entries under the last head were changed; the error says which. Bytes
// after the last whole entry, which were never acknowledged, are cut off.
func Open(dir string, secret sign.Secret) (*Log, error) { return OpenOn(durable.System, dir, secret) }

// OpenOn is Open on a disk, which campaigns let fail.
func OpenOn(d durable.Disk, dir string, secret sign.Secret) (*Log, error) {
	lock, err := lockFolder(d, dir)
	if err != nil {
		return nil, err
	}
	l, err := load(d, dir, operated(secret.PublicKey()), os.O_RDWR|os.O_CREATE, unlimited)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.secret, l.lock = secret, lock
	if err := l.repair(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// lockFolder makes the folder of a log, unless it is there, and keeps other processes from writing in it.
func lockFolder(d durable.Disk, dir string) (io.Closer, error) {
	if err := durable.MkdirAllOn(d, dir); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	lock, err := durable.LockOn(d, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", dir, err)
	}
	return lock, nil
}

// operated returns the check of heads of the operator with a key.
func operated(key []byte) func(*SignedHead) error {
	return func(h *SignedHead) error { return h.Verify(key) }
}

// Read opens the log with the operator's key for reading: Append fails. A log without a head is an error.
func Read(dir string, key []byte) (*Log, error) { return read(dir, operated(key)) }

// Inspect opens any log for reading, whoever signs its heads (SignedHead.Check).
func Inspect(dir string) (*Log, error) { return read(dir, (*SignedHead).Check) }

func read(dir string, check func(*SignedHead) error) (*Log, error) {
	l, err := load(durable.System, dir, check, os.O_RDONLY, underHead)
	if err != nil {
		return nil, err
	}
	if l.head == nil {
		return nil, errors.Join(fmt.Errorf("ledger: %s has no signed head: nothing was recorded yet, or the file %s "+
			"was removed", dir, headFile), l.Close())
	}
	l.err = errors.New("ledger: the log is open for reading only")
	return l, nil
}

// How many entries load reads.
const (
	unlimited = ^uint64(0)
	underHead = uint64(0) // those under the head
)

// load reads a log: at most so many entries, and all that are under its head.
func load(d durable.Disk, dir string, check func(*SignedHead) error, mode int, most uint64) (*Log, error) {
	f, err := d.OpenFile(filepath.Join(dir, entriesFile), mode, 0o600)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if mode&os.O_CREATE != 0 { // a process that died may have given files their names without a sync
		if err := d.SyncDir(dir); err != nil {
			return nil, errors.Join(fmt.Errorf("ledger: %w", err), f.Close())
		}
	}
	l := &Log{disk: d, dir: dir, check: check, file: f, nodes: map[compact.NodeID][]byte{},
		known: map[[sha256.Size]byte]uint64{},
		tree:  (&compact.RangeFactory{Hash: hasher.HashChildren}).NewEmptyRange(0)}
	if err := l.readHead(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if l.head != nil {
		most = max(most, l.head.Head.Size)
	}
	if err := l.readEntries(most); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// readHead reads the last signed head, if there is one.
func (l *Log) readHead() error {
	text, err := durable.ReadFileOn(l.disk, filepath.Join(l.dir, headFile), maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if l.head, err = ParseHead(text); err != nil {
		return err
	}
	return l.check(l.head)
}

// readEntries reads the first whole entries, and compares them with the head.
func (l *Log) readEntries(most uint64) error {
	for uint64(len(l.at)) < most {
		leaf, _, size, err := l.readEntry(l.end)
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			break // the rest was being written
		}
		if err != nil && !errors.Is(err, errEntry) {
			return fmt.Errorf("ledger: entry %d cannot be read: %w", len(l.at), err)
		}
		if err != nil {
			if l.head != nil && uint64(len(l.at)) < l.head.Head.Size {
				return fmt.Errorf("%w: entry %d: %w", ErrDamaged, len(l.at), err)
			}
			break
		}
		l.add(leaf, size)
		if err := l.checkRoot(); err != nil {
			return err
		}
	}
	if l.head != nil && uint64(len(l.at)) < l.head.Head.Size {
		return fmt.Errorf("%w: it has %d entries, and %d were signed", ErrDamaged, len(l.at), l.head.Head.Size)
	}
	return nil
}

// checkRoot compares the tree with the head when it has as many entries.
func (l *Log) checkRoot() error {
	if l.head == nil || uint64(len(l.at)) != l.head.Head.Size {
		return nil
	}
	root, err := l.root()
	if err != nil {
		return err
	}
	if !bytes.Equal(root, l.head.Head.Root) {
		return fmt.Errorf("%w: entries 0 to %d do not have the root that was signed", ErrDamaged, len(l.at)-1)
	}
	return nil
}

// errEntry reports bytes that are no entry.
var errEntry = errors.New("this is no entry")

// readEntry reads the entry at a position. The error is io.EOF or io.ErrUnexpectedEOF if it
// is not whole, and errEntry if its bytes are not those of an entry.
func (l *Log) readEntry(at int64) (leaf, body []byte, size int64, err error) {
	var head [header]byte
	if _, err := l.file.ReadAt(head[:], at); err != nil {
		return nil, nil, 0, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxEntry {
		return nil, nil, 0, fmt.Errorf("%w: its length is %d bytes; at most %d are allowed", errEntry, n,
			maxEntry)
	}
	body = make([]byte, n)
	if _, err := l.file.ReadAt(body, at+header); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, 0, err
	}
	if leaf = hasher.HashLeaf(body); !bytes.Equal(leaf, head[4:]) {
		return nil, nil, 0, fmt.Errorf("%w: its bytes do not have its hash", errEntry)
	}
	return leaf, body, header + int64(n), nil
}

// add adds a whole entry to the tree.
func (l *Log) add(leaf []byte, size int64) {
	if _, ok := l.known[[sha256.Size]byte(leaf)]; !ok {
		l.known[[sha256.Size]byte(leaf)] = uint64(len(l.at))
	}
	l.nodes[compact.NewNodeID(0, uint64(len(l.at)))] = leaf
	_ = l.tree.Append(leaf, func(id compact.NodeID,
		hash []byte) {
		l.nodes[id] = hash
	}) // fails for foreign ranges only
	l.at, l.end = append(l.at, l.end), l.end+size
}

func (l *Log) root() ([]byte, error) {
	if len(l.at) == 0 {
		return hasher.EmptyRoot(), nil
	}
	return l.tree.GetRootHash(nil)
}

// repair cuts off what is no whole entry, and signs the head of what is left.
func (l *Log) repair() error {
	if err := l.cut(); err != nil {
		return err
	}
	if l.head != nil && l.head.Head.Size == uint64(len(l.at)) {
		return nil
	}
	if len(l.at) == 0 {
		return l.signHead()
	}
	from := int64(0)
	if l.head != nil {
		from = l.at[l.head.Head.Size]
	}
	// The process that wrote the entries after the head may have died before it synced them, or its sync failed.
	err := durable.Rewrite(l.file, from, l.end)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return l.signHead()
}

// cut removes what follows the entries that were read.
func (l *Log) cut() error {
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if info.Size() > l.end {
		if err := errors.Join(l.file.Truncate(l.end), l.file.Sync()); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	return nil
}

// signHead signs the head of all entries and writes it.
func (l *Log) signHead() error {
	root, err := l.root()
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	h := &SignedHead{Head: Head{Log: l.secret.PublicKey(), Size: uint64(len(l.at)), Root: root}}
	h.Operator = l.secret.SignNote([]byte(h.Head.Text()))
	if err := durable.WriteFileOn(l.disk, filepath.Join(l.dir, headFile), h.File()); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.head = h
	return nil
}

// Append appends an entry and returns its index. It is on disk, under a signed head, when
// Append returns. An entry that the log has already is not appended again, so a caller that
// does not know whether an append succeeded may repeat it. After an error of the disk every
// further Append fails: what is on it is not known (LE-5).
func (l *Log) Append(_ context.Context, e *Entry) (uint64, error) {
	b, err := e.Encode()
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.group != nil {
		return 0, errors.New("ledger: the log is of replicas, which append by consensus")
	}
	before := len(l.at)
	at, err := l.write([][]byte{b})
	if err == nil && l.err != nil && at[0] >= l.head.Head.Size {
		err = l.err // it was written, and its head could not be
	}
	if err == nil && len(l.at) > before {
		if err = l.signHead(); err != nil {
			l.err = err
		}
	}
	if err != nil {
		return 0, err
	}
	return at[0], nil
}

// write writes those encoded entries that the log does not have, and returns the indexes of all. l.mu is held.
func (l *Log) write(bodies [][]byte) (at []uint64, err error) {
	var records []byte
	var leaves [][]byte
	var sizes []int64
	next, fresh := uint64(len(l.at)), map[[sha256.Size]byte]uint64{}
	for _, b := range bodies {
		leaf := hasher.HashLeaf(b)
		key := [sha256.Size]byte(leaf)
		i, ok := l.known[key]
		if !ok {
			i, ok = fresh[key]
		}
		if !ok {
			i, fresh[key], next = next, next, next+1
			size := len(records)
			records = append(append(binary.BigEndian.AppendUint32(records, uint32(len(b))), leaf...), b...)
			leaves, sizes = append(leaves, leaf), append(sizes, int64(len(records)-size))
		}
		at = append(at, i)
	}
	if len(leaves) == 0 {
		return at, nil
	}
	if l.err != nil {
		return nil, l.err
	}
	_, err = l.file.WriteAt(records, l.end)
	if err = errors.Join(err, l.file.Sync()); err != nil {
		l.err = fmt.Errorf("ledger: an entry could not be written, and the log takes no more before it is opened "+
			"again: %w", err)
		return nil, l.err
	}
	for i, leaf := range leaves {
		l.add(leaf, sizes[i])
	}
	return at, nil
}

// Head returns the last signed head.
func (l *Log) Head() *SignedHead {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := *l.head
	return &h
}

// Size returns the number of entries.
func (l *Log) Size() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.at))
}

// Entry returns an entry by its index.
func (l *Log) Entry(index uint64) (*Entry, error) {
	b, err := l.bytes(index)
	if err != nil {
		return nil, err
	}
	return DecodeEntry(b)
}

func (l *Log) bytes(index uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index >= uint64(len(l.at)) {
		return nil, fmt.Errorf("ledger: there is no entry %d; the log has %d", index, len(l.at))
	}
	_, body, _, err := l.readEntry(l.at[index])
	if err != nil {
		return nil, fmt.Errorf("%w: entry %d: %w", ErrDamaged, index, err)
	}
	return body, nil
}

// Prove returns the proof that an entry is under the last head.
func (l *Log) Prove(index uint64) (*Proof, error) {
	entry, err := l.bytes(index)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if index >= l.head.Head.Size {
		return nil, fmt.Errorf("ledger: entry %d is under no signed head yet; the last one has %d entries", index,
			l.head.Head.Size)
	}
	nodes, err := proof.Inclusion(index, l.head.Head.Size)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	path, err := l.path(nodes)
	return &Proof{Head: *l.head, Index: index, Entry: entry, Path: path}, err
}

// Consistency returns the path that shows that the last head extends one of an earlier size.
func (l *Log) Consistency(size uint64) ([][]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	nodes, err := proof.Consistency(size, l.head.Head.Size)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return l.path(nodes)
}

func (l *Log) path(nodes proof.Nodes) ([][]byte, error) {
	hashes := make([][]byte, len(nodes.IDs))
	for i, id := range nodes.IDs {
		hash, ok := l.nodes[id]
		if !ok {
			return nil, fmt.Errorf("ledger: the tree has no node %v", id)
		}
		hashes[i] = hash
	}
	return nodes.Rehash(hashes, hasher.HashChildren)
}

// Cosigned stores a witness's signature with the head that it is under. A log that is open for
// reading is locked meanwhile; if it has grown since it was opened, nothing is stored.
func (l *Log) Cosigned(s Signature) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		lock, err := durable.LockOn(l.disk, filepath.Join(l.dir, "lock"))
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		defer lock.Close()
		before := l.head.Head.Size
		if err := l.readHead(); err != nil {
			return err
		}
		if l.head.Head.Size != before {
			return errors.New("ledger: the log has grown meanwhile: sign its new head")
		}
	}
	h := *l.head
	h.Witnesses = append([]Signature{}, h.Witnesses...)
	if err := h.Add(s); err != nil {
		return err
	}
	if err := durable.WriteFileOn(l.disk, filepath.Join(l.dir, headFile), h.File()); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.head = &h
	return nil
}

// Close closes the log and lets other processes open it.
func (l *Log) Close() error {
	err := l.file.Close()
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}
