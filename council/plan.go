package council

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/journal"
	"synod.dev/synod/llm"
	"synod.dev/synod/param"
	"synod.dev/synod/prompt"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/sign"
	"synod.dev/synod/sim"
)

// Plan is everything about a council that follows from its Spec alone: seats,
// graph, protocol, roles, prompt templates, rule, the claim and the planned cost.
// No model is open. A Plan does not change and may be used by many goroutines.
type Plan struct {
	spec        Spec // with a graph file replaced by its edges, and the rule and pace filled in
	record      json.RawMessage
	digest      string
	runKey      []byte // what every resumed run of the plan has in common, hashed
	seats       []Seat
	adversaries []adversary.Adversary // by seat; nil: honest
	graph       topology.Built
	peers       [][]synod.NodeID
	entry       protocol.Entry
	protocol    protocol.Protocol
	roles       []synod.Role // by seat; nil: the protocol has no roles
	faults      sim.Faults
	pace        synod.Pace
	templates   *prompt.Templates
	digests     map[string]string // of the templates, by name
	voters      int
	calls       int
	bound       func() Bound
}

// NewPlan makes the plan of a spec. It reads the files that the spec names (a graph
// file, a folder of prompts) and nothing else. A mistake in the spec is a
// *ConfigError. Plans are cached by the content of the spec and of those files, so
// a second call is cheap.
func NewPlan(spec Spec) (*Plan, error) { return newPlan(spec, true) }

// PlanOf returns the plan of the run in a journal. It does not need the folder of
// prompts that the run used: a replay renders nothing.
func PlanOf(run *journal.Run) (*Plan, error) {
	spec, err := SpecOf(run)
	if err != nil {
		return nil, err
	}
	return newPlan(spec, false)
}

// ReadPlan is NewPlan for runs that are read and not asked anything: it does not need
// the spec's folder of prompts.
func ReadPlan(spec Spec) (*Plan, error) { return newPlan(spec, false) }

// SpecOf returns the spec in the head of a journal, which is the text of a council
// file, encoded as a JSON string.
func SpecOf(run *journal.Run) (Spec, error) {
	var text string
	if err := json.Unmarshal(run.Head.Spec, &text); err != nil {
		return Spec{}, fmt.Errorf("the journal's council cannot be read: %w", err)
	}
	spec, err := Parse([]byte(text))
	if err != nil {
		return Spec{}, fmt.Errorf("the journal's council: %w", err)
	}
	return spec, nil
}

func newPlan(spec Spec, prompts bool) (*Plan, error) {
	p := &Plan{spec: spec}
	if err := p.steps([]step{
		{"council", p.absolute}, {"seats", p.expandSeats}, {"graph", p.loadGraph}, {"protocol", p.configure},
		{"prompts", func() error { return p.loadTemplates(prompts) }},
	}); err != nil {
		return nil, err
	}
	key, err := p.key()
	if err != nil {
		return nil, err
	}
	if known, ok := plans.get(key); ok {
		return known, nil
	}
	if err := p.steps([]step{
		{"seats", p.placeAdversaries}, {"graph", p.buildGraph}, {"rule", p.fillRule}, {"seats", p.assignRoles},
		{"graph", p.checkAllToAll},
		{"f", p.checkBound}, {"rule", p.checkRule}, {"pace", p.setPace}, {"patience", p.checkPatience},
		{"hedge", p.checkHedge}, {"faults", p.setFaults},
		{"breakers", func() error { return p.spec.Breakers.Validate() }}, {"limits", p.checkLimits},
		{"models", p.checkModels},
	}); err != nil {
		return nil, err
	}
	if err := p.encode(); err != nil {
		return nil, err
	}
	degrees := make([]int, len(p.peers))
	for i := range p.peers {
		degrees[i] = len(p.peers[i])
	}
	p.calls = p.protocol.Calls(degrees)
	p.bound = sync.OnceValue(p.findBound)
	plans.put(key, p)
	return p, nil
}

// step is one part of making a plan, and the section of the council file that it
// reads.
type step struct {
	section string
	do      func() error
}

