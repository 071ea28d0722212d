package leader

import (
	"math"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
	"synod.dev/synod/protocol/broadcast"
)

// All messages are encoded with package wire and begin with a version byte.
const wireVersion = 1

// MaxMembers is the largest number of members for which two certificates and a proposal fit
// into one message.
const MaxMembers = 128

// meeting is the message that opens a round: the member's own answer, the highest prepare
// certificate that it has, and the decision if it has one.
type meeting struct {
	own        synod.Response // Answer as the author wrote it; None: no answer
	lock, done *Certificate
}

func (m meeting) AppendBinary(b []byte) ([]byte, error) {
	b = appendResponse(append(b, wireVersion), m.own)
	return m.done.append(m.lock.append(b)), nil
}

func (m *meeting) UnmarshalBinary(b []byte) error {
	r := newReader(b)
	in := meeting{own: r.response(), lock: r.certificate(), done: r.certificate()}
	if err := r.End(); err != nil {
		return err
	}
	*m = in
	return nil
}

// proposal is what a leader signs. With a lock the leader has no choice: the answer is the
// lock's.
type proposal struct {
	answer    synod.Answer // canonical; not part of the message
	surface   string
	rationale string
	lock      *Certificate
}

func (p *proposal) encode() []byte {
	return p.lock.append(appendResponse([]byte{wireVersion},
		synod.Response{Answer: synod.Answer(p.surface), Rationale: p.rationale}))
}

func (p *proposal) decode(b []byte) error {
	r := newReader(b)
	response := r.response()
	in := proposal{surface: string(response.Answer), rationale: response.Rationale, lock: r.certificate()}
	r.Require(math.Float64bits(response.Confidence) == 0) // a proposal has no confidence
	if err := r.End(); err != nil {
		return err
	}
	*p = in
	return nil
}

// offer is a proposal as it was signed, with the leader's signature.
type offer struct{ value, signature []byte }

func offerOf(s *broadcast.Signed) (o offer) {
	if s != nil {
		o = offer{s.Value, s.Signature}
	}
	return o
}

func (o offer) AppendBinary(b []byte) ([]byte, error) {
	return wire.AppendBytes(wire.AppendBytes(append(b, wireVersion), o.value), o.signature), nil
}

func (o *offer) UnmarshalBinary(b []byte) error {
	r := newReader(b)
	in := offer{r.Bytes(synod.MaxBody), r.Bytes(synod.MaxSignature)}
	if err := r.End(); err != nil {
		return err
	}
	*o = in
	return nil
}

// ballot is a vote on a proposal, with the proposal. An empty vote says that the member saw
// the proposal and did not vote for it.
type ballot struct {
	offer
	vote []byte // the signature of the vote
}

func (v ballot) AppendBinary(b []byte) ([]byte, error) {
	b, err := v.offer.AppendBinary(b)
	return wire.AppendBytes(b, v.vote), err
}

func (v *ballot) UnmarshalBinary(b []byte) error {
	r := newReader(b)
	in := ballot{offer{r.Bytes(synod.MaxBody), r.Bytes(synod.MaxSignature)}, r.Bytes(synod.MaxSignature)}
	if err := r.End(); err != nil {
		return err
	}
	*v = in
	return nil
}

// pledge is a vote of the second phase.
type pledge struct {
	answer synod.Answer // canonical
	vote   []byte       // the signature of the vote
}

func (p pledge) AppendBinary(b []byte) ([]byte, error) {
	return wire.AppendBytes(wire.AppendBytes(append(b, wireVersion), p.answer), p.vote), nil
}

func (p *pledge) UnmarshalBinary(b []byte) error {
	r := newReader(b)
	in := pledge{synod.Answer(r.Bytes(synod.MaxBody)), r.Bytes(synod.MaxSignature)}
	if err := r.End(); err != nil {
		return err
	}
	*p = in
	return nil
}

func appendResponse(b []byte, r synod.Response) []byte {
	body, err := r.AppendBinary(nil)
	if err != nil {
		panic(err) // it never fails
	}
	return wire.AppendBytes(b, body)
}

// reader reads the parts of messages that package wire does not know.
type reader struct{ *wire.Reader }

// newReader returns a reader after the version byte.
func newReader(b []byte) reader {
	r := reader{wire.NewReader(b, synod.MaxBody)}
	r.Version(wireVersion)
	return r
}

func (r reader) response() (out synod.Response) {
	r.Require(out.UnmarshalBinary(r.Bytes(synod.MaxBody)) == nil)
	return out
}
