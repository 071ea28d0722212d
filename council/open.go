package council

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/sandbox"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// Convene makes the plan of a spec and opens it.
func Convene(spec plan.Spec, env llm.Env) (*Council, error) {
	p, err := plan.New(spec)
	if err != nil {
		return nil, err
	}
	return Open(p, Options{Env: env})
}

// Open opens the models of a plan. It calls none of them. A model that cannot be opened
// or cannot do what the protocol needs is a *ConfigError. The caller closes the council.
func Open(p *plan.Plan, o Options) (*Council, error) {
	c := &Council{plan: p, models: map[string]llm.Model{}, prices: o.Env.Prices, record: o.Env.Record,
		runner: o.Runner, can: p.Full().Runner.Capabilities()}
	if c.prices == nil {
		c.prices = llm.Published()
	}
	if c.runner == nil {
		var err error
		if c.runner, err = openRunner(p, o.Env); err != nil {
			return nil, err
		}
		c.reuse = !c.can.Measured && !c.can.Owned && plan.Simulated(p)
	}
	if c.can.Owned {
		c.seatElsewhere()
		return c, nil
	}
	if o.Pool == nil {
		o.Pool = llm.DefaultPool()
	}
	if err := o.check(p); err != nil {
		return nil, err
	}
	for _, s := range p.Seats() {
		if c.models[s.Model] != nil {
			continue
		}
		m, err := o.open(p, s.Model, p.Full().Models[s.Model])
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.models[s.Model] = m
	}
	var err error
	if c.plan, err = c.priced(p); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for i := range p.Seats() {
		m := c.models[p.Seats()[i].Model]
		c.seats = append(c.seats, seated{m, llm.InstantOf(m), plan.Free(p.Seats()[i].Kind)})
	}
	if err := errors.Join(plan.CheckSupport(p), c.checkPowers(), c.checkPrices(p.Full().Limits)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// check refuses models for which the plan has no name.
func (o *Options) check(p *plan.Plan) error {
	for _, name := range sortedKeys(o.Models) {
		if p.Full().Models[name]["provider"] != plan.Given {
			return &plan.ConfigError{Section: "models", Err: fmt.Errorf("council.Options has the model %q, and the "+
				"council has no model of this name with provider: %s%s", name, plan.Given,
				synod.Hint(name, sortedKeys(p.Full().Models)))}
		}
	}
	return nil
}

// open opens a model with this name in the council file.
func (o *Options) open(p *plan.Plan, name string, settings plan.Params) (llm.Model, error) {
	hedge, err := p.Full().Hedging()
	if err != nil {
		return nil, &plan.ConfigError{Section: "hedge", Err: err}
	}
	more := llm.Options{Env: o.Env, Exact: p.Full().Exact == "paper", Hedge: hedge}
	var m llm.Model
	switch given := o.Models[name]; {
	case settings["provider"] != plan.Given:
		m, err = openModel(settings, o.Pool, more)
	case given == nil:
		err = fmt.Errorf("its provider is %s: the program that opens the council has to give the model in "+
			"council.Options", plan.Given)
	default:
		m, err = o.Pool.Given(given, more)
	}
	if err != nil {
		return nil, &plan.ConfigError{Section: "models." + name, Err: err}
	}
	return m, nil
}

func openModel(settings plan.Params, pool *llm.Pool, o llm.Options) (llm.Model, error) {
	provider, decode := plan.Settings(settings)
	m, err := pool.Open(provider, decode, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", provider, err)
	}
	return m, nil
}

// OpenModel opens one model of the process's pool without a council, from settings as they stand under
// models in a council file.
func OpenModel(settings plan.Params, env llm.Env) (llm.Model, error) {
	provider, decode := plan.Settings(settings)
	if provider == "" {
		return nil, errors.New("it names no provider (example: provider: openai)")
	}
	if err := llm.Check(provider, decode); err != nil {
		return nil, err
	}
	return openModel(settings, llm.DefaultPool(), llm.Options{Env: env})
}

// checkPowers refuses a protocol that needs more of a model than it can do.
func (c *Council) checkPowers() error {
	for i := range c.plan.Seats() {
		s := &c.plan.Seats()[i]
		if err := checkPowers(c.plan.Protocol(), s, c.models[s.Model]); err != nil {
			return err
		}
	}
	return nil
}

// givesLikelihood reports whether a model returns the likelihood of a text or, if that is enough, of its own answer.
func givesLikelihood(m llm.Model, ofAnswer bool) bool {
	w, can := m.(llm.Weigher)
	g, gives := m.(llm.LikelihoodGiver)
	return can && w.CanWeigh() || ofAnswer && gives && g.GivesLikelihood()
}

func checkPowers(p protocol.Protocol, s *plan.Seat, m llm.Model) error {
	weighs, _ := p.(interface{ Weighs() bool })
	reader, _ := p.(interface{ ConfidenceMode() synod.ConfidenceMode })
	hidden := reader != nil && reader.ConfidenceMode() == synod.HiddenConfidence
	by := "score"
	if reader != nil && reader.ConfidenceMode() == synod.LikelihoodConfidence {
		by = "probe"
	}
	if weighs != nil && weighs.Weighs() && !s.NonVoting && !givesLikelihood(m, by == "probe") {
		help := ""
		if by == "probe" {
			help = "give an endpoint logprobs: true, or "
		}
		return &plan.ConfigError{Section: "protocol",
			Err: fmt.Errorf("%s: likelihood needs members that return the likelihood of a text, and model %q "+
				"does not; %suse %s: stated", by, s.Model, help, by)}
	}
	probed, can := m.(llm.ConfidenceModel)
	if hidden && (!can || !probed.GivesHiddenConfidence()) { // CP-2
		return &plan.ConfigError{Section: "protocol", Err: &plan.HelpError{Help: plan.HelpProbe,
			Err: fmt.Errorf("probe: hidden needs members with a trained probe, and model %q has none; give it "+
				"probe: FILE, or use probe: stated", s.Model)}}
	}
	return nil
}

// acceptsGrading returns an error if more than F members cannot grade, because they are recorded and the recording has
// no grades. A missing grade uses up F, so such a run would end undecided.
func (c *Council) acceptsGrading() error {
	if plan.Grading(c.plan) == nil {
		return nil
	}
	var lacking []string
	for _, s := range c.plan.Seats() {
		if !llm.Replies(c.models[s.Model], grade.One) {
			lacking = append(lacking, s.ID)
		}
	}
	if f := c.plan.Full().F; len(lacking) > f {
		return &plan.HelpError{Help: plan.HelpRecord, Err: fmt.Errorf("protocol %s has its members grade texts, and "+
			"the recordings of %s have no grades; at most F=%d members may lack them. Record a run of this protocol, "+
			"or use a protocol without the trait grades",
			c.plan.Entry().Name, strings.Join(lacking, ", "), f)}
	}
	return nil
}

// Accepts reports why a question cannot be put to the council; nil if it can. Beside what Plan.Accepts
// checks, every member must take every part of the question.
func (c *Council) Accepts(q *synod.Question) error {
	if err := CanCheck(c.plan); err != nil {
		return err
	}
	if err := c.plan.Accepts(q); err != nil || c.can.Owned { // owners know their models
		return err
	}
	if err := c.acceptsGrading(); err != nil {
		return err
	}
	for _, p := range q.Attached() {
		for _, s := range c.plan.Seats() {
			if err := llm.TakesPart(c.models[s.Model], &p); err != nil {
				return fmt.Errorf("member %s (model %s) cannot take the %s %s: %w; leave the part out, or give the "+
					"seat another model", s.ID, s.Model, p.Kind, cmp.Or(p.Name, p.Media), err)
			}
		}
	}
	return nil
}

// CanCheck reports why the commands among the checks of a council cannot be run here; nil if they can.
func CanCheck(p *plan.Plan) error {
	for _, c := range p.Full().Checks {
		if len(c.Command) == 0 {
			continue
		}
		if err := sandbox.Usable(sandbox.Command{Argv: c.Command, Mount: c.Mount}); err != nil {
			return fmt.Errorf("check %s: %w", c.Name, err)
		}
	}
	return nil
}

// seatElsewhere seats models that only the owners of the seats call.
func (c *Council) seatElsewhere() {
	for i := range c.plan.Seats() {
		s := &c.plan.Seats()[i]
		c.models[s.Model] = elsewhere{llm.Info{Kind: s.Kind, Name: s.Model,
			Identity: "of nodes with the keys " + strings.Join(c.plan.Full().Runner.Keys, " ")}}
		c.seats = append(c.seats, seated{c.models[s.Model], nil, true})
	}
}

// elsewhere stands for a model that only the nodes of its seats can call.
type elsewhere struct{ info llm.Info }

// Info says that the model is behind nodes.
func (e elsewhere) Info() llm.Info { return e.info }

// Complete fails: nobody but a seat's node calls its model.
func (e elsewhere) Complete(context.Context, llm.Request) (synod.Reply, error) {
	return synod.Reply{}, &llm.Failure{Status: synod.Unavailable, Err: errors.New("the model is called by the node " +
		"of its seat")}
}

// typical is the assumed length of a first answer's call in tokens, by which prices per token become prices of calls.
// A model whose max_tokens is lower completes with no more than that.
var typical = synod.Usage{Prompt: 400, Completion: 150}

// freeShare is the price of a call that costs nothing, as a share of the cheapest one that does: free members come
// first, in the order of their weights.
const freeShare = 0.001

// priced returns the plan with the prices of its seats from the price table, where its protocol orders members by price
// and the council file gives none. The prices stand in the spec, so a journal and a resumed run have them without the
// table. Councils without a member that costs money are left as they are.
func (c *Council) priced(p *plan.Plan) (*plan.Plan, error) {
	if by, ok := p.Protocol().(protocol.Priced); !ok || !by.WantsPrices() {
		return p, nil
	}
	prices := c.relativePrices(p)
	if prices == nil {
		return p, nil
	}
	spec := *p.Full()
	spec.Protocol = maps.Clone(spec.Protocol)
	spec.Protocol["prices"] = prices
	return plan.New(spec)
}

// relativePrices returns what a typical call of each seat costs, the cheapest that costs money being 1. A model whose
// price is unknown is taken to cost as much as the dearest one. Nil: no seat has an endpoint as its model.
func (c *Council) relativePrices(p *plan.Plan) []float64 {
	usd := make([]float64, len(p.Seats())) // 0: free, NaN: unknown
	endpoints, cheapest, dearest := false, math.Inf(1), 0.0
	for i := range p.Seats() {
		name := p.Seats()[i].Model
		use := llm.Use{Model: name, Info: c.models[name].Info(), Calls: 1, Usage: typical}
		if most, err := strconv.Atoi(fmt.Sprint(p.Full().Models[name]["max_tokens"])); err == nil && most > 0 {
			use.Completion = min(use.Completion, most)
		}
		endpoints = endpoints || use.Info.Kind == llm.Endpoint
		money := c.prices.Bill([]llm.Use{use})
		switch usd[i] = money.AtLeast; {
		case len(money.Unknown) > 0:
			usd[i] = math.NaN()
		case usd[i] > 0:
			cheapest, dearest = min(cheapest, usd[i]), max(dearest, usd[i])
		}
	}
	switch {
	case !endpoints:
		return nil
	case dearest == 0: // no price is known: all count the same
		return slices.Repeat([]float64{1}, len(usd))
	}
	for i, x := range usd {
		switch {
		case math.IsNaN(x):
			x = dearest
		case x == 0:
			x = freeShare * cheapest
		}
		usd[i], _ = strconv.ParseFloat(strconv.FormatFloat(x/cheapest, 'g', 4, 64), 64)
	}
	return usd
}

// PriceError reports that a limit in money cannot be kept because prices are not known.
type PriceError struct{ Models []outcome.Unpriced }

// Error names the models, and the lines that a price file needs.
func (e *PriceError) Error() string {
	var names, lines []string
	for _, u := range e.Models {
		names = append(names, fmt.Sprintf("%s (%s at %s)", u.Model, u.Served, u.Server))
		lines = append(lines, "  "+u.Line())
	}
	return fmt.Sprintf("usd needs the price of every model, and this one is not known: %s; a price file sets it, in "+
		"USD for a million tokens:\n  prices:\n%s", strings.Join(names, ", "), strings.Join(lines, "\n"))
}

// checkPrices fails for a limit in money if the price of a model is not known.
func (c *Council) checkPrices(limits plan.Limits) error {
	if limits.USD == 0 {
		return nil
	}
	e := new(PriceError)
	seen := map[string]bool{}
	for _, name := range sortedKeys(c.models) {
		info := c.models[name].Info()
		if _, known := c.prices.Of(info); !known && !seen[info.Server+" "+info.Model] {
			seen[info.Server+" "+info.Model] = true
			e.Models = append(e.Models, outcome.Unpriced{Model: name, Server: info.Server, Served: info.Model})
		}
	}
	if len(e.Models) == 0 {
		return nil
	}
	return &plan.ConfigError{Section: "limits", Err: e}
}
