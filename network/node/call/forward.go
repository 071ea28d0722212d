package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/roster"
)

// A member that a caller cannot reach, because it is reached through relays only, is asked through others. The
// caller signs what it asks, and the member signs its record: who passes them on can keep them back, and nothing else.

// ToForward is the purpose of a stream on which a request of a caller is passed on.
const ToForward = "forward"

// Forward is a request of a caller to a member, which another member passes on.
type Forward struct {
	_         struct{} `cbor:",toarray"`
	Roster    []byte   // hash of the roster
	Seat      uint64   // of who is asked
	Purpose   string   // ToAsk, ToSign or ToCompare
	Request   []byte   // the frame that such a stream begins with, encoded
	Caller    []byte   // its public key
	Signature []byte   // by the caller, under all of the above
}

// Forwarded is the reply to a Forward.
type Forwarded struct {
	_       struct{} `cbor:",toarray"`
	Refused string   // why it was not passed on; "": Reply is set
	Reply   []byte   // the frame that the member has replied with, encoded
}

// forwardType is the type of what the signature of a Forward covers.
const forwardType = "application/vnd.synod.forward+cbor"

// ForwardRoom is how many bytes a Forward has besides its request, at most, and a Forwarded besides its reply.
const ForwardRoom = 1 << 10

func (f *Forward) bytes() []byte {
	unsigned := *f
	unsigned.Signature = nil
	return canonical.Encode(unsigned)
}

// Sign signs the request of a caller.
func (f *Forward) Sign(caller sign.Secret) { f.Signature = caller.SignEnvelope(forwardType, f.bytes()) }

// Check returns an error unless a caller of the roster has signed the request.
func (f *Forward) Check(r *roster.Roster) error {
	hash := r.Hash()
	switch {
	case string(f.Roster) != string(hash[:]):
		return errors.New("the request is about another roster")
	case f.Seat >= uint64(len(r.Members)):
		return errors.New("the roster does not have the seat that is asked")
	case !slices.Contains([]string{ToAsk, ToSign, ToCompare}, f.Purpose):
		return errors.New("requests of this kind are not passed on")
	case !r.MayAsk(f.Caller):
		return errors.New("the roster does not let the caller ask")
	case !sign.VerifyEnvelope(f.Caller, forwardType, f.bytes(), f.Signature):
		return errors.New("the caller has not signed the request")
	}
	return nil
}

// patienceForDirect is how long a direct connection is waited for before a request goes through members too.
const patienceForDirect = 300 * time.Millisecond

// request puts one request to a member, and reads the reply of at most max bytes: directly or, if that fails or takes
// long, through other members.
func (c *Client) request(ctx context.Context, seat synod.NodeID, purpose string, request any, max int, into any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		b   []byte
		err error
	}
	direct, through := make(chan answer, 1), make(chan answer, 1)
	go func() {
		b, err := c.direct(ctx, seat, purpose, request, max)
		direct <- answer{b, err}
	}()
	forward := time.After(patienceForDirect)
	if c.Secret == nil {
		forward = nil
	}
	begin := func() {
		forward = nil
		go func() {
			b, err := c.forward(ctx, seat, purpose, canonical.Encode(request), max, nil)
			through <- answer{b, err}
		}()
	}
	var failed error
	for waits := 1; waits > 0; {
		select {
		case a := <-direct:
			if a.err == nil {
				return canonical.Decode(a.b, max, into)
			}
			if waits, failed = waits-1, errors.Join(a.err, failed); forward != nil {
				waits++
				begin()
			}
		case a := <-through:
			if a.err == nil {
				return canonical.Decode(a.b, max, into)
			}
			waits, failed = waits-1, errors.Join(failed, a.err)
		case <-forward:
			waits++
			begin()
		}
	}
	return failed
}

// direct puts one request on a stream of its own.
func (c *Client) direct(ctx context.Context, seat synod.NodeID, purpose string, request any, max int) ([]byte, error) {
	conn, _, _, err := c.openFor(ctx, seat, purpose)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.Send(request, answerTime); err != nil {
		return nil, err
	}
	return conn.ReceiveBytes(max, answerTime)
}

// forward puts a request to a member through F+1 others at once, of which one is honest, and returns the first reply.
// connected has the members that can be reached, of all if it is nil.
func (c *Client) forward(ctx context.Context, seat synod.NodeID, purpose string, request []byte, max int,
	connected []synod.NodeID) ([]byte, error) {
	if c.Secret == nil {
		return nil, errors.New("the caller has no key to sign a request that others pass on")
	}
	hash := c.Roster.Hash()
	f := Forward{Roster: hash[:], Seat: uint64(seat), Purpose: purpose, Request: request, Caller: c.Secret.PublicKey()}
	f.Sign(*c.Secret)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	via := c.carriers(seat, connected)
	came := make(chan Forwarded, len(via))
	for _, id := range via {
		go func() { came <- c.forwardVia(ctx, id, &f, max) }()
	}
	failed := errors.New("no member is reached that could pass the request on")
	for range via {
		x := <-came // ctx ends it
		if x.Refused == "" {
			return x.Reply, nil
		}
		failed = errors.New(x.Refused)
	}
	return nil, fmt.Errorf("through other members: %w", failed)
}

// carriers returns F+1 members that may pass a request on to a seat, its neighbours first.
func (c *Client) carriers(seat synod.NodeID, connected []synod.NodeID) (via []synod.NodeID) {
	if connected == nil {
		for i := range c.Roster.Members {
			connected = append(connected, synod.NodeID(i))
		}
	}
	peers := c.Roster.Peers(seat)
	for _, neighbours := range []bool{true, false} {
		for _, id := range connected {
			if id != seat && slices.Contains(peers, id) == neighbours {
				via = append(via, id)
			}
		}
	}
	return via[:min(len(via), int(c.Roster.F)+1)]
}

// forwardVia asks one member to pass a request on.
func (c *Client) forwardVia(ctx context.Context, via synod.NodeID, f *Forward, max int) (reply Forwarded) {
	conn, _, _, err := c.openFor(ctx, via, ToForward)
	if err != nil {
		return Forwarded{Refused: err.Error()}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err = conn.Send(f, answerTime); err == nil {
		err = conn.Receive(max+ForwardRoom, &reply, 720*time.Hour) // ctx ends it
	}
	if err != nil {
		return Forwarded{Refused: err.Error()}
	}
	return reply
}

// errNoCarrier is the reason why a question was not given to others.
var errNoCarrier = errors.New("no member is reached that could pass the question on")

// askThrough gives a question to a member through others. It returns errNoCarrier if no other member is connected.
func (c *Client) askThrough(ctx context.Context, seat synod.NodeID, open []*opening, start Start) (reply RunReply,
	err error) {
	var connected []synod.NodeID
	for i, o := range open {
		select {
		case <-o.done:
			if o.err == nil {
				connected = append(connected, synod.NodeID(i))
			}
		default:
		}
	}
	if len(connected) == 0 {
		return reply, errNoCarrier
	}
	b, err := c.forward(ctx, seat, ToAsk, canonical.Encode(start), MaxRecord, connected)
	if err == nil {
		err = canonical.Decode(b, MaxRecord, &reply)
	}
	return reply, err
}
