package leader

import (
	"encoding/binary"
	"errors"
	"math"

	"synod.dev/synod"
	"synod.dev/synod/protocol/broadcast"
)

// All words begin with a version byte; numbers are big-endian, and bytes stand after
// their length. What is read is exactly what would be written.
const wireVersion = 1

// MaxMembers keeps two certificates and a proposal in one message.
const MaxMembers = 128

var errWord = errors.New("leader: malformed word")

// meeting opens a round: one's own answer, the highest prepare certificate that one
// knows, and the decision if there is one.
type meeting struct {
	own        synod.Response // Answer as its author wrote it; None: no answer
	lock, done *Certificate
}

func (w meeting) AppendBinary(b []byte) ([]byte, error) {
	b, err := appendResponse(append(b, wireVersion), w.own)
	return w.done.append(w.lock.append(b)), err
}

func (w *meeting) UnmarshalBinary(b []byte) error {
	r := reader{b: b, bad: len(b) > synod.MaxBody}
	r.bad = r.number(1) != wireVersion || r.bad
	read := meeting{own: r.response(), lock: r.certificate(), done: r.certificate()}
	return r.end(func() { *w = read })
}

// proposal is what a leader signs. With a lock it has no choice: the lock's answer.
type proposal struct {
	answer    synod.Answer // canonical; not on the wire
	surface   string
	rationale string
	lock      *Certificate
}

func (p *proposal) encode() []byte {
	b, err := appendResponse([]byte{wireVersion}, synod.Response{Answer: synod.Answer(p.surface), Rationale: p.rationale})
	if err != nil {
		panic(err) // it never fails
	}
	return p.lock.append(b)
}

func (p *proposal) decode(b []byte) error {
	r := reader{b: b}
	r.bad = r.number(1) != wireVersion
	said := r.response()
	read := proposal{surface: string(said.Answer), rationale: said.Rationale, lock: r.certificate()}
	r.bad = r.bad || math.Float64bits(said.Confidence) != 0 // a leader's confidence has no place here
	return r.end(func() { *p = read })
}

// offer is a proposal on its way: what was signed, and the leader's signature.
type offer struct{ value, signature []byte }

func offerOf(s *broadcast.Signed) (o offer) {
	if s != nil {
		o = offer{s.Value, s.Signature}
	}
	return o
}

func (o offer) AppendBinary(b []byte) ([]byte, error) {
	return appendBytes(appendBytes(append(b, wireVersion), o.value), o.signature), nil
}

func (o *offer) UnmarshalBinary(b []byte) error {
	r := reader{b: b, bad: len(b) > synod.MaxBody}
	r.bad = r.number(1) != wireVersion || r.bad
	read := offer{r.bytes(synod.MaxBody), r.bytes(synod.MaxSignature)}
	return r.end(func() { *o = read })
}

// ballot is a vote on a proposal, with the proposal; without a signature it says
// that the proposal was seen and not voted for.
type ballot struct {
	offer
	vote []byte
}

func (w ballot) AppendBinary(b []byte) ([]byte, error) {
	b, err := w.offer.AppendBinary(b)
	return appendBytes(b, w.vote), err
}

func (w *ballot) UnmarshalBinary(b []byte) error {
	r := reader{b: b, bad: len(b) > synod.MaxBody}
	r.bad = r.number(1) != wireVersion || r.bad
	read := ballot{offer{r.bytes(synod.MaxBody), r.bytes(synod.MaxSignature)}, r.bytes(synod.MaxSignature)}
	return r.end(func() { *w = read })
}

// pledge is a vote of the second phase.
type pledge struct {
	answer synod.Answer // canonical
	vote   []byte
}

func (w pledge) AppendBinary(b []byte) ([]byte, error) {
	return appendBytes(appendBytes(append(b, wireVersion), []byte(w.answer)), w.vote), nil
}

func (w *pledge) UnmarshalBinary(b []byte) error {
	r := reader{b: b, bad: len(b) > synod.MaxBody}
	r.bad = r.number(1) != wireVersion || r.bad
	read := pledge{synod.Answer(r.bytes(synod.MaxBody)), r.bytes(synod.MaxSignature)}
	return r.end(func() { *w = read })
}

func appendBytes(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func appendResponse(b []byte, w synod.Response) ([]byte, error) {
	body, err := w.AppendBinary(nil)
	return appendBytes(b, body), err
}

// reader takes a body apart. After the first thing that is not there it is bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number(size int) (n int) {
	if r.bad = r.bad || len(r.b) < size; r.bad {
		return 0
	}
	for _, x := range r.b[:size] {
		n = n<<8 | int(x)
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) bytes(most int) []byte {
	n := r.number(4)
	if r.bad = r.bad || n > most || n > len(r.b); r.bad {
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}

func (r *reader) response() (w synod.Response) {
	r.bad = w.UnmarshalBinary(r.bytes(synod.MaxBody)) != nil || r.bad
	return w
}

// end takes what was read if it was well and nothing is left.
func (r *reader) end(take func()) error {
	if r.bad || len(r.b) > 0 {
		return errWord
	}
	take()
	return nil
}
