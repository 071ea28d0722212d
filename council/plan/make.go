package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/param"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// mayEndEarly reports whether a run can have a fixed point.
func mayEndEarly(p *Plan) bool {
	if p.graph.Changes() { // another round has other neighbours
		return false
	}
	for _, a := range p.adversaries {
		if steady, ok := a.(adversary.Steady); a != nil && (!ok || !steady.Steady()) {
			return false
		}
	}
	return p.protocol.Settles() && p.faults.None()
}

// New makes the plan of a spec. It reads the files that the spec names (a graph
// file, a folder of prompts) and nothing else. A mistake in the spec is a
// *ConfigError. Plans are cached by the content of the spec and of those files, so
// a second call is cheap.
func New(spec Spec) (*Plan, error) { return newPlan(spec, toRun) }

// Of returns the plan of the run in a journal. It does not need the folder of
// prompts that the run used: a replay renders nothing.
func Of(run *journal.Run) (*Plan, error) {
	spec, err := SpecOf(run)
	if err != nil {
		return nil, err
	}
	return newPlan(spec, fromRecord)
}

// Read is NewPlan for runs that are read and not asked anything: it does not need
// the spec's folder of prompts.
func Read(spec Spec) (*Plan, error) { return newPlan(spec, fromRecord) }

// SpecOf returns the spec in the head of a journal, which is the text of a council
// file, encoded as a JSON string.
func SpecOf(run *journal.Run) (Spec, error) {
	var text string
	if err := json.Unmarshal(run.Head.Spec, &text); err != nil {
		return Spec{}, fmt.Errorf("the journal's council cannot be read: %w", err)
	}
	spec, err := ParseRecord([]byte(text))
	if err != nil {
		return Spec{}, fmt.Errorf("the journal's council: %w", err)
	}
	return spec, nil
}

func newPlan(spec Spec, from source) (*Plan, error) {
	p := &Plan{spec: spec}
	if err := runSteps(p, reading(from)); err != nil {
		return nil, err
	}
	key, err := planKey(p)
	if err != nil {
		return nil, err
	}
	if known, ok := plans.get(key); ok {
		return known, nil
	}
	if err := runSteps(p, building); err != nil {
		return nil, err
	}
	if err := runSteps(p, checking); err != nil {
		return nil, err
	}
	if err := encodeSpec(p); err != nil {
		return nil, err
	}
	groupSeats(p)
	setCommit(p)
	p.defencesOn = findDefences(p)
	p.calls, p.settles = p.protocol.Calls(degreesOf(p))+firstAnswers(p), mayEndEarly(p)
	p.bound, p.harm = sync.OnceValue(func() Bound { return findBound(p) }), measureHarm(p)
	plans.put(key, p)
	return p, nil
}

// step is one part of making a plan, and the section of the council file that it is about.
type step struct {
	section string
	do      func(p *Plan) error
}

// building are the steps that compute the parts of the plan. Each needs those before it.
var building = []step{
	{"seats", placeAdversaries}, // those that the seats name
	{"graph", buildGraph},       // for as many rounds as the protocol has
	{"rule", fillRule},
	{"seats", assignRoles}, // who votes
	{"voices", setVoices},
	{"adversaries", placeByRule}, // on the graph, at seats without one
	{"adversaries", collude},     // when all have a seat
	{"seats", stateFooling},
}

// checking are the steps that check one section each and fill in its defaults. Only the order of errors depends on
// their order.
var checking = []step{
	{"graph", checkAllToAll}, {"same", checkSame}, {"f", checkBound}, {"rule", checkRule}, {"pace", setPace},
	{"patience", setPatience}, {"hedge", checkHedge}, {"reread", checkReread}, {"ledger", checkLedger},
	{"checks", checkChecks}, {"runner", checkRace},
	{"faults", setFaults}, {"breakers", func(p *Plan) error { return p.spec.Breakers.Validate() }},
	{"limits", checkLimits}, {"models", checkModels}, {"reference", checkReference},
}

// runSteps takes steps in their order and stops at the first mistake.
func runSteps(p *Plan, steps []step) error {
	for _, s := range steps {
		if err := s.do(p); err != nil {
			var named *ConfigError
			if errors.As(err, &named) {
				return named
			}
			return &ConfigError{Section: s.section, Err: err}
		}
	}
	return nil
}

func expandSeats(p *Plan) (err error) {
	if p.seats, _, err = p.spec.expand(); err != nil {
		return err
	}
	fooling := map[string]string{} // by model, which many seats may share
	for i := range p.seats {
		s := &p.seats[i]
		settings, known := p.spec.Models[s.Model]
		if !known {
			return fmt.Errorf("seat %s: no model is called %q%s", s.ID, s.Model,
				synod.Hint(s.Model, sortedKeys(p.spec.Models)))
		}
		name, _ := settings["provider"].(string)
		if provider, err := llm.Providers.Find(name); err == nil { // checkModels reports the error
			fools, done := fooling[s.Model]
			if !done {
				fools = llm.Fooling(settings, false)
				fooling[s.Model] = fools
			}
			s.Kind, s.Fooling = provider.Kind, fools
		}
	}
	return nil
}

