package plan

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/reliability"
	"synod.dev/synod/council/trust"
	"synod.dev/synod/protocol/cascade"
)

// TrustSpec says where a council's knowledge of its members' reliability is.
type Trust struct {
	File  string   `yaml:"file,omitempty" json:"file,omitempty" doc:"the trust file from which protocol cascade takes the weights of members; default: that of the user (synod trust show); absent: all weigh the same" example:"default"`
	Learn bool     `yaml:"learn,omitempty" json:"learn,omitempty" doc:"add the first answers of finished questions to the trust file; of protocol cascade, those of audits"`
	Audit *float64 `yaml:"audit,omitempty" json:"audit,omitempty" doc:"with learn, in protocol cascade: the share of the questions, drawn in secret, that ask every member" range:"0:1" default:"0.1" example:"0.1"`
}

// usualAudit is the share of audited questions of a council that learns.
const usualAudit = 0.1

// OwnTrust is the name of the user's trust file in a council file. Who makes a plan replaces it by a path.
const OwnTrust = "default"

// loadTrust replaces the trust file by the weights that it gives the seats, so that records of the run have them
// and name no file.
func (p *Plan) loadTrust(from source) error {
	file := p.spec.Trust.File
	if p.spec.Trust.Learn && file == "" {
		return fmt.Errorf("learn needs a file (example: trust: {file: default, learn: true})")
	}
	learn, audit := p.spec.Trust.Learn, p.spec.Trust.Audit
	if audit != nil && !(*audit >= 0 && *audit <= 1) {
		return fmt.Errorf("audit is %v; it must be between 0 and 1 (example: audit: 0.1)", *audit)
	}
	p.spec.Trust = Trust{}
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
	weights, together := p.Learned(h.Observations())
	p.spec.Protocol = maps.Clone(p.spec.Protocol)
	if learn {
		if err := p.audits(audit); err != nil {
			return err
		}
	}
	if p.spec.Protocol["weights"] == nil && len(weights) > 0 {
		p.spec.Protocol["weights"] = weights
	}
	if p.spec.Protocol["together"] == nil && len(together) > 0 {
		p.spec.Protocol["together"] = together
	}
	return nil
}

// Learned returns what answers say about the seats: their weights before the cap by kind of question, and the pairs of
// seats that err together. A kind with too few questions has no weights.
func (p *Plan) Learned(all []reliability.Observation) (weights map[string][]float64, together [][2]synod.NodeID) {
	names := p.TrustNames()
	weights = map[string][]float64{}
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
	return weights, together
}

// Learns reports whether a council changes what its members' answers weigh by what they have answered before.
func (s *Spec) Learns() bool { return s.Trust.Learn && s.Protocol["name"] == cascade.Entry.Name }

// audits has the protocol ask every member of some questions. Their seed is drawn here, and stands in the plan, so a
// journal is replayed with the same audits.
func (p *Plan) audits(share *float64) error {
	if p.spec.Protocol["audit"] == nil {
		p.spec.Protocol["audit"] = usualAudit
		if share != nil {
			p.spec.Protocol["audit"] = *share
		}
	}
	if p.spec.Protocol["secret"] != nil {
		return nil
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return fmt.Errorf("the seed of audits: %w", err)
	}
	p.spec.Protocol["secret"] = binary.BigEndian.Uint64(seed[:]) >> 11 // exact in any JSON reader
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
func (p *Plan) TrustNames() []string {
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
