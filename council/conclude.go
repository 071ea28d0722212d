package council

import (
	"cmp"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Conclusion is what the protocol's own last step makes of the end of a run.
type Conclusion struct {
	Answer  synod.Answer // None: it comes to none
	Signed  bool         // a user accepts it by signed replies, however many seats that are
	Lacking bool         // fewer of them came than it takes
	Why     string       // for people; "" where seats are not counted by the protocol
}

// Concluder is the last step of a council whose protocol decides; nil where the
// rule counts seats. It takes question and seed of a run, and what every seat held
// last, in order.
func Concluder(spec Spec) (func(q *synod.Question, seed uint64, last []synod.Opinion) Conclusion, error) {
	c, err := seatAll(spec)
	if err != nil || c.spec.Rule.Name != ByProtocol {
		return nil, err
	}
	return c.conclude, nil
}

// setRule fills in the rule that is not named: the protocol's own where its members
// reply to a user, else majority.
func (c *Council) setRule() error {
	usual := Majority
	if _, replies := c.protocol.(protocol.Accepting); replies {
		usual = ByProtocol
	}
	c.spec.Rule.Name = cmp.Or(c.spec.Rule.Name, usual)
	return nil
}

// concludes reports whether the protocol has a last step of its own.
func (c *Council) concludes() bool {
	_, steps := c.protocol.(protocol.Concluding)
	_, replies := c.protocol.(protocol.Accepting)
	return steps || replies
}

// conclude is the protocol's own last step over the seats that vote, or over the
// signed replies to the user.
func (c *Council) conclude(q *synod.Question, seed uint64, last []synod.Opinion) Conclusion {
	if c.spec.Rule.Name != ByProtocol {
		return Conclusion{}
	}
	if p, ok := c.protocol.(protocol.Accepting); ok {
		a, enough, why := p.Accept(last, c.cast, c.spec.F, c.verifier(q, seed))
		return Conclusion{Answer: a, Signed: true, Lacking: !enough, Why: why}
	}
	voting := make([]synod.Opinion, 0, len(last))
	for i, o := range last {
		if c.mute == nil || !c.mute[i] {
			voting = append(voting, o)
		}
	}
	return Conclusion{Answer: c.protocol.(protocol.Concluding).Conclude(voting)}
}

// ProtocolOf is the protocol of a spec, with its parameters.
func ProtocolOf(spec Spec) (protocol.Protocol, error) {
	c, err := seatAll(spec)
	if err != nil {
		return nil, err
	}
	return c.protocol, nil
}
