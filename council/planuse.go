package council

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
	"synod.dev/synod/core/sign"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
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

// Seats returns the seats in order. Identity, Server and Served are empty: no model
// is open.
func (p *Plan) Seats() []Seat { return slices.Clone(p.seats) }

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
	return p.machine(own, q, p.protocol.Join), nil
}

// machine is Machine with join in place of the protocol's Join.
func (p *Plan) machine(own sign.Identity, q *synod.Question, join func(synod.Seat) synod.Machine) synod.Machine {
	return p.join(p.seat(own, q), join)
}

// seat returns what a seat may know.
func (p *Plan) seat(own sign.Identity, q *synod.Question) synod.Seat {
	id := own.Seat
	seat := synod.Seat{
		Self: id, Role: p.seats[id].Role, Cast: p.roles, Peers: p.peers[id], F: p.spec.F,
		Question: q, Seed: own.Seed, Pace: p.pace, Run: string(own.Run), Salt: own.Salt,
	}
	if p.byRound != nil {
		seat.ByRound = p.byRound[id]
	}
	if p.signs() {
		seat.Signer = own.Signer
	}
	p.guarded(&seat)
	return seat
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

// checkText reports why a text cannot be a question; nil if it can.
func checkText(text string) error {
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
	if q.Form == synod.Prose && !p.decidesProse() {
		return fmt.Errorf("protocol %s counts equal answers, and no two texts are equal: decide prose with protocol: "+
			"%s", p.entry.Name, strings.Join(proseProtocols(), " or "))
	}
	if err := cmp.Or(checkText(q.Text), q.Check()); err != nil {
		return err
	}
	_, game := p.protocol.(protocol.Ending)
	switch {
	case p.joinsTexts() && q.Form != synod.Text:
		return formOfSame(q.Form)
	case game && q.Form.Long():
		return fmt.Errorf("protocol %s is a game of numbers, and this question has the form %s", p.entry.Name, q.Form)
	case q.Form == synod.JSON:
		return p.acceptsJSON(q)
	case q.Form == synod.Choice && len(q.Options) < 2:
		return errors.New("a choice question needs at least two options, such as lines that begin with A) and B)")
	}
	return nil
}

// decidesProse reports whether the protocol chooses among long texts.
func (p *Plan) decidesProse() bool { return decidesProse(p.protocol) }

func decidesProse(p protocol.Protocol) bool {
	if f, ok := p.(protocol.Formal); ok {
		return slices.Contains(f.Forms(), synod.Prose)
	}
	s, ok := p.(protocol.Selecting)
	return ok && s.SelectsProse()
}

// DecidesProse reports whether a protocol can choose among long texts.
func DecidesProse(name string) bool {
	e, err := catalog.Protocols.Find(name)
	return err == nil && decidesProse(e.New())
}

// proseProtocols lists the protocols that decide prose, the default first.
func proseProtocols() (names []string) {
	for _, e := range catalog.Protocols.All() {
		switch {
		case e.Default == synod.Prose:
			names = slices.Insert(names, 0, e.Name)
		case decidesProse(e.New()):
			names = append(names, e.Name)
		}
	}
	return names
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
