// Package terms connects rosters with plans: it makes the roster of a council that its members are
// to agree on, and the plan that every node and every caller makes of a roster.
//
// The package has rank 7, like package node: it needs council.
package terms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
)

// Options is what a roster says beyond the council file.
type Options struct {
	Members  map[string]roster.Member // by seat id: key and addresses; other fields are not read
	Callers  []roster.Caller
	Links    string // "": roster.TLS
	Relay    bool
	Previous *roster.Roster // nil: it is the first one
	Draw     *roster.Draw   // nil: all members take part in every run
}

// New returns the roster of a plan. It fails if a member is missing, or if the plan needs somebody
// who sees all members.
func New(p *plan.Plan, o Options) (*roster.Roster, error) {
	r, err := Draft(p, o)
	if err != nil {
		return nil, err
	}
	if err := addMembers(r, p, o.Members); err != nil {
		return nil, err
	}
	return r, r.Validate()
}

// Draft is New for a council that does not have its members yet. Rules shows what they would accept.
func Draft(p *plan.Plan, o Options) (*roster.Roster, error) {
	if err := playable(p); err != nil {
		return nil, err
	}
	spec, bound, pace := p.Spec(), p.Bound(), p.Pace()
	var text string
	if err := json.Unmarshal(p.Record(), &text); err != nil {
		return nil, fmt.Errorf("the council file cannot be recorded: %w", err)
	}
	parameters, err := json.Marshal(p.Protocol())
	if err != nil {
		return nil, fmt.Errorf("the protocol's parameters cannot be recorded: %w", err)
	}
	r := &roster.Roster{
		Format: roster.Format, Name: spec.Council, F: uint64(spec.F), R: uint64(max(bound.R, 0)), Exact: bound.Exact,
		Guarantee: bound.Guarantee, Note: bound.Note, Protocol: protocolName(spec), Parameters: string(parameters),
		Council: text, Think: uint64(pace.Think), Within: uint64(pace.Within), Edges: edges(p),
		Links: o.Links, Relay: o.Relay, Ledger: ledgerOf(p), Callers: o.Callers,
		Rule: roster.Rule{Name: p.Rule().Name, Support: uint64(p.Rule().Support)}, Faults: plan.FaultModel(p),
	}
	if r.Links == "" {
		r.Links = roster.TLS
	}
	order.Sort(r.Callers, func(a, b roster.Caller) int { return strings.Compare(a.Name, b.Name) })
	r.Prompts = prompts(p.Meanings())
	if o.Previous != nil {
		hash := o.Previous.Hash()
		r.Serial, r.Previous = o.Previous.Serial+1, hash[:]
	}
	for _, s := range p.Seats() {
		r.Members = append(r.Members, roster.Member{ID: s.ID, Role: string(s.Role), Voter: !s.NonVoting,
			Kind: string(s.Kind), Adversary: s.Adversary})
	}
	return r, addDraw(r, o.Draw)
}

// prompts returns digests of prompt templates in the order of a roster.
func prompts(digests map[string]string) (all []roster.Prompt) {
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		all = append(all, roster.Prompt{Name: name, Digest: digests[name]})
	}
	return all
}

// bindsWording reports whether a roster has digests of the wording of prompts, as those of earlier versions had, and
// not of their meaning.
func bindsWording(r *roster.Roster) bool {
	return slices.ContainsFunc(r.Prompts, func(p roster.Prompt) bool { return !prompt.IsMeaning(p.Digest) })
}

// ledgerOf returns what the roster says of the ledger of the council file.
func ledgerOf(p *plan.Plan) roster.Ledger {
	l := p.Spec().Ledger
	if l.Name == "" {
		return roster.Ledger{Kind: roster.NoLedger}
	}
	settings := roster.LedgerSettings{Bodies: l.Bodies, Replicas: []int{}}
	for _, id := range plan.Replicas(p) {
		settings.Replicas = append(settings.Replicas, int(id))
	}
	if l.Replicated() {
		g := ledger.Replicas{Keys: make([][]byte, len(settings.Replicas))}
		settings.Holders = min(max(g.Faulty(), p.Spec().F)+1, len(settings.Replicas))
	}
	return roster.Ledger{Kind: l.Name, Settings: settings.Encode()}
}

// Group returns the replicas that keep the ledger of a roster by consensus; nil if its kind has none.
func Group(r *roster.Roster) (*ledger.Replicas, error) {
	if l := (plan.Ledger{Name: r.Ledger.Kind}); !l.Replicated() {
		return nil, nil
	}
	s, err := r.LedgerSettings()
	if err != nil {
		return nil, err
	}
	g := &ledger.Replicas{Name: r.Name, Least: s.Holders}
	for _, seat := range s.Replicas {
		g.Keys = append(g.Keys, r.Members[seat].Key)
		if s.Holders > 0 {
			g.Names = append(g.Names, r.Members[seat].ID)
		}
	}
	return g, nil
}

