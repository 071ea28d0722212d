// Package plan says what a council is: its Spec, which is a council file, and its Plan, which is everything that
// follows
// from the spec alone: seats, graph, protocol, prompts, rule, the claim and the planned cost.
//
//	spec, err := plan.Load("council.yaml")
//	p, err := plan.New(spec)
//	fmt.Println(p.Bound().Note)
//
// New reads the files that the spec names: a graph file, a folder of prompts, a roster, a trust file. After that
// nothing is read: a Plan does not change, opens no model and may be used by many goroutines.
package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/param"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
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
	graph       dynamic.Graph
	peers       [][]synod.NodeID
	byRound     [][][]synod.NodeID // neighbours by seat and round, where the graph changes; else nil
	entry       protocol.Entry
	protocol    protocol.Protocol
	roles       []synod.Role // by seat; nil: the protocol has no roles
	faults      sim.Faults
	pace        synod.Pace
	patience    Waiting
	templates   *prompt.Templates
	digests     map[string]string // of the templates, by name
	voters      int
	voices      []int        // by seat: the number of its voice; nil: each seat is one
	ofSeats     bool         // each seat counts as a voice, though some have one model
	voterIDs    []string     // of the seats that vote, in order; must not be changed
	models      []ModelSeats // in the order of their first seats
	calls       int
	settles     bool // a run may end early
	guards      synod.Guards
	commits     bool     // members commit to their first answers
	hops        int      // with commits: the greatest distance between two seats
	defencesOn  []string // names; must not be changed
	bound       func() Bound
	harm        func() *Harm
	committee   sign.Committee // of the nodes that play the seats; nil: they are played in this process
}

// NewPlan makes the plan of a spec. It reads the files that the spec names (a graph
// file, a folder of prompts) and nothing else. A mistake in the spec is a
// *ConfigError. Plans are cached by the content of the spec and of those files, so
// a second call is cheap.
func New(spec Spec) (*Plan, error) { return newPlan(spec, toRun) }

// PlanOf returns the plan of the run in a journal. It does not need the folder of
// prompts that the run used: a replay renders nothing.
func Of(run *journal.Run) (*Plan, error) {
	spec, err := SpecOf(run)
	if err != nil {
		return nil, err
	}
	return newPlan(spec, fromRecord)
}

// ReadPlan is NewPlan for runs that are read and not asked anything: it does not need
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

// source says what a plan is made for, and so which files it reads.
type source int

const (
	toRun      source = iota // the spec's folder of prompts must be there
	fromFile                 // a council file is checked: the folder may be missing
	fromRecord               // a record of a run is read: the folder is not looked at
)

func newPlan(spec Spec, from source) (*Plan, error) {
	p := &Plan{spec: spec}
	if err := p.steps([]step{
		{"council", p.absolute}, {"form", p.spec.checkShape},
		{"runner", func() error { return p.setRunner(from) }}, {"seats", p.expandSeats},
		{"runner", p.checkKeys}, {"graph", p.loadGraph},
		{"defences", func() error { return p.switchDefences(from) }},
		{"trust", func() error { return p.loadTrust(from) }}, {"protocol", p.configure},
		{"prompts", func() error { return p.loadTemplates(from) }},
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
		{"voices", p.setVoices},
		{"adversaries", p.corrupt}, {"adversaries", p.collude}, {"seats", p.stateFooling},
		{"graph", p.checkAllToAll},
		{"same", p.checkSame},
		{"f", p.checkBound}, {"rule", p.checkRule}, {"pace", p.setPace}, {"patience", p.setPatience},
		{"hedge", p.checkHedge}, {"reread", p.checkReread}, {"ledger", p.checkLedger}, {"faults", p.setFaults},
		{"breakers", func() error { return p.spec.Breakers.Validate() }}, {"limits", p.checkLimits},
		{"models", p.checkModels},
	}); err != nil {
		return nil, err
	}
	if err := p.encode(); err != nil {
		return nil, err
	}
	p.groupSeats()
	p.setCommit()
	p.defencesOn = p.findDefences()
	p.calls, p.settles = p.protocol.Calls(p.degrees())+p.firstAnswers(), p.mayEndEarly()
	p.bound, p.harm = sync.OnceValue(p.findBound), p.measureHarm()
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

// Error names the line and the key with its path, such as limits.deadline.
func (e *ConfigError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, inSection(e.Section, e.Err.Error()))
	}
	return inSection(e.Section, e.Err.Error())
}

// firstKey matches a message that begins with a key and its value: "rounds is -1; it must be…", "ability: "x" is not…".
var firstKey = regexp.MustCompile(
	`^([a-z_]+)(\[[0-9]+\])?(\.[a-z_.]+)?(: ("|a list |a group )| is ("[^"]*"|[^ ;,]+)[;,])`)

// inSection puts a section before a message that is about it, so that a key has its path.
func inSection(section, message string) string {
	message = strings.TrimPrefix(message, section+": ")
	if section == "protocol" || section == "faults" || section == "graph" {
		name, rest, _ := strings.Cut(message, ": ")
		one := !strings.Contains(name, " ") || section == "graph"
		if one && firstKey.MatchString(rest) { // "sac: rounds is -1", "er on 3 nodes: p is 2"
			message = rest
		}
	}
	key := firstKey.FindStringSubmatch(message)
	switch {
	case section == "", strings.HasPrefix(message, section+"."), key != nil && key[1] == section:
		return message
	case key != nil && key[1] != "it" && key[1] != "this":
		return section + "." + message
	}
	return section + ": " + message
}

