package node

import (
	"crypto/sha256"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/node/call"
)

// runKey names a run in frames: the beginning of the SHA-256 of its instance. Signatures are bound to the instance.
type runKey [16]byte

// batch is what a node sends to a neighbour at once about one run, on the stream that it has opened to it.
type batch struct {
	_      struct{} `cbor:",toarray"`
	Run    []byte   // a runKey; empty for pings, and for the run of the batch before on the stream
	Frames []frame
}

// frame is what a node tells a neighbour. Every frame may be sent again: a receiver that has it already ignores it.
// Fields that are zero take no bytes.
type frame struct {
	Kind      uint64         `cbor:"1,keyasint"`           // below
	Tick      int64          `cbor:"2,keyasint,omitempty"` // message: in which it was sent; closed, demand: the tick
	Idle      int64          `cbor:"3,keyasint,omitempty"` // closed: the sender does nothing before this tick unless a message comes; demand: 1 asks for an answer (debt)
	Clock     int64          `cbor:"4,keyasint,omitempty"` // ping: microseconds since 1970; message: milliseconds since the start
	Slot      string         `cbor:"5,keyasint,omitempty"` // message
	Round     uint64         `cbor:"6,keyasint,omitempty"` // message
	Body      []byte         `cbor:"7,keyasint,omitempty"` // message, summary, digests, pull
	Signature []byte         `cbor:"8,keyasint,omitempty"` // message
	Receipts  []call.Receipt `cbor:"9,keyasint,omitempty"` // receipts, held, summary
}

// The kinds of frames.
const (
	isMessage  uint64 = iota + 1
	isClosed          // the sender sends nothing more in Tick or before
	isDemand          // the receiver should close Tick, if it can; else it answers what it has closed, if Idle is 1
	isBegun           // the sender takes part in the run, and has nothing of it yet: send all again
	isReceipts        // signed messages that the sender has: the receiver compares them with its own
	isPing            // keeps the stream open and compares the clocks
	isHeld            // what the sender holds that the receiver has signed in the run with the instance in Slot
	isSummary         // the sender's part has ended: the hash of its digests (compare), and its signed vote
	isPull            // the receiver should send its digests or, if Body is a set of seats, receipts of their messages
	isDigests         // the digests of the sender
	isDecline         // the sender takes no part in the run
)

// inRange reports whether an honest node can send a frame. A seat that is asked before its first step, such as one that
// goes on with a run after a restart, says that it has closed tick -1.
func (f *frame) inRange() bool {
	first := int64(0)
	if f.Kind == isClosed {
		first = -1
	}
	return f.Tick >= first && f.Tick <= int64(never) && len(f.Slot) <= maxSlotName && f.Round <= 1<<31-1 &&
		len(f.Body) <= synod.MaxLongBody && len(f.Receipts) <= receiptsAtOnce
}

// pong is the reply to a ping, on the same stream.
type pong struct {
	_     struct{} `cbor:",toarray"`
	Sent  int64    // Clock of the ping
	Clock int64    // the replier's wall clock, in microseconds since 1970
}

// The limits of frames and of what one neighbour may send.
const (
	maxFrame        = synod.MaxLongBody + 4<<10 // of a batch, in bytes
	maxBatch        = 1 << 16                   // bytes from which a batch takes no further frame
	batchFrames     = 255                       // in a batch
	maxSlotName     = 256
	maxRunMessages  = 4096      // of one neighbour in one run
	maxRunBytes     = 16 << 20  // of one neighbour in one run
	maxPeerBytes    = 32 << 20  // of one neighbour in all runs that have not ended
	framesPerSecond = 4000      // of one neighbour
	frameBurst      = 8000      //
	bytesPerSecond  = 64 << 20  // of one neighbour
	bytesBurst      = 128 << 20 //
	receiptsAtOnce  = 200       // in one frame
)

// pack puts encoded frames of a run into as few batches as possible. It writes what canonical.Encode does for a batch.
func pack(run []byte, frames [][]byte) (batches [][]byte) {
	for len(frames) > 0 {
		n, size := 0, 0
		for n < min(len(frames), batchFrames) && (n == 0 || size+len(frames[n]) <= maxBatch) {
			size += len(frames[n])
			n++
		}
		b := append(make([]byte, 0, size+len(run)+8), 0x82) // an array of two
		b = append(b, canonical.Encode(run)...)
		if n < 24 {
			b = append(b, 0x80|byte(n))
		} else {
			b = append(b, 0x98, byte(n))
		}
		for _, f := range frames[:n] {
			b = append(b, f...)
		}
		batches, frames = append(batches, b), frames[n:]
	}
	return batches
}

// shorten leaves the run out of batches whose run is that of the batch before on the stream, and returns the last run.
func shorten(batches [][]byte, last runKey) runKey {
	const head = 2 // of the array, and of the run
	for i, b := range batches {
		if len(b) < head+len(last) || b[1] != 0x40|byte(len(last)) {
			continue
		}
		run := runKey(b[head : head+len(last)])
		if run == last {
			batches[i] = append([]byte{b[0], 0x40}, b[head+len(last):]...)
		}
		last = run
	}
	return last
}

// The times of a stream between neighbours.
const (
	helloTime = 5 * time.Second
	pingEvery = time.Second
	idleTime  = 10 * time.Second // without a frame a stream is closed
	retryMin  = 20 * time.Millisecond
	retryMax  = time.Second
)

// instanceKey names a run in frames.
func instanceKey(id sign.Instance) (key runKey) {
	sum := sha256.Sum256([]byte(id))
	copy(key[:], sum[:])
	return key
}
