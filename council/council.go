package council

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/graph"
	"synod.dev/synod/llm"
	"synod.dev/synod/prompt"
	"synod.dev/synod/protocol"
)

// Council is a seated council. It may decide many questions, one after another
// or at once.
type Council struct {
	spec     Spec
	record   json.RawMessage // spec, as journals keep it
	seats    []seat
	graph    graph.Built
	peers    [][]synod.NodeID
	bound    Bound
	entry    protocol.Entry
	protocol protocol.Protocol
	cast     []synod.Role // by seat; nil: the protocol knows no roles
	mute     []bool       // by seat: it has no vote; nil: all vote
	book     *prompt.Templates
	models   map[string]llm.Model
	prices   llm.Prices
	prompts  map[string]string     // digests of the book's pages
	liars    []adversary.Adversary // by seat; nil: honest
}

// Convene seats the members of a spec. Models are opened, not called.
func Convene(spec Spec, env llm.Env) (*Council, error) {
	spec, err := spec.rooted()
	if err != nil {
		return nil, err
	}
	c, err := seatAll(spec)
	if err != nil {
		return nil, err
	}
	if err := c.findPrompts(); err != nil {
		return nil, err
	}
	c.prompts = c.book.Digests()
	if c.record, err = recordOf(c.spec); err != nil {
		return nil, err
	}
	c.bound = boundOf(c.entry.Name, c.protocol, c.graph, c.spec.F)
	c.models, c.prices = map[string]llm.Model{}, env.Prices
	if c.prices == nil {
		c.prices = llm.Published()
	}
	for _, s := range c.seats {
		if c.models[s.model] != nil {
			continue
		}
		if c.models[s.model], err = openModel(spec, s.model, env); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := errors.Join(c.checkPowers(), c.checkMoney()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// seatAll does all of Convene that needs neither model nor search: enough for a
// replay, and to find mistakes.
func seatAll(spec Spec) (*Council, error) {
	c := &Council{spec: spec}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"seats", c.seatMembers}, {"graph", c.drawGraph}, {"protocol", c.setProtocol}, {"rule", c.setRule}, {"seats", c.castRoles}, {"graph", c.checkReach}, {"f", c.checkCast}, {"rule", c.checkRule}, {"faults", c.checkFaults}, {"breakers", c.checkBreakers}, {"models", c.checkModels},
	} {
		if err := step.do(); err != nil {
			var named *ConfigError
			if errors.As(err, &named) {
				return nil, named
			}
			return nil, &ConfigError{Section: step.what, Err: err}
		}
	}
	return c, nil
}

func (c *Council) seatMembers() (err error) {
	if c.seats, err = c.spec.roll(); err != nil {
		return err
	}
	c.liars = make([]adversary.Adversary, len(c.seats))
	for i, s := range c.seats {
		if _, known := c.spec.Models[s.model]; !known {
			return fmt.Errorf("seat %s: no model is called %q%s", s.id, s.model, synod.Hint(s.model, keys(c.spec.Models)))
		}
		if c.liars[i], err = c.liar(s); err != nil {
			return fmt.Errorf("seat %s: %w", s.id, err)
		}
	}
	return nil
}

func (c *Council) drawGraph() (err error) {
	n := len(c.seats)
	if err := c.loadGraph(); err != nil {
		return err
	}
	if c.graph, err = graph.FromSpec(c.spec.Graph, n, 0); err != nil {
		return err
	}
	if parts := c.graph.Components(); len(parts) > 1 {
		return fmt.Errorf("the graph is not connected: %s can never hear the others; add an edge between the parts", c.names(parts[len(parts)-1]))
	}
	if c.graph.Directed() {
		return errors.New("the graph is directed; a council talks over undirected edges")
	}
	c.peers = make([][]synod.NodeID, n)
	for i := range n {
		for _, j := range c.graph.In(i) {
			c.peers[i] = append(c.peers[i], synod.NodeID(j))
		}
	}
	if c.spec.F < 0 || c.spec.F > n {
		return fmt.Errorf("f is %d; it must be between 0 and the number of seats, %d", c.spec.F, n)
	}
	return nil
}

func (c *Council) setProtocol() error {
	name, rest, err := c.spec.Protocol.split()
	if err != nil {
		return err
	}
	if c.entry, err = protocol.Catalogue.Find(name); err != nil {
		return err
	}
	c.protocol = c.entry.New()
	switch c.spec.Exact {
	case "":
	case "paper":
		c.protocol.Paper()
	default:
		return fmt.Errorf("exact is %q; it must be empty or paper", c.spec.Exact)
	}
	if err := rest.decode(c.protocol); err != nil {
		return err
	}
	if err := c.protocol.Validate(); err != nil {
		return err
	}
	if c.spec.Prompts == "" {
		c.book, err = prompt.NewTemplates(name, c.entry.Prompts())
	} else {
		c.book, err = prompt.NewTemplates(name, c.entry.Prompts(), os.DirFS(c.spec.Prompts))
	}
	return err
}

func (c *Council) checkRule() error {
	if c.spec.Rule.Name == ByProtocol && !c.concludes() {
		return fmt.Errorf("rule: protocol %s has no last step of its own that decides; use plurality, majority or supermajority", c.entry.Name)
	}
	return c.spec.Rule.Validate(c.independent())
}

func (c *Council) checkFaults() error { return c.spec.Faults.Validate(len(c.seats)) }

// checkPowers refuses a protocol that asks members for more than they can do.
func (c *Council) checkPowers() error {
	if err := c.checkConfiders(); err != nil {
		return err
	}
	needs, ok := c.protocol.(interface{ Weighs() bool })
	if !ok || !needs.Weighs() {
		return nil
	}
	for _, s := range c.seats {
		if w, can := c.models[s.model].(llm.Weigher); !can || !w.CanWeigh() {
			return &ConfigError{Section: "protocol", Err: fmt.Errorf("score: likelihood needs members that can weigh text, and model %q cannot; use score: stated", s.model)}
		}
	}
	return nil
}

// Close lets go of the models: child processes end, recordings are finished.
func (c *Council) Close() error {
	var errs []error
	for _, name := range keys(c.models) {
		if m, ok := c.models[name].(llm.Closer); ok {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

// Bound is what the protocol guarantees on the council's graph.
func (c *Council) Bound() Bound { return c.bound }

// Planned is how many model calls a question takes at most, retries aside.
func (c *Council) Planned() int {
	degrees := make([]int, len(c.peers))
	for i := range c.peers {
		degrees[i] = len(c.peers[i])
	}
	return c.protocol.Calls(degrees)
}

// names lists seats by id.
func (c *Council) names(nodes []int) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = c.seats[n].id
	}
	return ids
}

// ConfigError is a mistake in a council file.
type ConfigError struct {
	Section string // the key it is under
	Line    int    // 0: unknown
	Err     error
}

func (e *ConfigError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Section, e.Err)
}

func (e *ConfigError) Unwrap() error { return e.Err }
