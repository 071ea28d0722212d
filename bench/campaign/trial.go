package campaign

import (
	"fmt"
	"math"
	"math/rand/v2"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/check"
)

// ClaimTrial checks a claim that needs no run under sim: about a file, a parser, a rule or all small cases of a
// filter. A number determines what is tried.
type ClaimTrial struct {
	Claim
	Cases uint64 // how many numbers there are, which are all tried; 0: without end
	try   func(t *ClaimTried)
	// councils says that councils are convened, of the protocols that say how (check.Subject.Council)
	councils bool
}

// ClaimTried is what a ClaimTrial found for one number.
type ClaimTried struct{ check.Tried }

// Try checks the claim for one number. A panic is a violation.
func (c ClaimTrial) Try(number uint64) (t ClaimTried) {
	t = ClaimTried{check.Tried{Number: number, Margin: math.Inf(1),
		Rand: rand.New(rand.NewPCG(number, hashText(0x7a1, c.ID)))}}
	defer func() {
		if p := recover(); p != nil {
			t.Violation = fmt.Sprintf("it panics: %v", p)
		}
	}()
	c.try(&t)
	return t
}

// protocol draws a protocol, as council files have it.
func (t *ClaimTried) protocol() string {
	all := councils()
	return all[t.Rand.IntN(len(all))]
}

// convene convenes a council of n members with one model in which everybody hears everybody. more is the rest of its
// file.
func (t *ClaimTried) convene(protocol string, n int, model, more string, env llm.Env) (*council.Council, bool) {
	spec, err := plan.Parse(fmt.Appendf(nil, "protocol: %s\ngraph: {family: complete}\nf: 1\nmodels: {m: {%s}}\n"+
		"seats: [{id: m, model: m, count: %d}]\n%s\n", protocol, model, n, more))
	if !t.Need(err) {
		return nil, false
	}
	c, err := council.Convene(spec, env)
	return c, t.Need(err)
}
