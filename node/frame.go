package node

import (
	"synod.dev/synod"
	"synod.dev/synod/node/call"
)

// frame is what a node tells a neighbour on the stream that it has opened to it. Every frame may be
// sent again: a receiver that has it already ignores it.
type frame struct {
	_         struct{} `cbor:",toarray"`
	Kind      uint64   // below
	Run       []byte   // SHA-256 of the instance; empty in pings
	Tick      int64    // message: in which it was sent; closed: the tick; demand: the tick
	Clock     int64    // the sender's wall clock, in microseconds since 1970
	Slot      string   // message
	Round     uint64   // message
	Body      []byte   // message
	Signature []byte   // message
	Idle      int64    // closed: the sender does nothing before this tick unless a message comes
	Receipts  []call.Receipt
}

// The kinds of frames.
const (
	isMessage  uint64 = iota + 1
	isClosed          // the sender sends nothing more in Tick or before
	isDemand          // the receiver should close Tick, if it can
	isBegun           // the sender takes part in the run, and has nothing of it yet: send all again
	isReceipts        // signed messages that the sender has: the receiver compares them with its own
	isPing            // keeps the stream open and compares the clocks
	isHeld            // what the sender holds that the receiver has signed in the run with the instance in Slot
)

// pong is the reply to a ping, on the same stream.
type pong struct {
	_     struct{} `cbor:",toarray"`
	Sent  int64    // Clock of the ping
	Clock int64    // the replier's wall clock, in microseconds since 1970
}

// The limits of frames and of what one neighbour may send.
const (
	maxFrame        = synod.MaxLongBody + 4<<10
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