// configure finds the protocol and decodes its parameters.
func configure(p *Plan) error {
	var rest Params
	var err error
	if p.entry, rest, err = p.spec.protocol(); err != nil {
		return err
	}
	p.protocol = p.entry.New()
	switch p.spec.Exact {
	case "":
	case "paper":
		p.protocol.Paper()
	default:
		return &ConfigError{Section: "exact", Err: fmt.Errorf("exact is %q; it must be absent or \"paper\"",
			p.spec.Exact)}
	}
	if p.spec.Claims {
		c, ok := p.protocol.(protocol.Claiming)
		if !ok {
			return &ConfigError{Section: "claims", Err: fmt.Errorf("claims is true, and protocol %s judges no claims; "+
				"use protocol: %s", p.entry.Name, proseProtocols()[0])}
		}
		c.JudgeClaims()
	}
	if err := setSame(p); err != nil {
		return &ConfigError{Section: "same", Err: err}
	}
	if err := param.Decode(rest, p.protocol); err != nil {
		return err
	}
	if err := p.entry.Verify(p.protocol); err != nil {
		return err
	}
	return p.entry.CheckTraits(p.protocol)
}

// placeAdversaries makes the adversaries that the experimenter has put at seats.
func placeAdversaries(p *Plan) error {
	_, specs, err := p.spec.expand()
	if err != nil {
		return err
	}
	p.adversaries = make([]adversary.Adversary, len(p.seats))
	for i, s := range specs {
		if p.adversaries[i], err = newAdversary(p, s); err != nil {
			return fmt.Errorf("seat %s: %w", p.seats[i].ID, err)
		}
	}
	return nil
}

func buildGraph(p *Plan) (err error) {
	n := len(p.seats)
	if p.graph, err = dynamic.FromSpec(p.spec.Graph, n, p.protocol.MaxRounds()); err != nil {
		return err
	}
	if p.graph.Directed() {
		return errors.New("the graph is directed; a council needs undirected edges")
	}
	if parts := p.graph.Components(); len(parts) > 1 {
		when := ""
		if p.graph.Changes() {
			when = fmt.Sprintf(" in any of the %d rounds", max(1, p.protocol.MaxRounds()))
		}
		return fmt.Errorf("the graph is not connected%s: %s can never hear the others; add an edge between the parts",
			when, NamesOf(p, parts[len(parts)-1]))
	}
	if err := checkChanges(p); err != nil {
		return err
	}
	p.peers = neighbours(p.graph.Graph)
	if p.graph.Changes() {
		setRounds(p)
	}
	if p.spec.F < 0 || p.spec.F > n {
		return &ConfigError{Section: "f", Err: fmt.Errorf("f is %d; it must be between 0 and the number of seats, %d",
			p.spec.F, n)}
	}
	return nil
}

// fillRule names the default rule: the protocol's own where its members reply to a
// user or are asked in stages, else majority.
func fillRule(p *Plan) error {
	rule := Majority
	_, replies := p.protocol.(protocol.Accepting)
	if _, staged := p.protocol.(protocol.Staged); staged || replies {
		rule = ByProtocol
	}
	p.spec.Rule.Name = cmp.Or(p.spec.Rule.Name, rule)
	return nil
}

// assignRoles checks the seats' roles and finds the seats that vote.
func assignRoles(p *Plan) error {
	var roles []synod.Role
	if c, ok := p.protocol.(protocol.Casting); ok {
		roles = c.Roles()
	}
	for _, s := range p.seats {
		switch {
		case roles == nil && s.Role != "":
			return fmt.Errorf("seat %s: role is %q, and protocol %s has no roles", s.ID, s.Role, p.entry.Name)
		case roles != nil && !slices.Contains(roles, s.Role):
			return fmt.Errorf("seat %s: role is %q; in protocol %s it must be one of %v", s.ID, s.Role, p.entry.Name,
				roles)
		case roles != nil:
			p.roles = append(p.roles, s.Role)
		}
	}
	p.voters = len(p.seats)
	e, ok := p.protocol.(protocol.Electorate)
	if !ok {
		return nil
	}
	respondents, _ := p.protocol.(protocol.Respondents)
	for i := range p.seats {
		id, s := synod.NodeID(i), &p.seats[i]
		if s.NonVoting = !e.Votes(id, castOf(p)); s.NonVoting {
			p.voters--
		}
		s.Unasked = s.NonVoting
		if respondents != nil {
			s.Unasked = !respondents.Asks(id, castOf(p))
		}
	}
	if p.voters == 0 {
		return fmt.Errorf("in protocol %s with these parameters no seat has a vote", p.entry.Name)
	}
	return nil
}

// groupSeats lists the seats that vote and those of each model.
func groupSeats(p *Plan) {
	for i := range p.seats {
		s := &p.seats[i]
		if !s.NonVoting {
			p.voterIDs = append(p.voterIDs, s.ID)
		}
		k := slices.IndexFunc(p.models, func(m ModelSeats) bool { return m.Name == s.Model })
		if k < 0 {
			k = len(p.models)
			p.models = append(p.models, ModelSeats{Name: s.Model})
		}
		p.models[k].Seats = append(p.models[k].Seats, i)
	}
}
