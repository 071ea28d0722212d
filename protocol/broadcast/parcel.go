package broadcast

import (
	"encoding/binary"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/wire"
)

// chain is a value with the signatures of its sender and of the members that relayed it,
// each at its position.
type chain struct {
	sender synod.NodeID
	value  []byte
	links  []link
}

type link struct {
	by  synod.NodeID
	sig []byte
}

// parcel is the content of one message of a round: at most two chains for each sender,
// ascending by sender. More than two prove nothing that two do not.
type parcel []chain

// The bytes before the contents: of a parcel version and count; of a chain
// sender, length of the value, count of links; of a link signer and length.
const (
	parcelVersion = 1
	parcelHeader  = 1 + 2
	chainHeader   = 4 + 4 + 2
	linkHeader    = 4 + 2
)

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

// UnmarshalBinary reads exactly what AppendBinary writes. The chains share b's memory.
func (p *parcel) UnmarshalBinary(b []byte) error {
	r := wire.NewReader(b, synod.MaxBody)
	r.Version(parcelVersion)
	n := int(r.Uint(2))
	chains := make(parcel, 0, min(n, r.Len()/chainHeader))
	for range n {
		c := chain{sender: readID(r)}
		c.value = r.Bytes(synod.MaxBody)
		k := int(r.Uint(2))
		if r.Require(k <= r.Len()/linkHeader && !crowded(chains, c.sender)); r.Bad() {
			break
		}
		c.links = make([]link, k)
		for i := range c.links {
			c.links[i] = link{by: readID(r), sig: readSignature(r)}
		}
		chains = append(chains, c)
	}
	if err := r.End(); err != nil {
		return fmt.Errorf("broadcast: parcel: %w", err)
	}
	*p = chains
	return nil
}

// crowded reports whether a further chain of a sender is not allowed.
func crowded(chains parcel, sender synod.NodeID) bool {
	n := len(chains)
	return n > 0 && chains[n-1].sender > sender || n > 1 && chains[n-2].sender == sender
}

// readID reads a NodeID, which is not negative.
func readID(r *wire.Reader) synod.NodeID {
	id := synod.NodeID(r.Uint(4))
	r.Require(id >= 0)
	return id
}

// readSignature reads a signature after its length in two bytes.
func readSignature(r *wire.Reader) []byte {
	n := int(r.Uint(2))
	r.Require(n <= synod.MaxSignature)
	return r.Fixed(n)
}