func (p *Plan) steps(steps []step) error {
	for _, s := range steps {
		if err := s.do(); err != nil {
			var named *ConfigError
			if errors.As(err, &named) {
				return named
			}
			return &ConfigError{Section: s.section, Err: err}
		}
	}
	return nil
}

// ConfigError is a mistake in a council file.
type ConfigError struct {
	Section string // the key that it is under
	Line    int    // 0: unknown
	Err     error
}

// Error names the line, or else the section.
func (e *ConfigError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Section, e.Err)
}

func (e *ConfigError) Unwrap() error { return e.Err }

// cache keeps the last few results by key.
type cache[V any] struct {
	mu    sync.Mutex
	known map[string]V
	order []string // oldest first
	room  int
}

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.known[key]
	return v, ok
}

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[string]V{}
	}
	if _, ok := c.known[key]; !ok {
		if len(c.order) == c.room {
			delete(c.known, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.known[key] = v
}

// The caches of this process. A grid of the bench has a few hundred plans and a few
// dozen graphs.
var (
	plans  = cache[*Plan]{room: 256}
	robust = cache[func() robustness.Result]{room: 256}
)

// key identifies the content of the spec and of the files that it names.
func (p *Plan) key() (string, error) {
	content, err := json.Marshal(struct {
		Spec
		Templates map[string]string
	}{p.spec, p.digests})
	if err != nil {
		return "", fmt.Errorf("council: encode the spec: %w", err)
	}
	sum := sha256.Sum256(content)
	return string(sum[:]), nil
}

// absolute makes the paths in the spec absolute, because a run may be resumed in
// another folder. The caller's maps are left alone.
func (p *Plan) absolute() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &p.spec
	s.Graph, s.Models = maps.Clone(s.Graph), maps.Clone(s.Models)
	for name, m := range s.Models {
		s.Models[name] = maps.Clone(m)
	}
	s.resolve(dir)
	return nil
}

func (p *Plan) expandSeats() (err error) {
	if p.seats, _, err = p.spec.expand(); err != nil {
		return err
	}
	for i := range p.seats {
		s := &p.seats[i]
		settings, known := p.spec.Models[s.Model]
		if !known {
			return fmt.Errorf("seat %s: no model is called %q%s", s.ID, s.Model,
				synod.Hint(s.Model, sortedKeys(p.spec.Models)))
		}
		name, _ := settings["provider"].(string)
		if provider, err := llm.Providers.Find(name); err == nil { // checkModels reports the error
			s.Kind = provider.Kind
		}
	}
	return nil
}

// configure finds the protocol and decodes its parameters.
func (p *Plan) configure() error {
	name, rest, err := p.spec.Protocol.split()
	if err != nil {
		return err
	}
	if p.entry, err = catalog.Protocols.Find(name); err != nil {
		return err
	}
	p.protocol = p.entry.New()
	switch p.spec.Exact {
	case "":
	case "paper":
		p.protocol.Paper()
	default:
		return &ConfigError{Section: "exact", Err: fmt.Errorf("exact is %q; it must be empty or paper", p.spec.Exact)}
	}
	if err := param.Decode(rest, p.protocol); err != nil {
		return err
	}
	return p.protocol.Validate()
}

// loadTemplates reads the protocol's prompt templates. With needed, a folder of
// prompts that is missing or holds no template is an error, because the protocol's
// own templates are not what the spec asks for.
func (p *Plan) loadTemplates(needed bool) (err error) {
	folder := p.spec.Prompts
	if folder == "" {
		p.templates, err = prompt.NewTemplates(p.entry.Name, p.entry.Prompts())
	} else {
		p.templates, err = prompt.NewTemplates(p.entry.Name, p.entry.Prompts(), os.DirFS(folder))
	}
	if err != nil {
		return err
	}
	p.digests = p.templates.Digests()
	if folder == "" || !needed {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err == nil && !slices.ContainsFunc(entries,
		func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".tmpl" }) {
		err = fmt.Errorf("%s holds no .tmpl file; the protocol's templates are: %s", folder,
			strings.Join(p.templates.Names(), ", "))
	}
	return err
}

// placeAdversaries makes the adversaries that the experimenter has put at seats.
func (p *Plan) placeAdversaries() error {
	_, specs, err := p.spec.expand()
	if err != nil {
		return err
	}
	p.adversaries = make([]adversary.Adversary, len(p.seats))
	for i, s := range specs {
		if p.adversaries[i], err = p.adversary(s); err != nil {
			return fmt.Errorf("seat %s: %w", p.seats[i].ID, err)
		}
	}
	return nil
}

func (p *Plan) adversary(params Params) (adversary.Adversary, error) {
	if len(params) == 0 {
		return nil, nil
	}
	name, rest, err := params.split()
	if err != nil {
		return nil, err
	}
	entry, err := adversary.Catalogue.Find(name)
	if err != nil {
		return nil, err
	}
	a, err := entry.New(rest)
	if n, ok := a.(adversary.Naming); ok && err == nil {
		a, err = n.Found(p.find)
	}
	if err != nil {
		return nil, fmt.Errorf("adversary %s: %w", name, err)
	}
	return a, nil
}

// find returns the seat with this id, or else the seat at this place, from 0.
func (p *Plan) find(name string) (synod.NodeID, error) {
	ids := p.ids()
	if i := slices.Index(ids, name); i >= 0 {
		return synod.NodeID(i), nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(ids) {
		return synod.NodeID(i), nil
	}
	return 0, fmt.Errorf("no seat is called %q%s", name, synod.Hint(name, ids))
}

func (p *Plan) buildGraph() (err error) {
	n := len(p.seats)
	if p.graph, err = topology.FromSpec(p.spec.Graph, n, 0); err != nil {
		return err
	}
	if parts := p.graph.Components(); len(parts) > 1 {
		return fmt.Errorf("the graph is not connected: %s can never hear the others; add an edge between the parts",
			p.names(parts[len(parts)-1]))
	}
	if p.graph.Directed() {
		return errors.New("the graph is directed; a council needs undirected edges")
	}
	p.peers = make([][]synod.NodeID, n)
	for i := range n {
		for _, j := range p.graph.In(i) {
			p.peers[i] = append(p.peers[i], synod.NodeID(j))
		}
	}
	if p.spec.F < 0 || p.spec.F > n {
		return &ConfigError{Section: "f", Err: fmt.Errorf("f is %d; it must be between 0 and the number of seats, %d",
			p.spec.F, n)}
	}
	return nil
}

// fillRule names the default rule: the protocol's own where its members reply to a
// user, else majority.
func (p *Plan) fillRule() error {
	rule := Majority
	if _, replies := p.protocol.(protocol.Accepting); replies {
		rule = ByProtocol
	}
	p.spec.Rule.Name = cmp.Or(p.spec.Rule.Name, rule)
	return nil
}

// assignRoles checks the seats' roles and finds the seats that vote.
func (p *Plan) assignRoles() error {
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
	for i := range p.seats {
		if p.seats[i].NonVoting = !e.Votes(synod.NodeID(i), p.cast()); p.seats[i].NonVoting {
			p.voters--
		}
	}
	if p.voters == 0 {
		return fmt.Errorf("in protocol %s with these parameters no seat has a vote", p.entry.Name)
	}
	return nil
}

// cast returns the role of every seat, "" in a protocol without roles.
func (p *Plan) cast() []synod.Role {
	if p.roles == nil {
		return make([]synod.Role, len(p.seats))
	}
	return p.roles
}

// checkAllToAll refuses a graph that is not complete where the protocol needs one.
func (p *Plan) checkAllToAll() error {
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
func (p *Plan) checkBound() error {
	if s, ok := p.protocol.(protocol.CastChecker); ok {
		return s.CheckCast(p.cast(), p.spec.F)
	}
	return nil
}

func (p *Plan) checkRule() error {
	_, concludes := p.protocol.(protocol.Concluding)
	_, replies := p.protocol.(protocol.Accepting)
	if p.spec.Rule.Name == ByProtocol && !concludes && !replies {
		return fmt.Errorf("rule: protocol %s has no decision step of its own; use plurality, majority or supermajority",
			p.entry.Name)
	}
	return p.spec.Rule.Validate(p.independent())
}

// independent counts the seats that give an answer of their own in round 0.
func (p *Plan) independent() (n int) {
	a, ok := p.protocol.(protocol.Answering)
	if !ok {
		return p.voters
	}
	for i := range p.seats {
		if a.Answers(synod.NodeID(i), p.roles) {
			n++
		}
	}
	return n
}

func (p *Plan) setPace() error {
	p.spec.Pace = p.spec.Pace.or(defaultThink, defaultWithin)
	p.pace = synod.Pace{Think: synod.Tick(p.spec.Pace.Think / time.Millisecond),
		Within: synod.Tick(p.spec.Pace.Within / time.Millisecond)}
	return p.spec.Pace.validate()
}

func (p *Plan) checkPatience() error {
	if err := p.spec.Patience.validate(p.spec.F, p.spec.Exact); err != nil {
		return err
	}
	if p.spec.Patience.Spare > 0 {
		p.spec.Patience.After = cmp.Or(p.spec.Patience.After, 2)
	}
	return nil
}

func (p *Plan) checkHedge() error {
	switch _, err := p.spec.hedge(); {
	case err != nil:
		return err
	case p.spec.Hedge != "" && p.spec.Exact != "":
		return fmt.Errorf("hedge is %s; exact: %s makes no second requests, so it must be absent", p.spec.Hedge,
			p.spec.Exact)
	}
	return nil
}

// hedge returns when a call is sent a second time.
func (s *Spec) hedge() (h llm.Hedge, err error) { return h, h.UnmarshalText([]byte(s.Hedge)) }

func (p *Plan) setFaults() (err error) {
	p.faults, err = p.spec.Faults.ticks(len(p.seats))
	return err
}

func (p *Plan) checkLimits() error {
	l := p.spec.Limits
	if l.Calls < 0 || l.Tokens < 0 || l.USD < 0 || l.Deadline < 0 {
		return errors.New("calls, tokens, usd and deadline must be 0 or more; 0 is no limit")
	}
	return nil
}

// checkModels reads every model's settings without opening it.
func (p *Plan) checkModels() error {
	for _, name := range sortedKeys(p.spec.Models) {
		provider, decode := settingsOf(p.spec.Models[name])
		err := errors.New("it names no provider")
		if provider != "" {
			err = llm.Check(provider, decode)
		}
		if err != nil {
			return &ConfigError{Section: "models." + name, Err: err}
		}
	}
	return nil
}

// encode makes the record of the spec that a journal keeps: the text of a council
// file, as a JSON string. It leaves out where to escalate to, because that may hold
// a secret, and because a journal from elsewhere must not start a program.
func (p *Plan) encode() error {
	text, err := yaml.Marshal(p.Spec())
	if err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	if p.record, err = json.Marshal(string(text)); err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	sum := sha256.New()
	sum.Write(p.record)
	for _, name := range sortedKeys(p.digests) {
		fmt.Fprintf(sum, "\n%s %s", name, p.digests[name])
	}
	p.digest = hex.EncodeToString(sum.Sum(nil))
	fixed := p.Spec()
	fixed.Limits, fixed.Breakers = Limits{}, Breakers{} // a resumed run may have others
	content, err := json.Marshal(fixed)
	if err != nil {
		return fmt.Errorf("council: encode the spec: %w", err)
	}
	own := sha256.Sum256(content)
	p.runKey = own[:]
	return nil
}

// Spec returns the spec with defaults filled in, paths absolute, a graph file
// replaced by its edges, and without the addresses that breakers escalate to. The
// maps in it must not be changed.
func (p *Plan) Spec() Spec {
	spec := p.spec
	spec.Breakers.Escalate = Escalate{}
	return spec
}

// Digest identifies the plan: SHA-256 of spec and prompt templates, in hexadecimal.
// Members of one run must have the same.
func (p *Plan) Digest() string { return p.digest }

// Record returns the spec as the head of a journal keeps it; see SpecOf.
func (p *Plan) Record() json.RawMessage { return p.record }

// Seats returns the seats in order. Identity, Server and Served are empty: no model
// is open.
func (p *Plan) Seats() []Seat { return slices.Clone(p.seats) }

// Protocol returns the protocol with its parameters. It must not be changed.
func (p *Plan) Protocol() protocol.Protocol { return p.protocol }

// Rule returns the rule by which final answers become a decision.
func (p *Plan) Rule() Rule { return p.spec.Rule }

// Templates returns the prompt templates.
func (p *Plan) Templates() *prompt.Templates { return p.templates }

// TemplateDigests returns a digest of each prompt template, by name. The map must
// not be changed.
func (p *Plan) TemplateDigests() map[string]string { return p.digests }

// Calls returns how many model calls a question takes at most, retries and hedges
// aside.
func (p *Plan) Calls() int { return p.calls }

// Machine builds the seat of an identity for a question: an honest machine, inside its
// adversary where the experimenter has put one. It opens no model. Everything that the
// seat knows beside the plan is in its identity. An identity of a seat that does not
// exist is an error.
func (p *Plan) Machine(own sign.Identity, q *synod.Question) (synod.Machine, error) {
	if own.Seat < 0 || int(own.Seat) >= len(p.seats) {
		return nil, fmt.Errorf("council: there is no seat %d; the council has %d seats", own.Seat, len(p.seats))
	}
	return p.machine(own, q, p.protocol.Join), nil
}

// machine is Machine with join in place of the protocol's Join.
func (p *Plan) machine(own sign.Identity, q *synod.Question, join func(synod.Seat) synod.Machine) synod.Machine {
	id := own.Seat
	seat := synod.Seat{
		Self: id, Role: p.seats[id].Role, Cast: p.roles, Peers: p.peers[id], F: p.spec.F,
		Question: q, Seed: own.Seed, Pace: p.pace,
	}
	if p.signs() {
		seat.Signer = own.Signer
	}
	if a := p.adversaries[id]; a != nil {
		return adversary.Seat(a, seat, join)
	}
	return join(seat)
}

// signs reports whether the seats sign their messages.
func (p *Plan) signs() bool {
	s, ok := p.protocol.(protocol.Signing)
	return ok && s.Signs()
}

// ids returns the seats' ids in order.
func (p *Plan) ids() []string {
	ids := make([]string, len(p.seats))
	for i, s := range p.seats {
		ids[i] = s.ID
	}
	return ids
}

// names returns the ids of some seats.
func (p *Plan) names(seats []int) []string {
	ids := make([]string, len(seats))
	for i, n := range seats {
		ids[i] = p.seats[n].ID
	}
	return ids
}

// Accepts reports why a question cannot be put to the council; nil if it can.
func (p *Plan) Accepts(q *synod.Question) error {
	if f, ok := p.protocol.(protocol.Formal); ok && !slices.Contains(f.Forms(), q.Form) {
		forms := make([]string, len(f.Forms()))
		for i, form := range f.Forms() {
			forms[i] = string(form)
		}
		return fmt.Errorf("protocol %s decides answers of the form %s only, and this question has the form %s",
			p.entry.Name, strings.Join(forms, " or "), q.Form)
	}
	switch {
	case q.Text == "":
		return errors.New("the question is empty")
	case len(q.Text) > maxQuestion:
		return fmt.Errorf("the question has %d bytes; at most %d are accepted", len(q.Text), maxQuestion)
	case q.Form == synod.Choice && len(q.Options) < 2:
		return errors.New("a choice question needs at least two options, such as lines that begin with A) and B)")
	}
	return nil
}

// maxQuestion is the largest text of a question in bytes.
const maxQuestion = 256 << 10

// TemplateChanges describes in which prompt templates two sets of digests differ,
// one line each; none if either is nil.
func TemplateChanges(before, now map[string]string) (changes []string) {
	if before == nil || now == nil {
		return nil
	}
	for _, name := range sortedKeys(before) {
		switch now[name] {
		case before[name]:
		case "":
			changes = append(changes, fmt.Sprintf("prompt %s: no longer exists", name))
		default:
			changes = append(changes, fmt.Sprintf("prompt %s: its text was changed (%s before, %s now)", name,
				before[name], now[name]))
		}
	}
	for _, name := range sortedKeys(now) {
		if before[name] == "" {
			changes = append(changes, fmt.Sprintf("prompt %s: is new", name))
		}
	}
	return changes
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
