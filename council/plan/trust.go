package plan

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/trust"
)

// loadTrust replaces the trust file by the weights and odds that it gives the seats, so that records of the run have
// them and name no file.
func loadTrust(p *Plan, from source) error {
	file := p.spec.Trust.File
	if p.spec.Trust.Learn && file == "" {
		return fmt.Errorf("learn needs a file (example: trust: {file: default, learn: true})")
	}
	learn, audit, labels := p.spec.Trust.Learn, p.spec.Trust.Audit, p.spec.Trust.Labels
	if audit != nil && !(*audit >= 0 && *audit <= 1) {
		return fmt.Errorf("audit is %v; it must be between 0 and 1 (example: audit: 0.1)", *audit)
	}
	p.spec.Trust = Trust{}
	if file == "" && len(labels) == 0 || from != toRun || !p.spec.weighs() {
		return nil
	}
	if file == "" {
		p.spec.Protocol = maps.Clone(p.spec.Protocol)
		setOdds(p, nil, labels)
		return nil
	}
	if file == OwnTrust {
		return fmt.Errorf("file is %q, which only the command line knows; give a path", file)
	}
	h, err := trust.Load(file)
	if err != nil {
		return err
	}
	weights, together := Learned(p, h.Observations())
	p.spec.Protocol = maps.Clone(p.spec.Protocol)
	if learn {
		if err := setAudits(p, audit); err != nil {
			return err
		}
	}
	if p.spec.Protocol["weights"] == nil && len(weights) > 0 {
		p.spec.Protocol["weights"] = weights
	}
	if p.spec.Protocol["together"] == nil && len(together) > 0 {
		p.spec.Protocol["together"] = together
	}
	setOdds(p, h.Observations(), labels)
	return nil
}

// Learned returns what answers say about the seats: their weights before the cap by kind of question, and the pairs of
// seats that err together. A kind with too few questions has no weights.
func Learned(p *Plan, all []reliability.Observation) (weights map[string][]float64, together [][2]synod.NodeID) {
	names := TrustNames(p)
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
func (s *Spec) Learns() bool { return s.Trust.Learn && s.weighs() }

// weighs reports whether the protocol learns the weights of members from earlier questions.
func (s *Spec) weighs() bool {
	e, _, err := s.protocol()
	return err == nil && slices.Contains(e.Traits, synod.Learns)
}

// setAudits has the protocol ask every member of some questions. Their seed is drawn here, and stands in the plan, so a
// journal is replayed with the same audits.
func setAudits(p *Plan, share *float64) error {
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

// TrustNames returns the names of the seats in a trust file: the model that a provider is asked for, else the name
// in the council file; the second seat of a model has "#2" behind it, and so on.
func TrustNames(p *Plan) []string {
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
