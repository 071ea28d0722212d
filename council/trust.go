package council

import (
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/cascade"
	"synod.dev/synod/reliability"
	"synod.dev/synod/trust"
)

// TrustSpec says where a council's knowledge of its members' reliability is.
type TrustSpec struct {
	File  string `yaml:"file,omitempty" json:"file,omitempty" doc:"the trust file from which protocol cascade takes the weights of members; default: that of the user (synod trust show); absent: all weigh the same" example:"default"`
	Learn bool   `yaml:"learn,omitempty" json:"learn,omitempty" doc:"add the first answers of finished questions to the trust file"`
}

// OwnTrust is the name of the user's trust file in a council file. Who makes a plan replaces it by a path.
const OwnTrust = "default"

// loadTrust replaces the trust file by the weights that it gives the seats, so that records of the run have them
// and name no file.
func (p *Plan) loadTrust(from source) error {
	file := p.spec.Trust.File
	if p.spec.Trust.Learn && file == "" {
		return fmt.Errorf("learn needs a file (example: trust: {file: default, learn: true})")
	}
	p.spec.Trust = TrustSpec{}
	if file == "" || from != toRun || p.spec.Protocol["name"] != cascade.Entry.Name {
		return nil
	}
	if file == OwnTrust {
		return fmt.Errorf("file is %q, which only the command line knows; give a path", file)
	}
	h, err := trust.Load(file)
	if err != nil {
		return err
	}
	names := p.trustNames()
	weights, together := map[string][]float64{}, [][2]synod.NodeID{}
	all := h.Observations()
	for _, kind := range reliability.Kinds(all) {
		e := reliability.Estimate(ofMembers(all, names), kind, p.spec.F)
		if e == nil {
			continue
		}
		weights[kind] = e.Weights(names)
		for _, pair := range e.Pairs {
			a, b := slices.Index(names, pair.A), slices.Index(names, pair.B)
			if two := [2]synod.NodeID{synod.NodeID(a), synod.NodeID(b)}; pair.Together &&
				!slices.Contains(together, two) {
				together = append(together, two)
			}
		}
	}
	p.spec.Protocol = maps.Clone(p.spec.Protocol)
	if p.spec.Protocol["weights"] == nil && len(weights) > 0 {
		p.spec.Protocol["weights"] = weights
	}
	if p.spec.Protocol["together"] == nil && len(together) > 0 {
		p.spec.Protocol["together"] = together
	}
	return nil
}

// ofMembers leaves out the answers of others than the members of a council.
func ofMembers(all []reliability.Observation, names []string) []reliability.Observation {
	return slices.DeleteFunc(slices.Clone(all), func(o reliability.Observation) bool {
		return !slices.Contains(names, o.Member)
	})
}

// trustNames returns the names of the seats in a trust file: the model that a provider is asked for, else the name
// in the council file; the second seat of a model has "#2" behind it, and so on.
func (p *Plan) trustNames() []string {
	names, seen := make([]string, len(p.seats)), map[string]int{}
	for i := range p.seats {
		name := p.seats[i].Model
		if model, ok := p.spec.Models[name]["model"].(string); ok && model != "" {
			name = model
		}
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		names[i] = name
	}
	return names
}

// QuestionKey is the name of a question in a trust file.
func QuestionKey(q *synod.Question) string { return trust.Hash(q.ID + "\x00" + q.Text) }

// Observations returns the independent first answers of an outcome for a trust file. A member that was not asked, or
// whose calls failed, is left out. label grades an answer; nil: no key is known.
func (p *Plan) Observations(q *synod.Question, o *Outcome,
	label func(synod.Answer) reliability.Label) (all []reliability.Observation) {
	names := p.trustNames()
	for i := range o.Members {
		m := &o.Members[i]
		one := reliability.Observation{Question: QuestionKey(q), Kind: string(q.Form), Member: names[i]}
		switch {
		case m.First != nil:
			one.Answer = trust.Hash(string(*m.First))
			if label != nil {
				one.Label = label(*m.First)
			}
		case m.Calls[statusUnreadable] == 0:
			continue
		}
		all = append(all, one)
	}
	return all
}
