package plan

import (
	"fmt"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// castOf returns the role of every seat, "" in a protocol without roles.
func castOf(p *Plan) []synod.Role {
	if p.roles == nil {
		return make([]synod.Role, len(p.seats))
	}
	return p.roles
}

// checkAllToAll refuses a graph that is not complete where the protocol needs one.
func checkAllToAll(p *Plan) error {
	if a, ok := p.protocol.(protocol.AllToAll); !ok || !a.AllToAll() {
		return nil
	}
	for i, peers := range p.peers {
		if len(peers) < len(p.seats)-1 {
			return fmt.Errorf("protocol %s needs a complete graph, and seat %s hears only %d of the %d others",
				p.entry.Name, p.seats[i].ID, len(peers), len(p.seats)-1)
		}
	}
	return nil
}

// checkBound refuses a bound F that is too large for the seats and their roles.
func checkBound(p *Plan) error {
	if s, ok := p.protocol.(protocol.CastChecker); ok {
		return s.CheckCast(castOf(p), p.spec.F)
	}
	return nil
}

func checkRule(p *Plan) error {
	_, concludes := p.protocol.(protocol.Concluding)
	_, replies := p.protocol.(protocol.Accepting)
	_, staged := p.protocol.(protocol.Staged)
	switch {
	case staged && p.spec.Rule.Name != ByProtocol:
		return fmt.Errorf("rule: protocol %s decides from the answers of the members that it asks; leave the rule "+
			"out, or use protocol", p.entry.Name)
	case p.spec.Rule.Name == ByProtocol && !concludes && !replies && !staged:
		return fmt.Errorf("rule: protocol %s has no decision step of its own; use plurality, majority or "+
			"supermajority", p.entry.Name)
	}
	return p.spec.Rule.Validate(independentSeats(p))
}

// independentSeats counts the seats that give an answer of their own in round 0.
func independentSeats(p *Plan) (n int) {
	a, ok := p.protocol.(protocol.Respondents)
	if !ok {
		return p.voters
	}
	for i := range p.seats {
		if a.Asks(synod.NodeID(i), p.roles) {
			n++
		}
	}
	return n
}

func setPace(p *Plan) error {
	p.spec.Pace = p.spec.Pace.or(defaultThink, defaultWithin)
	p.pace = synod.Pace{Think: synod.Tick(p.spec.Pace.Think / time.Millisecond),
		Within: synod.Tick(p.spec.Pace.Within / time.Millisecond)}
	return p.spec.Pace.validate()
}

func checkHedge(p *Plan) error {
	switch _, err := p.spec.Hedging(); {
	case err != nil:
		return err
	case p.spec.Hedge != "" && p.spec.Exact != "":
		return fmt.Errorf("hedge is %s; exact: %s makes no second requests, so it must be absent", p.spec.Hedge,
			p.spec.Exact)
	}
	return nil
}

// Hedging returns when a call is sent a second time.
func (s *Spec) Hedging() (h llm.Hedge, err error) { return h, h.UnmarshalText([]byte(s.Hedge)) }

func setFaults(p *Plan) (err error) {
	if err := param.Verify(&p.spec.Faults); err != nil {
		return err
	}
	p.faults, err = p.spec.Faults.ticks(len(p.seats))
	return err
}

func checkLimits(p *Plan) error { return param.Verify(&p.spec.Limits) }

// namesProviders lists the models that name a provider.
func namesProviders(p *Plan) (names []string) {
	for _, name := range sortedKeys(p.spec.Models) {
		if provider, _ := Settings(p.spec.Models[name]); provider != "" {
			names = append(names, name)
		}
	}
	return names
}

// checkModels reads every model's settings without opening it.
func checkModels(p *Plan) error {
	for _, name := range sortedKeys(p.spec.Models) {
		provider, decode := Settings(p.spec.Models[name])
		err := fmt.Errorf("it names no provider (example: provider: openai)%s", synod.Hint(name, namesProviders(p)))
		switch provider {
		case "":
		case Given:
			err = decode(&struct{}{})
		default:
			err = llm.Check(provider, decode)
		}
		if err != nil {
			return &ConfigError{Section: "models." + name, Err: err}
		}
	}
	return nil
}
