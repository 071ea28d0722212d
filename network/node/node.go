// Package node plays one seat of a council whose seats have different owners, as a daemon.
//
// A node has a key and a roster. It opens one stream to each neighbour and accepts one from each; it
// takes questions from members and from the callers of its roster, plays the machine of its seat in
// real time (schedule), and returns the signed record of its seat to who asked.
//
// A value is on disk before it is signed and sent, and a second value for its slot is never signed
// (slots). A node that was killed goes on from its journal.
//
// The package has rank 7: it plays the machines of a council's plan.
package node

import (
	"context"
	"crypto/sha256"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
)

// Config is what a node needs.
type Config struct {
	Roster    *roster.Signed // signed by those who must (Signed.Verify)
	Secret    sign.Secret    // of a member of the roster
	Dir       string         // the node's folder: journals, signed slots, evidence
	Transport link.Transport
	Model     plan.Params // the settings of its own model; nil: those of the roster's council file
	Env       llm.Env
	Caps      Caps
	Log       *slog.Logger // nil: nothing is logged
	Program   string       // for the heads of journals
	Observer  Observer     // nil: nobody is told
	// Addresses replaces those of the roster, by seat.
	Addresses map[synod.NodeID][]string
	// Stranger opens a transport under a key that an adversary invents (sybil-swarm); nil: TLS.
	Stranger func(sign.Secret) (link.Transport, error)
	Now      func() time.Time // the wall clock; nil: time.Now
	// Ledger opens the ledger of the roster for a node that is one of its replicas.
	Ledger func(*Node) (Recorder, error)
	Keep   Retention // how long journals and records are kept

	shared *shared // of the nodes of a Host; nil: the node opens its own
}

// Node is one seat as a daemon.
type Node struct {
	config     Config
	roster     *roster.Roster
	hash       [sha256.Size]byte
	committee  sign.Committee
	secret     sign.Secret
	plan       *plan.Plan
	seat       synod.NodeID
	peers      []synod.NodeID
	within     time.Duration
	callTicks  synod.Tick
	transport  link.Transport
	model      llm.Model
	shared     *shared
	slots      *slots // of shared, like daily
	forwards   forwards
	declined   declines
	recorder   Recorder // nil: this node keeps no ledger
	replicas   []int    // the seats that keep the ledger
	daily      *daily
	memory     memory // of runs that have not ended
	usual      usual
	log        *slog.Logger
	observer   Observer
	context    context.Context
	cancel     context.CancelFunc
	links      map[synod.NodeID]*peer
	wrongClock atomic.Bool
	draining   atomic.Bool
	replaced   atomic.Pointer[roster.Roster] // by which the council goes on; nil: by its own
	begun      time.Time
	opened     time.Time // the same by the clock of the node
	work       sync.WaitGroup

	figures sync.Mutex // guards stats and what follows
	stats   Stats
	older   []string // runs in which the key has signed what the folder does not have
	// callerChecks has what each caller may ask to be checked.
	callerChecks map[string]*rate.Limiter
	callerDraws  map[string]*rate.Limiter // draws of committees that each caller may ask for

	// mu is locked before the mutex of a peer or of a run, never after it.
	mu    sync.Mutex
	runs  map[runKey]*run
	order []*run      // oldest first
	asked []time.Time // when questions came in the last hour
}

// newNode returns a node that has opened nothing yet.
func newNode(c Config) *Node {
	n := &Node{config: c, roster: c.Roster.Roster, hash: c.Roster.Hash(), committee: c.Roster.Committee(),
		secret: c.Secret, transport: c.Transport, log: c.Log, links: map[synod.NodeID]*peer{}, begun: time.Now(),
		runs: map[runKey]*run{}, within: time.Duration(c.Roster.Within) * time.Millisecond,
		observer: c.Observer}
	n.opened = n.now()
	if n.observer == nil {
		n.observer = unobserved{}
	}
	if n.log == nil {
		n.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return n
}

// now is the wall clock.
func (n *Node) now() time.Time {
	if n.config.Now != nil {
		return n.config.Now()
	}
	return time.Now()
}

// Seat returns the id of the node's seat, and its place.
func (n *Node) Seat() (string, synod.NodeID) { return n.roster.Members[n.seat].ID, n.seat }

// longest is the longest time of a run.
func (n *Node) longest() time.Duration {
	if d := n.plan.Spec().Limits.Deadline; d > 0 {
		return d
	}
	return time.Hour
}

// slip returns what a member signs about a message with this hash.
func (n *Node) slip(id sign.Instance, m *synod.Message, sum [sha256.Size]byte) roster.Slip {
	return roster.Slip{Roster: n.hash[:], Instance: string(id), From: uint64(m.From), Slot: m.Slot.Name,
		Round: uint64(max(m.Slot.Round, 0)), Sum: sum[:]}
}

// running returns the run with a key that is in memory; nil if there is none.
func (n *Node) running(key runKey) *run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.runs[key]
}

// active returns all runs in memory.
func (n *Node) active() []*run {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.order)
}

// wake makes the streams send what is queued.
func (n *Node) wake() {
	for _, p := range n.links {
		p.signal()
	}
}

// present tells all runs that a neighbour's stream was opened or closed.
func (n *Node) present(id synod.NodeID) {
	for _, r := range n.active() {
		go r.put(input{from: id, presence: true})
	}
}

// count adds one to a figure.
func (n *Node) count(figure *int) {
	n.figures.Lock()
	*figure++
	n.figures.Unlock()
}

// Recorder keeps the decisions of a node in the ledger of its roster. No decision waits for it.
type Recorder interface {
	// Record promises that an entry will be in the ledger; it is on disk when Record returns.
	Record(e *ledger.Entry) error
	// Serve reads a stream that another replica of the ledger has opened.
	Serve(seat synod.NodeID, conn *link.Conn) error
	Head() *ledger.SignedHead // the last one; nil: none is known
	Status() ledger.KeeperStatus
	Close() error
}
