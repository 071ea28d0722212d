package outcome

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// Problem says in a sentence why an outcome is no decision.
func (o *Outcome) Problem() string {
	switch {
	case o.Stopped == Interrupted, o.Stopped == PastTime, o.Stopped == OverBudget, o.Stopped == Unwritten:
		return o.Reason
	case o.Stopped == Tripped && o.Trip != nil:
		return fmt.Sprintf("stopped by the breaker %s after round %d: %s", o.Trip.Breaker, o.Trip.Round, o.Trip.Detail)
	case o.Status == Degraded && o.Stopped != Preflight:
		return "too few members answered: " + o.Reason
	case o.Status == Undecided:
		return "no consensus: " + o.Reason
	}
	return o.Reason
}

// Lacking returns why a member has no answer at the end.
func (m *Member) Lacking() string {
	calls := 0
	for _, s := range synod.Statuses() {
		calls += m.Calls.Of(s)
	}
	switch {
	case m.Trouble != "":
		return m.Trouble
	case m.First != nil:
		return "it gave an answer first, but has none at the end"
	case m.Unreadable != nil && m.Unreadable.Failed != nil:
		return "it answered: " + m.Unreadable.Help
	case m.Calls.Of(synod.OK)+m.Calls.Of(synod.Unreadable) > 0: // the protocol moves calls that it cannot read
		return "it answered, and none of its answers could be read"
	case calls > 0:
		return "none of its calls was answered"
	}
	return "it was not asked"
}

// Remedy is what can be done about the failures of members.
type Remedy struct {
	For  []string // the models that failed; for Words and Owner the ids of members
	Text string   // for people; "" with Owner
	// Words says that replies could not be read. It is the first of the members, with the end of what it wrote; nil: it
	// is another failure.
	Words *Member
	Owner bool // the members are nodes, and their owners can find out what has failed
}

// Remedies returns what can be done about the failures of members, each remedy once.
func (o *Outcome) Remedies() (all []Remedy) {
	for i := range o.Members {
		name, r := o.remedy(&o.Members[i])
		if name == "" {
			continue
		}
		at := slices.IndexFunc(all, func(x Remedy) bool { return x.Text == r.Text })
		if at < 0 {
			at, all = len(all), append(all, r)
		}
		if !slices.Contains(all[at].For, name) {
			all[at].For = append(all[at].For, name)
		}
	}
	return all
}

// remedy is what can be done about the failures of one member, and for whom; "" if nothing failed or helps.
func (o *Outcome) remedy(m *Member) (name string, r Remedy) {
	switch u := m.Unreadable; {
	case u != nil && m.Calls.Of(synod.Unreadable) > 0:
		return m.ID, Remedy{Text: u.Help, Words: m}
	case m.Calls.Of(synod.OK) > 0:
		return "", r
	case o.nodes && m.Trouble != "":
		return m.ID, Remedy{Owner: true}
	}
	for _, s := range synod.Statuses() {
		if m.Calls.Of(s) == 0 || s == synod.OK {
			continue
		}
		of := llm.Settings{Name: m.Model, Keys: o.Given[m.Model]}
		if text := llm.Advice(s, of, o.serverOf(m.Model), m.Trouble); text != "" {
			return m.Model, Remedy{Text: text}
		}
	}
	return "", r
}

// serverOf returns the server of a model; "" if it is not known.
func (o *Outcome) serverOf(model string) string {
	i := slices.IndexFunc(o.Models, func(r ModelResult) bool { return r.Model == model })
	if i < 0 {
		return ""
	}
	return o.Models[i].Server
}
