package ask

import (
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// suit fits form and protocol to one another. Where the form is guessed and the question wants prose, the council
// decides prose, by the default protocol for it if its own counts equal answers. Small models in the box write none
// that is worth reading, so for them it stays text, and so it does in a council that cannot decide prose. Where no
// protocol is named, prose that is asked for is decided by the default protocol too.
func (f *askFlags) suit(q *synod.Question, spec *plan.Spec, from plan.Origin) {
	chosen := plan.Chosen{F: from["f"] != "" && from["f"] != app.ModelsLayer && from["f"] != app.DefaultLayer}
	for key := range from {
		chosen.Protocol = chosen.Protocol || key == "protocol" || strings.HasPrefix(key, "protocol.")
	}
	fixed := spec.Runner.Capabilities().Roster
	guessed := f.form == "" && spec.Form == "" && q.Form != synod.JSON && q.Form != synod.Action
	if guessed && (f.claims || f.drop || spec.Claims) {
		q.Form, q.Options, q.Guessed, guessed = synod.Prose, nil, false, false
	}
	switch {
	case guessed && (fixed || inBox(spec)):
		prose := q.Form == synod.Prose && fixed && nodesDecideProse(spec)
		if council.Briefly(q); prose {
			q.Form = synod.Prose
		}
	case guessed && q.Form == synod.Prose:
		if other, ok := spec.ForProse(chosen.Protocol); ok {
			*spec = other
		} else {
			council.Briefly(q)
		}
	case q.Form == synod.Prose, q.Form == synod.JSON && mergesProse(q):
		spec.Suit(synod.Prose, chosen)
	}
	if f.drop {
		spec.Claims = true
		protocol := plan.Params{"drop-disputed": true}
		for k, v := range spec.Protocol {
			protocol[k] = v
		}
		spec.Protocol = protocol
	}
	if f.claims {
		spec.Claims = true
	}
}

// mergesProse reports whether a part of a JSON question is decided as prose.
func mergesProse(q *synod.Question) bool {
	s, err := read.Schema(q)
	return err == nil && s.Prose() != ""
}

// nodesDecideProse reports whether the council of a roster decides prose and has no form of its own. Another protocol
// cannot be chosen: its members have signed theirs.
func nodesDecideProse(spec *plan.Spec) bool {
	p, err := plan.New(*spec)
	if err != nil { // opening the council says why
		return false
	}
	of := p.Spec()
	return of.Form == "" && of.Suit(synod.Prose, plan.Chosen{Protocol: true, F: true})
}

// inBox reports whether all seats have embedded models.
func inBox(spec *plan.Spec) bool {
	for _, s := range spec.Seats {
		name, _ := spec.Models[s.Model]["provider"].(string)
		if p, err := llm.Providers.Find(name); err != nil || p.Kind != llm.Embedded {
			return false
		}
	}
	return len(spec.Seats) > 0
}

// shape gives a question the form of the flags or of the council file.
func (f *askFlags) shape(q *synod.Question, text string, spec *plan.Spec) error {
	x, err := council.ShapeOf(spec, council.Shaped{Form: f.form, Schema: f.schema, Tools: f.tools})
	if err != nil {
		return err
	}
	return x.Put(q, text)
}
