package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
)

// Spec returns the spec with defaults filled in, paths absolute, a graph file
// replaced by its edges, and without the addresses that breakers escalate to and the
// queries of URLs: it is recorded, and these may contain a key. The
// maps in it must not be changed.
func (p *Plan) Spec() Spec {
	spec := p.spec
	spec.Breakers.Escalate = Escalate{}
	spec.Models = withoutQueries(spec.Models)
	return spec
}

// Digest identifies the plan: SHA-256 of spec and prompt templates, in hexadecimal.
// Members of one run must have the same.
func (p *Plan) Digest() string { return p.digest }

// Record returns the spec as the head of a journal keeps it; see SpecOf.
func (p *Plan) Record() json.RawMessage { return p.record }

// Full returns the spec with all that Spec leaves out. It must not be changed.
func (p *Plan) Full() *Spec { return &p.spec }

// Seats returns the seats in order. Identity, Server and Served are empty: no model
// is open. The slice must not be changed.
func (p *Plan) Seats() []Seat { return p.seats }

// Entry returns the protocol's entry in the catalogue.
func (p *Plan) Entry() *protocol.Entry { return &p.entry }

// Roles returns the role of each seat; nil if the protocol has no roles. The slice must not be changed.
func (p *Plan) Roles() []synod.Role { return p.roles }

// Voters returns how many seats vote.
func (p *Plan) Voters() int { return p.voters }

// VoterIDs returns the ids of the seats that vote, in order. The slice must not be changed.
func (p *Plan) VoterIDs() []string { return p.voterIDs }

// VoicesOf returns the number of each seat's voice; nil: each seat is one. The slice must not be changed.
func (p *Plan) VoicesOf() []int { return p.voices }

// Models lists the models with their seats, in the order of their first seats. The slice must not be changed.
func (p *Plan) Models() []ModelSeats { return p.models }

// Guards returns the guards of the seats.
func (p *Plan) Guards() synod.Guards { return p.guards }

// Commits reports whether members commit to their first answers before they tell them.
func (p *Plan) Commits() bool { return p.commits }

// Committee returns the keys of the nodes that play the seats; nil: the seats are played in one process.
func (p *Plan) Committee() sign.Committee { return p.committee }

// Patience returns when a run stops waiting for its slowest calls.
func (p *Plan) Patience() Waiting { return p.patience }

// Settles reports whether a run may end before its last round because nothing can change any more.
func (p *Plan) Settles() bool { return p.settles }

// Faults returns the faults of a simulated network.
func (p *Plan) Faults() sim.Faults { return p.faults }

// Protocol returns the protocol with its parameters. It must not be changed.
func (p *Plan) Protocol() protocol.Protocol { return p.protocol }

// Traits returns what the members of its protocol do; nil if the protocol does not say.
func (p *Plan) Traits() []synod.Trait { return p.entry.Traits }

// Graph returns the graph of the seats, of all edges that occur and of each round. It must not be
// changed.
func (p *Plan) Graph() dynamic.Graph { return p.graph }

// Rule returns the rule by which final answers become a decision.
func (p *Plan) Rule() Rule { return p.spec.Rule }

// Templates returns the prompt templates.
func (p *Plan) Templates() *prompt.Templates { return p.templates }

// TemplateDigests returns a digest of each prompt template, by name. The map must
// not be changed.
func (p *Plan) TemplateDigests() map[string]string { return p.digests }

// Meanings returns a digest of what each prompt template means, by name: what the votes of members are about, whatever
// the wording (prompt.Templates.Meanings).
func (p *Plan) Meanings() map[string]string { return p.templates.Meanings() }

// DigestsFor returns a digest of each prompt template with which a question is asked, by name. For prose, and where a
// form was guessed, other templates stand in for some of the protocol's own.
func (p *Plan) DigestsFor(q *synod.Question) map[string]string {
	all := prompt.ProseDigests(q)
	if len(all) == 0 {
		return p.digests
	}
	maps.Copy(all, p.digests)
	return all
}

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
	return Join(p, SeatOf(p, own, q), p.protocol.Join), nil
}

// SeatOf returns what a seat may know.
func SeatOf(p *Plan, own sign.Identity, q *synod.Question) synod.Seat {
	id := own.Seat
	seat := synod.Seat{
		Self: id, Role: p.seats[id].Role, Cast: p.roles, Peers: p.peers[id], F: p.spec.F,
		Question: q, Seed: own.Seed, Pace: p.pace, Run: string(own.Run), Salt: own.Salt,
	}
	if p.byRound != nil {
		seat.ByRound = p.byRound[id]
	}
	if p.Signs() {
		seat.Signer = own.Signer
	}
	guardSeat(p, &seat)
	return seat
}

// CheckText reports why a text cannot be a question; nil if it can.
func CheckText(text string) error {
	switch {
	case text == "":
		return errors.New("the question is empty")
	case len(text) > synod.MaxConversation:
		return fmt.Errorf("the question has %d bytes; at most %d (%d KB) are accepted: shorten it", len(text),
			synod.MaxConversation, synod.MaxConversation>>10)
	case !utf8.ValidString(text):
		return errors.New("the question is not UTF-8 text; convert it, for example with: iconv -f latin1 -t utf-8")
	}
	return nil
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
	if q.Form == synod.Prose && !playsProse(p) {
		return fmt.Errorf("protocol %s counts equal answers, and no two texts are equal: decide prose with protocol: "+
			"%s", p.entry.Name, strings.Join(proseProtocols(), " or "))
	}
	if err := cmp.Or(CheckText(q.Text), q.Check()); err != nil {
		return err
	}
	if err := cmp.Or(acceptsChecks(p, q), suits(p, q)); err != nil {
		return err
	}
	_, game := p.protocol.(protocol.Ending)
	switch {
	case JoinsTexts(p) && q.Form != synod.Text:
		return formOfSame(q.Form)
	case game && q.Form.Long():
		return fmt.Errorf("protocol %s is a game of numbers, and this question has the form %s", p.entry.Name, q.Form)
	case q.Form == synod.JSON:
		return acceptsJSON(p, q)
	case q.Form == synod.Choice && len(q.Options) < 2:
		return errors.New("a choice question needs at least two options, such as lines that begin with A) and B)")
	}
	return nil
}

// suits reports why an adversary has nothing to send for a question.
func suits(p *Plan, q *synod.Question) error {
	for i, a := range p.adversaries {
		if s, ok := a.(adversary.Suited); ok {
			if err := s.Suits(q); err != nil {
				return fmt.Errorf("seat %s: %w", p.seats[i].ID, err)
			}
		}
	}
	return nil
}

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

// Linked returns the adversary at the links of a seat that is a node; nil if there is none.
func Linked(p *Plan, seat synod.NodeID) *adversary.Linked {
	a, _ := p.adversaries[seat].(*adversary.Linked)
	return a
}

// Adversary reports whether the experimenter has put an adversary at a seat.
func (p *Plan) Adversary(seat synod.NodeID) bool { return p.adversaries[seat] != nil }

// Peers returns the seats that a seat hears, ascending. The slice must not be changed.
func (p *Plan) Peers(seat synod.NodeID) []synod.NodeID { return p.peers[seat] }

// Pace returns the longest times of model calls and messages.
func (p *Plan) Pace() synod.Pace { return p.pace }
