package council

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Conclusion is the last step of a council whose protocol decides; nil where the
// rule counts seats. It takes what every seat held last, in order.
func Conclusion(spec Spec) (func(last []synod.Opinion) synod.Answer, error) {
	if spec.Rule.Name != ByProtocol {
		return nil, nil
	}
	c, err := seatAll(spec)
	if err != nil {
		return nil, err
	}
	return c.conclude, nil
}

// conclude is the protocol's own last step over the seats that vote.
func (c *Council) conclude(last []synod.Opinion) synod.Answer {
	p, ok := c.protocol.(protocol.Concluding)
	if !ok || c.spec.Rule.Name != ByProtocol {
		return synod.None
	}
	voting := make([]synod.Opinion, 0, len(last))
	for i, o := range last {
		if c.mute == nil || !c.mute[i] {
			voting = append(voting, o)
		}
	}
	return p.Conclude(voting)
}

// ProtocolOf is the protocol of a spec, with its parameters.
func ProtocolOf(spec Spec) (protocol.Protocol, error) {
	c, err := seatAll(spec)
	if err != nil {
		return nil, err
	}
	return c.protocol, nil
}
