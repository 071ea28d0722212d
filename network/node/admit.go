package node

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"synod.dev/synod"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
)

// service is what a node does for those who ask it: callers, and members that pass the requests of callers on.
type service struct{ *Node }

// errTooManyChecks is the error of a caller that has spent its budget of checks.
var errTooManyChecks = errors.New("this caller has asked for more than a node checks for one; ask again in a few " +
	"seconds")

// mayCheck fails if a caller has spent its budget of checks of signatures.
func (n service) mayCheck(caller string, checks int) error {
	n.figures.Lock()
	defer n.figures.Unlock()
	if n.callerChecks == nil {
		n.callerChecks = map[string]*rate.Limiter{} // one for each key that may ask, which the roster bounds
	}
	b := n.callerChecks[caller]
	if b == nil {
		b = newChecks()
		n.callerChecks[caller] = b
	}
	if !b.AllowN(time.Now(), checks) {
		return errTooManyChecks
	}
	return nil
}

// admit decides whether to take part in a run that the owner of a key asks for. n.mu is held.
func (n service) admit(q *synod.Question, s *call.Start, caller string) error {
	c, now := n.config.Caps, n.now()
	ahead := time.UnixMilli(s.At).Sub(now)
	n.asked = slices.DeleteFunc(n.asked, func(t time.Time) bool { return now.Sub(t) > time.Hour })
	size := len(s.Question)
	_, priced := n.daily.prices.Of(n.model.Info())
	switch {
	case n.roster.Draw != nil:
		return terms.ErrDraws
	case s.Limits.Nano > 0 && !priced:
		return errors.New("the caller limits the cost in USD, and this node does not know the price of its model")
	case n.draining.Load():
		return n.leaving()
	case n.shared.horizon.covers(s.At):
		return errors.New("this node has removed what it has signed in runs that began then")
	case n.wrongClock.Load():
		return fmt.Errorf("the node's clock differs from most of its neighbours' by more than %v", n.within/4)
	case ahead < -n.within/4:
		return fmt.Errorf("%s: by this node's clock it was %v ago, and may have been %v ago: compare the clocks",
			call.LateStart, -ahead.Round(time.Millisecond), n.within/4)
	case ahead > time.Minute:
		return fmt.Errorf("the run begins %v from now by this node's clock; it must begin within 1m: compare the "+
			"clocks", ahead.Round(time.Millisecond))
	case len(c.Forms) > 0 && !slices.Contains(c.Forms, q.Form):
		return fmt.Errorf("the node answers questions of the forms %v, and this one is %s", c.Forms, q.Form)
	case size > max(c.Question, 0) && c.Question > 0 || c.Question == 0 && size > defaultQuestion:
		return fmt.Errorf("the question has %d bytes, which is more than the node reads", size)
	case c.Hourly > 0 && len(n.asked) >= c.Hourly:
		return fmt.Errorf("the node has taken %d questions in the last hour, and takes no more", len(n.asked))
	}
	if err := n.places(caller); err != nil {
		return err
	}
	if err := n.hasRoom(caller, size); err != nil {
		return err
	}
	if err := n.daily.left(caller); err != nil {
		return err
	}
	if err := n.plan.Accepts(q); err != nil {
		return err
	}
	for _, p := range q.Attached() {
		if err := llm.TakesPart(n.model, &p); err != nil {
			return fmt.Errorf("the node's model cannot take the %s %s: %w", p.Kind, p.Name, err)
		}
	}
	n.asked = append(n.asked, now)
	return nil
}

// places fails if the node plays as many runs as it may, in all or of one caller. n.mu is held.
func (n service) places(caller string) error {
	playing, own := 0, 0
	for _, r := range n.order {
		if r.over() {
			continue
		}
		if playing++; r.caller == caller {
			own++
		}
	}
	switch all, of := n.config.Caps.atOnce(); {
	case playing >= all:
		return fmt.Errorf("the node plays %d runs, and no more at once", playing)
	case own >= of:
		return fmt.Errorf("the node plays %d runs of this caller, and no more at once of one", own)
	}
	return nil
}

// hasRoom fails if the runs of all callers, or of one, hold so much that one more with a question of so many bytes does
// not fit.
func (n service) hasRoom(caller string, question int) error {
	all, one := n.memory.used(caller)
	switch most, of := n.config.Caps.memoryLimits(); {
	case all+runBytes(question) > most:
		return fmt.Errorf("the runs of the node hold %d of %d bytes of memory", all, most)
	case one+runBytes(question) > of:
		return fmt.Errorf("the runs of this caller hold %d of %d bytes of memory", one, of)
	}
	return nil
}

// leaving is why a node that drains takes no question.
func (n service) leaving() error {
	if next := n.replaced.Load(); next != nil {
		return errors.New(replacedBy(n.hash[:], next))
	}
	return errors.New("the node is draining and takes no new question")
}

// decline notes that this node takes no part in a run, and tells all neighbours.
func (n service) decline(key runKey) {
	n.declined.add(key)
	for _, p := range n.links {
		p.once(key, frame{Kind: isDecline})
	}
}
