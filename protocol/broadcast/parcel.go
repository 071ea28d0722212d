package broadcast

import (
	"encoding/binary"
	"errors"

	"synod.dev/synod"
)

// chain is a value on its way: signed by its sender, then by everyone who
// relayed it, each at its place.
type chain struct {
	sender synod.NodeID
	value  []byte
	links  []link
}

type link struct {
	by  synod.NodeID
	sig []byte
}

// parcel is what one party says in one message of a round: at most two chains of
// a sender, senders ascending. More says nothing that two do not.
type parcel []chain

// The bytes before the contents: of a parcel version and count; of a chain
// sender, length of the value, count of links; of a link signer and length.
const (
	parcelVersion = 1
	parcelHeader  = 1 + 2
	chainHeader   = 4 + 4 + 2
	linkHeader    = 4 + 2
)

var errParcel = errors.New("broadcast: malformed parcel")

// AppendBinary writes numbers in big-endian order, and bytes after their length.
func (p parcel) AppendBinary(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint16(append(b, parcelVersion), uint16(len(p)))
	for _, c := range p {
		b = binary.BigEndian.AppendUint32(b, uint32(c.sender))
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(c.value))), c.value...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(c.links)))
		for _, l := range c.links {
			b = binary.BigEndian.AppendUint32(b, uint32(l.by))
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(l.sig))), l.sig...)
		}
	}
	return b, nil
}

// UnmarshalBinary reads exactly what AppendBinary writes and nothing else. What
// it reads points into b.
func (p *parcel) UnmarshalBinary(b []byte) error {
	if len(b) > synod.MaxBody {
		return errParcel
	}
	r := reader{b: b}
	if r.number(1) != parcelVersion {
		return errParcel
	}
	n := r.number(2)
	chains := make(parcel, 0, min(n, len(r.b)/chainHeader))
	for range n {
		c := chain{sender: r.id()}
		c.value = r.bytes(r.number(4), synod.MaxBody)
		k := r.number(2)
		if r.bad || k > len(r.b)/linkHeader || crowded(chains, c.sender) {
			return errParcel
		}
		c.links = make([]link, k)
		for i := range c.links {
			c.links[i].by = r.id()
			c.links[i].sig = r.bytes(r.number(2), synod.MaxSignature)
		}
		chains = append(chains, c)
	}
	if r.bad || len(r.b) > 0 {
		return errParcel
	}
	*p = chains
	return nil
}

// crowded reports that a chain of sender may not follow these.
func crowded(chains parcel, sender synod.NodeID) bool {
	n := len(chains)
	return n > 0 && chains[n-1].sender > sender || n > 1 && chains[n-2].sender == sender
}

// reader takes a body apart. After the first thing that is not there it is bad.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number(size int) (n int) {
	for _, x := range r.bytes(size, size) {
		n = n<<8 | int(x)
	}
	return n
}

func (r *reader) id() synod.NodeID {
	id := synod.NodeID(r.number(4))
	r.bad = r.bad || id < 0
	return id
}

func (r *reader) bytes(n, most int) []byte {
	if r.bad || n < 0 || n > most || n > len(r.b) {
		r.bad = true
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}