func (e *ConfigError) Unwrap() error { return e.Err }

// absolute makes the paths in the spec absolute, because a run may be resumed in
// another folder. The caller's maps are left alone.
func (p *Plan) absolute() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &p.spec
	s.Graph, s.Models = maps.Clone(s.Graph), maps.Clone(s.Models)
	if list, ok := s.Graph["schedule"]; ok {
		s.Graph["schedule"] = cloneSchedule(list)
	}
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
			s.Kind, s.Fooling = provider.Kind, llm.Fooling(settings, false)
		}
	}
	return nil
}

// protocol returns the catalogue's entry of the protocol, and its parameters.
func (s *Spec) protocol() (e protocol.Entry, params Params, err error) {
	name, params, err := s.Protocol.split()
	if err == nil {
		e, err = catalog.Protocols.Find(name)
	}
	return e, params, err
}

// configure finds the protocol and decodes its parameters.
func (p *Plan) configure() error {
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
	if err := p.setSame(); err != nil {
		return &ConfigError{Section: "same", Err: err}
	}
	if err := param.Decode(rest, p.protocol); err != nil {
		return err
	}
	if err := p.protocol.Validate(); err != nil {
		return err
	}
	return p.entry.CheckTraits(p.protocol)
}

// loadTemplates reads the protocol's prompt templates. In a plan that is run, a folder
// of prompts that is missing or holds no template is an error, because the protocol's
// own templates are not what the spec asks for.
func (p *Plan) loadTemplates(from source) (err error) {
	folder, own := p.promptsFolder(), p.entry.Prompts
	if j, ok := p.protocol.(protocol.Joining); ok && p.JoinsTexts() {
		own = j.JoinPrompts
	}
	if folder == "" || from == fromRecord {
		p.templates, err = prompt.NewTemplates(p.entry.Name, own())
	} else {
		p.templates, err = prompt.NewTemplates(p.entry.Name, own(), os.DirFS(folder))
	}
	if err != nil {
		return err
	}
	p.digests = p.templates.Digests()
	if folder == "" || from != toRun {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err == nil && !slices.ContainsFunc(entries,
		func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".tmpl" }) {
		err = fmt.Errorf("%s holds no .tmpl file and no folder %s with such files; the protocol's templates are: %s",
			folder, p.entry.Name, strings.Join(p.templates.Names(), ", "))
	}
	return err
}

// promptsFolder returns the folder of prompts: in a folder with prompts of several protocols, that which has the name
// of the protocol.
func (p *Plan) promptsFolder() string {
	folder := p.spec.Prompts
	if folder == "" {
		return ""
	}
	own := filepath.Join(folder, p.entry.Name)
	if info, err := os.Stat(own); err == nil && info.IsDir() {
		return own
	}
	return folder
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
	if h, ok := a.(adversary.Hostile); ok && err == nil && h.At() == adversary.AtFile {
		return nil, fmt.Errorf("adversary %s is a model file and cannot be seated; see: synod explain %s", name, name)
	}
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
			when, p.Names(parts[len(parts)-1]))
	}
	if err := p.checkChanges(); err != nil {
		return err
	}
	p.peers = neighbours(p.graph.Graph)
	if p.graph.Changes() {
		p.setRounds()
	}
	if p.spec.F < 0 || p.spec.F > n {
		return &ConfigError{Section: "f", Err: fmt.Errorf("f is %d; it must be between 0 and the number of seats, %d",
			p.spec.F, n)}
	}
	return nil
}

// neighbours returns the neighbours of each node.
func neighbours(g graph.Graph) [][]synod.NodeID {
	peers := make([][]synod.NodeID, g.N())
	for i := range peers {
		for _, j := range g.In(i) {
			peers[i] = append(peers[i], synod.NodeID(j))
		}
	}
	return peers
}

// fillRule names the default rule: the protocol's own where its members reply to a
// user or are asked in stages, else majority.
func (p *Plan) fillRule() error {
	rule := Majority
	_, replies := p.protocol.(protocol.Accepting)
	if _, staged := p.protocol.(protocol.Staged); staged || replies {
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
	respondents, _ := p.protocol.(protocol.Respondents)
	for i := range p.seats {
		id, s := synod.NodeID(i), &p.seats[i]
		if s.NonVoting = !e.Votes(id, p.cast()); s.NonVoting {
			p.voters--
		}
		s.Unasked = s.NonVoting
		if respondents != nil {
			s.Unasked = !respondents.Asks(id, p.cast())
		}
	}
	if p.voters == 0 {
		return fmt.Errorf("in protocol %s with these parameters no seat has a vote", p.entry.Name)
	}
	return nil
}

// modelSeats is the seats of one model.
type ModelSeats struct {
	Name  string
	Seats []int // ascending
}

// groupSeats lists the seats that vote and those of each model.
func (p *Plan) groupSeats() {
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

// cast returns the role of every seat, "" in a protocol without roles.
func (p *Plan) cast() []synod.Role {
	if p.roles == nil {
		return make([]synod.Role, len(p.seats))
	}
	return p.roles
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