func protocolName(s plan.Spec) string {
	name, _ := s.Protocol["name"].(string)
	return name
}

func addMembers(r *roster.Roster, p *plan.Plan, members map[string]roster.Member) error {
	var missing, ids []string
	for i, s := range p.Seats() {
		m, ok := members[s.ID]
		if !ok {
			missing = append(missing, s.ID)
		}
		ids = append(ids, s.ID)
		r.Members[i].Key, r.Members[i].Addresses = m.Key, m.Addresses
	}
	if len(missing) > 0 {
		return fmt.Errorf("these seats of the council file have no member: %s (example: --member %s=KEY@HOST:PORT)",
			strings.Join(missing, ", "), missing[0])
	}
	for _, id := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("the council file has no seat %q%s", id, synod.Hint(id, ids))
		}
	}
	return nil
}

// edges returns the plan's edges in the order of a roster.
func edges(p *plan.Plan) (all [][]uint64) {
	for i := range p.Seats() {
		for _, j := range p.Peers(synod.NodeID(i)) {
			if int(j) > i {
				all = append(all, []uint64{uint64(i), uint64(j)})
			}
		}
	}
	return all
}

// playable refuses keys of the council file that need an observer of all members, which a council of
// nodes does not have.
func playable(p *plan.Plan) error {
	spec := p.Spec()
	faults, breakers := spec.Faults, spec.Breakers
	faults.Partitions, faults.Crashes = nil, nil
	graph := p.Graph()
	switch {
	case graph.Changes():
		return errors.New("graph: it changes from round to round (schedule, failing), which is simulated; a roster " +
			"has one graph for all rounds, so name one family, edges or file")
	case spec.Prompts != "":
		return errors.New("prompts: nodes use the protocol's own prompts, whose meaning is in the roster; " +
			"remove the key")
	case spec.Patience.Spare != nil && *spec.Patience.Spare > 0:
		return errors.New("patience: nobody sees the calls of all members of a council of nodes; remove the key and " +
			"set pace: think instead")
	case spec.Same == plan.SameMembers:
		return errors.New("same: a roster does not say whether members join answers; remove the key")
	case len(spec.Faults.Partitions)+len(spec.Faults.Crashes) > 0 || faults.Loss > 0 || faults.Delay.Max > 0:
		return errors.New("faults: they are simulated, and nodes have a real network; remove the key")
	}
	if b, err := json.Marshal(breakers); err != nil || !bytes.Equal(b, none) {
		return errors.New("breakers: nobody sees the opinions of all members of a council of nodes; remove the key")
	}
	return nil
}

var none, _ = json.Marshal(plan.Breakers{})

// Plan returns the plan of a roster. It fails if the roster's council file does not say what the
// roster says: members sign both, and an outsider reads only the roster.
func Plan(r *roster.Roster) (*plan.Plan, error) {
	if r.Format != roster.Format {
		return nil, fmt.Errorf("the roster has the format %s, which does not say who votes; make its successor with "+
			"synod roster new --previous FILE", r.Format)
	}
	spec, err := plan.ParseRecord([]byte(r.Council))
	if err != nil {
		return nil, fmt.Errorf("the roster's council: %w", err)
	}
	p, err := plan.New(spec)
	if err != nil {
		return nil, fmt.Errorf("the roster's council: %w", err)
	}
	o := Options{Members: map[string]roster.Member{}, Callers: slices.Clone(r.Callers), Links: r.Links, Relay: r.Relay,
		Draw: r.Draw}
	for _, m := range r.Members {
		o.Members[m.ID] = m
	}
	want, err := New(p, o)
	if err != nil {
		return nil, fmt.Errorf("the roster's council: %w", err)
	}
	want.Serial, want.Previous = r.Serial, r.Previous
	want.R, want.Exact, want.Guarantee, want.Note = r.R, r.Exact, r.Guarantee, r.Note // see CheckClaim
	if bindsWording(r) {
		want.Prompts = prompts(p.TemplateDigests())
	}
	if diff := Diff(want, r); len(diff) > 0 {
		return nil, fmt.Errorf("the roster contradicts its council file, or the prompts of this version of Synod mean "+
			"something else than those that the members have signed: %s", diff[0])
	}
	return p, nil
}

// CheckClaim fails unless the graph earns the claim of the roster. It may take two seconds.
func CheckClaim(p *plan.Plan, r *roster.Roster) error {
	if r.Draw != nil {
		if guarantee, _ := drawnGuarantee(r); guarantee != r.Guarantee {
			return fmt.Errorf("the roster claims %q, and a committee has %q", r.Guarantee, guarantee)
		}
		return nil
	}
	b := p.Bound()
	if b.Guarantee != r.Guarantee || r.Exact && b.Exact && uint64(b.R) != r.R {
		return fmt.Errorf("the roster claims %q with r = %d, and the graph has %q with r = %d", r.Guarantee, r.R,
			b.Guarantee, b.R)
	}
	return nil
}
