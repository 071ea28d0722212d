package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
)

// maxCapped is the longest reasoning, in bytes, that counts as capped (defence rationale).
const maxCapped = 1000

// linked says what the switch of a defence does to the key that means the same.
type linked struct {
	on, off any            // the values that it sets; nil: it sets none, because the default of the key is that
	is      func(any) bool // whether a value of the key is the defence
}

// linkedTo returns what the switch of a defence does to its key, for a bound F.
func linkedTo(name string, f int) linked {
	switch name {
	case "one-answer":
		return linked{"one", "all", func(v any) bool { return v == "one" }}
	case "rationale":
		return linked{nil, 4000, func(v any) bool { return number(v) <= maxCapped }}
	case "support":
		return linked{f + 1, 0, func(v any) bool { return number(v) > float64(f) }}
	case "strict-trim":
		return linked{true, false, func(v any) bool { return v == true }}
	default: // co-error
		return linked{nil, []any{}, func(v any) bool { list, ok := v.([]any); return !ok || len(list) > 0 }}
	}
}

// number returns a number of a YAML or JSON value, or 0.
func number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// switchDefences checks the switches of the spec, sets the keys that some of them stand for, and completes those of
// guards.
func switchDefences(p *Plan, from source) error {
	s := &p.spec
	if err := s.Defences.Check(); err != nil {
		return err
	}
	entry, _, err := s.protocol()
	if err != nil {
		return &ConfigError{Section: "protocol", Err: err}
	}
	for _, e := range defence.Catalogue.All() {
		value, given := s.Defences[e.Name]
		switch {
		case !given:
		case !e.Where.Admits(entry.Traits):
			if value == defence.On {
				return &HelpError{fmt.Errorf("%s is on, and in protocol %s it does nothing", e.Name, entry.Name),
					HelpExplain, e.Name}
			}
		case e.Key != "":
			if err := s.link(e, value); err != nil {
				return err
			}
		}
	}
	p.spec.Defences = s.Defences.Complete(entry.Traits, given(s, from))
	if len(p.spec.Defences) == 0 {
		p.spec.Defences = nil
	}
	p.guards = p.spec.Defences.Guards()
	return nil
}

// Switched returns the spec with the switches of all defences that do something in its protocol and have no other
// key, for people; those of keys stay as they are given.
func (s Spec) Switched() Spec {
	entry, _, err := s.protocol()
	if err != nil {
		return s
	}
	all := s.Defences.Complete(entry.Traits, given(&s, toRun))
	maps.Copy(all, s.Defences)
	s.Defences = all
	return s
}

// given says from where switches come that the spec does not name.
func given(s *Spec, from source) defence.Given {
	switch {
	case s.Exact != "":
		return defence.Paper
	case from == fromRecord && s.Defences == nil:
		return defence.Record
	case from == fromRecord:
		return defence.Listed
	}
	return defence.Usual
}

// link sets the key of a defence, or fails if the file gives the key a value that says the opposite.
func (s *Spec) link(e defence.Entry, value string) error {
	to, on := linkedTo(e.Name, s.F), value == defence.On
	if e.Key == "rule.support" {
		if s.Rule.Support > 0 && to.is(s.Rule.Support) != on {
			return contradicts(e, value, s.Rule.Support)
		}
		if s.Rule.Support == 0 && on {
			s.Rule.Support = s.F + 1
		}
		return nil
	}
	key := e.Key[len("protocol."):]
	if set, has := s.Protocol[key]; has {
		if to.is(set) != on {
			return contradicts(e, value, set)
		}
		return nil
	}
	wanted := to.off
	if on {
		wanted = to.on
	}
	if wanted != nil {
		s.Protocol = maps.Clone(s.Protocol)
		s.Protocol[key] = wanted
	}
	return nil
}

func contradicts(e defence.Entry, value string, set any) error {
	return fmt.Errorf("%s is %q, and %s is %v, which says the opposite; remove one of them", e.Name, value, e.Key, set)
}

// Defence is a defence and whether a council has it.
type Defence struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

// Defences returns all defences that do something in the protocol of the plan.
func Defences(p *Plan) (all []Defence) {
	params := parametersOf(p)
	for _, e := range defence.Catalogue.All() {
		if !e.Where.Admits(p.entry.Traits) {
			continue
		}
		on := p.spec.Defences[e.Name] == defence.On
		switch {
		case e.Key == "rule.support":
			on = linkedTo(e.Name, p.spec.F).is(p.spec.Rule.Support)
		case e.Key != "":
			v := params[e.Key[len("protocol."):]]
			if list, ok := v.([]any); e.Name == "co-error" {
				on = ok && len(list) > 0
			} else {
				on = linkedTo(e.Name, p.spec.F).is(v)
			}
		}
		all = append(all, Defence{e.Name, on})
	}
	return all
}

// parametersOf returns the parameters of the protocol by their keys.
func parametersOf(p *Plan) map[string]any {
	params := map[string]any{}
	if text, err := json.Marshal(p.protocol); err == nil {
		_ = json.Unmarshal(text, &params) // without it the keys are absent
	}
	return params
}

// DefencesOn returns the names of the defences that the council has; not nil. The slice must not be changed.
func (p *Plan) DefencesOn() []string { return p.defencesOn }

func findDefences(p *Plan) []string {
	on := []string{}
	for _, d := range Defences(p) {
		if d.On {
			on = append(on, d.Name)
		}
	}
	return on
}

// firstAnswers returns how many model calls the guard AnswerFirst adds: one of each seat that otherwise answers
// nothing.
func firstAnswers(p *Plan) (n int) {
	if !p.guards.AnswerFirst {
		return 0
	}
	for i := range p.seats {
		if p.seats[i].Unasked {
			n++
		}
	}
	return n
}

// guardSeat gives a seat the guards of the plan, and the ids of all seats where members are named.
func guardSeat(p *Plan, seat *synod.Seat) {
	if seat.Guards = p.guards; p.guards.Named {
		seat.Names = idsOf(p)
	}
}

// Toggle returns the keys of a council file that turn a defence of the plan off if it is on, and on if it is off, and
// whether it is on. It fails for a defence that does nothing in the protocol or that cannot be turned on.
func Toggle(p *Plan, name string) (overlay map[string]any, on bool, err error) {
	e, err := defence.Catalogue.Find(name)
	if err != nil {
		return nil, false, &HelpError{Err: err, Help: HelpDefences}
	}
	if !e.Where.Admits(p.entry.Traits) {
		return nil, false, &HelpError{fmt.Errorf("%s does nothing in protocol %s", name, p.entry.Name),
			HelpExplain, name}
	}
	on = slices.Contains(p.defencesOn, name)
	value := defence.On
	if on {
		value = defence.Off
	}
	overlay = map[string]any{"defences": map[string]any{name: value}}
	if e.Key == "" {
		return overlay, on, nil
	}
	to := linkedTo(name, p.spec.F)
	wanted := to.on
	switch {
	case on:
		wanted = to.off
	case name == "co-error":
		return nil, on, errors.New("co-error is off because no pair of members is known to err together: give a " +
			"trust file (trust.file) or list pairs (protocol.together)")
	case name == "rationale":
		wanted = maxCapped
	}
	section, key, _ := strings.Cut(e.Key, ".")
	overlay[section] = map[string]any{key: wanted}
	return overlay, on, nil
}
