package node

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/node/call"
)

// run is this node's part in one run of a question. One goroutine (loop) owns all fields above in.
type run struct {
	node     *Node
	caller   string // the key of who asked, in hexadecimal; "": the run was resumed
	question synod.Question
	id       sign.Instance
	key      runKey        // names the run in frames
	origin   time.Time     // with the monotonic clock, so that a clock that is set does not move the rounds
	begins   time.Time     // the agreed start
	lead     time.Duration // from origin to the start of the run
	identity sign.Identity
	machine  synod.Machine
	journal  *journal.Writer
	desk     *council.Desk
	schedule *schedule
	observer RunObserver
	decided  bool
	alarms   int
	receipts map[slotOf][]call.Receipt // that this seat sent and got, at most two of a slot; guarded by mu
	stored   int                       // receipts; guarded by mu
	votes    map[synod.NodeID]vote     // of neighbours; guarded by mu
	late     uint64
	suspects map[synod.NodeID]bool // that were not waited for at some time
	resumed  bool
	vouchers map[synod.NodeID]bool // neighbours that have told what this seat has signed in the run
	failed   error                 // why there is no record; nil: there is one, or the run plays
	received map[receiptKey]bool
	unsent   bool // something is queued since the last flush
	account  account
	fresh    map[synod.NodeID]int            // messages of neighbours that were new; guarded by mu
	held     map[synod.NodeID]int64          // bytes of messages of neighbours, which are accounted
	waiting  map[synod.ConsultID]waitingCall // in a replay: calls whose reply has not been read

	in    chan input
	ended chan struct{} // closed when final is set

	mu       sync.Mutex
	out      map[synod.NodeID][][]byte // frames for each neighbour, in order
	final    *call.Final
	progress progress
	proofs   int
	compared comparison
	size     int // bytes that are kept of the run after its end, about
}

// progress is what a status shows of a run.
type progress struct {
	Tick    synod.Tick
	Round   int
	Answer  synod.Answer
	Calls   int
	Late    uint64
	Stopped string
}

// slotOf is a slot of one seat.
type slotOf struct {
	from synod.NodeID
	slot synod.Slot
}

// receiptKey is a slot of one seat with what was sent in it.
type receiptKey struct {
	from synod.NodeID
	slot synod.Slot
	sum  [sha256.Size]byte
}

// input is something that comes to a run from outside.
type input struct {
	from     synod.NodeID
	frames   []frame         // of a neighbour
	presence bool            // a neighbour's stream was opened or closed
	vouched  bool            // a neighbour has told all that this seat has signed in the run
	older    bool            // this seat has signed something in the run that its folder does not have
	reply    *synod.Answered // a reply of the model
	asked    synod.Tick      // in which the call was made
	due      synod.Tick
}

// waitingCall is a call of a replay whose reply has not been read.
type waitingCall struct {
	at, due synod.Tick
	prompt  *synod.Prompt
}

// comparison is what a run compares with neighbours after its end. run.mu guards it.
type comparison struct {
	digests []byte // empty: the run plays
	roots   map[synod.NodeID][]byte
	pulls   map[synod.NodeID]int // that were sent to a neighbour
	waits   map[synod.NodeID]int // for so many lists of digests
	answers map[synod.NodeID]int // to pulls of a neighbour
}

func newComparison() comparison {
	return comparison{roots: map[synod.NodeID][]byte{}, pulls: map[synod.NodeID]int{}, waits: map[synod.NodeID]int{},
		answers: map[synod.NodeID]int{}}
}

// vote is the signed vote of a neighbour. Its signature is checked when the vote is needed.
type vote struct{ call.Receipt }

func (v *vote) key() receiptKey {
	return receiptKey{synod.NodeID(v.From), synod.Slot{Name: v.Slot, Round: int(v.Round)}, [sha256.Size]byte(v.Sum)}
}

// elapsed is the real time since the start of the run.
func (r *run) elapsed() time.Duration { return time.Since(r.origin) - r.lead }

// flush makes the streams send what is queued. The run calls it before it waits for anything, so that all that it says
// at once goes into one batch.
func (r *run) flush() {
	if r.unsent {
		r.unsent = false
		r.node.wake()
	}
}

// queue queues a frame for some neighbours; nil: all of them.
func (r *run) queue(to []synod.NodeID, f frame) {
	if to == nil {
		to = r.node.peers
	}
	b := canonical.Encode(f)
	r.unsent = true
	r.grow(len(b))
	r.mu.Lock()
	for _, id := range to {
		if slices.Contains(r.node.peers, id) {
			r.out[id] = append(r.out[id], b)
		}
	}
	r.mu.Unlock()
}

// put hands an input to the loop, unless the run has ended.
func (r *run) put(in input) {
	select {
	case r.in <- in:
	case <-r.ended:
	case <-r.node.context.Done():
	}
}

func (r *run) short() string { return string(r.id)[:min(12, len(r.id))] }

// once sends a frame about the run to a neighbour, on the stream that is open.
func (r *run) once(to synod.NodeID, f frame) { r.node.links[to].once(r.key, f) }

// left returns how many bytes are kept of a run that has ended.
func (r *run) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// grow accounts bytes that the run holds until its end, and reports whether they are within the limits.
func (r *run) grow(bytes int) bool {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.freed {
		return false
	}
	a.bytes += int64(bytes)
	all, one := r.node.config.Caps.memoryLimits()
	return r.node.memory.take(r.caller, int64(bytes), all, one)
}

// shrink frees bytes that were accounted and are not held.
func (r *run) shrink(bytes int) {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.freed {
		a.bytes -= int64(bytes)
		r.node.memory.give(r.caller, int64(bytes))
	}
}

// freeAll frees everything that was accounted for the run. Nothing is accounted for it afterwards.
func (r *run) freeAll() {
	a := &r.account
	a.mu.Lock()
	defer a.mu.Unlock()
	r.node.memory.give(r.caller, a.bytes)
	a.freed, a.bytes = true, 0
}
