package terms

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/network/roster"
)

// Diff lists what differs between two rosters, one line each: "what: old → new", or "what: - old" and
// "what: + new" for a line of a text.
func Diff(a, b *roster.Roster) (lines []string) {
	add := func(what string, old, new any) {
		if x, y := fmt.Sprint(old), fmt.Sprint(new); x != y {
			lines = append(lines, fmt.Sprintf("%s: %s → %s", what, short(x), short(y)))
		}
	}
	add("name", a.Name, b.Name)
	add("serial", a.Serial, b.Serial)
	lines = append(lines, diffMembers(a, b)...)
	add("edges", a.Edges, b.Edges)
	add("f", a.F, b.F)
	add("r", fmt.Sprint(a.R, a.Exact), fmt.Sprint(b.R, b.Exact))
	add("guarantee", a.Guarantee, b.Guarantee)
	add("rule", fmt.Sprint(a.Rule.Name, a.Rule.Support), fmt.Sprint(b.Rule.Name, b.Rule.Support))
	add("what f bounds", a.Faults, b.Faults)
	add("draw", DescribeDraw(a), DescribeDraw(b))
	add("note", a.Note, b.Note)
	add("protocol", a.Protocol, b.Protocol)
	lines = append(lines, changed("parameters", strings.Split(a.Parameters, ","), strings.Split(b.Parameters, ","))...)
	lines = append(lines, changed("council file", strings.Split(a.Council, "\n"), strings.Split(b.Council, "\n"))...)
	add("think", ms(a.Think), ms(b.Think))
	add("within", ms(a.Within), ms(b.Within))
	for _, p := range a.Prompts {
		i := slices.IndexFunc(b.Prompts, func(q roster.Prompt) bool { return q.Name == p.Name })
		if i < 0 {
			lines = append(lines, fmt.Sprintf("prompt %s: removed", p.Name))
		} else {
			add("prompt "+p.Name, p.Digest, b.Prompts[i].Digest)
		}
	}
	for _, p := range b.Prompts {
		if !slices.ContainsFunc(a.Prompts, func(q roster.Prompt) bool { return q.Name == p.Name }) {
			lines = append(lines, fmt.Sprintf("prompt %s: added", p.Name))
		}
	}
	add("callers", callers(a), callers(b))
	add("links", a.Links, b.Links)
	add("relay", a.Relay, b.Relay)
	add("ledger", a.Ledger.Kind+" "+a.Ledger.Settings, b.Ledger.Kind+" "+b.Ledger.Settings)
	return lines
}

// changed lists the parts of a text that only the old or only the new one has.
func changed(what string, old, new []string) (lines []string) {
	clean := func(s string) string { return short(strings.Trim(s, " {}")) }
	for _, s := range old {
		if !slices.Contains(new, s) {
			lines = append(lines, fmt.Sprintf("%s: - %s", what, clean(s)))
		}
	}
	for _, s := range new {
		if !slices.Contains(old, s) {
			lines = append(lines, fmt.Sprintf("%s: + %s", what, clean(s)))
		}
	}
	if len(lines) == 0 && !slices.Equal(old, new) {
		lines = append(lines, what+": the same lines in another order or number")
	}
	return lines
}

func diffMembers(a, b *roster.Roster) (lines []string) {
	for _, m := range a.Members {
		i := slices.IndexFunc(b.Members, func(o roster.Member) bool { return o.ID == m.ID })
		if i < 0 {
			lines = append(lines, fmt.Sprintf("member %s: removed", m.ID))
			continue
		}
		o := b.Members[i]
		if !bytes.Equal(m.Key, o.Key) {
			lines = append(lines, fmt.Sprintf("member %s: key %x → %x", m.ID, m.Key, o.Key))
		}
		if !slices.Equal(m.Addresses, o.Addresses) {
			lines = append(lines, fmt.Sprintf("member %s: addresses %v → %v", m.ID, m.Addresses, o.Addresses))
		}
		counted := func(m *roster.Member) string { return fmt.Sprint(m.Voter, m.Kind, m.Adversary) }
		if x, y := counted(&m), counted(&o); x != y {
			lines = append(lines, fmt.Sprintf("member %s: voter, kind and adversary %s → %s", m.ID, x, y))
		}
		if m.Role != o.Role {
			lines = append(lines, fmt.Sprintf("member %s: role %q → %q", m.ID, m.Role, o.Role))
		}
	}
	for _, m := range b.Members {
		if !slices.ContainsFunc(a.Members, func(o roster.Member) bool { return o.ID == m.ID }) {
			lines = append(lines, fmt.Sprintf("member %s: added, with key %x", m.ID, m.Key))
		}
	}
	return lines
}

func callers(r *roster.Roster) string {
	var all []string
	for _, c := range r.Callers {
		all = append(all, c.Name+"="+hex.EncodeToString(c.Key))
	}
	return strings.Join(all, " ")
}

func ms(n uint64) string { return fmt.Sprintf("%dms", n) }

func short(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// Rules says in sentences what a member accepts with a roster.
func Rules(r *roster.Roster, seat synod.NodeID) (lines []string) {
	name := func(id synod.NodeID) string { return r.Members[id].ID }
	var hears []string
	for _, p := range r.Peers(seat) {
		hears = append(hears, name(p))
	}
	me := r.Members[seat]
	graph := fmt.Sprintf("%s hears %s, and they hear %s", me.ID, strings.Join(hears, ", "), me.ID)
	if r.Draw != nil {
		graph = "who is drawn for a run hears all others who are; " + DescribeDraw(r)
	}
	lines = append(lines,
		fmt.Sprintf("council: %s, serial %d", r.Name, r.Serial),
		fmt.Sprintf("seat: %s, one of %d%s", me.ID, len(r.Members), role(me.Role)),
		fmt.Sprintf("protocol: %s %s", r.Protocol, r.Parameters),
		"who hears whom: "+graph,
		"who calls a question: every member"+also(r),
		fmt.Sprintf("who sees prompts: your model's provider sees the question and what %s writes to it; neighbours "+
			"see "+
			"your answers; who called the question sees the record of your seat, with your model's reasoning", me.ID),
		fmt.Sprintf("time: a model call may take %s and a message %s; your clock must be within %s of the others'",
			ms(r.Think), ms(r.Within), ms(r.Within/4)),
		fmt.Sprintf("claimed bound: F = %d, r = %d (%s), guarantee %s: %s", r.F, r.R, exact(r.Exact), r.Guarantee,
			r.Note),
		"links: "+r.Links+relay(r.Relay), "ledger: "+ledgerRule(r, seat),
		"cost: your node makes the model calls of its seat and pays for them, up to the limits of synod node run")
	return lines
}

// ledgerRule says what the ledger means for a member.
func ledgerRule(r *roster.Roster, seat synod.NodeID) string {
	s, err := r.LedgerSettings()
	if err != nil || r.Ledger.Kind == roster.NoLedger {
		return r.Ledger.Kind
	}
	what := "hashes of questions, answers and records"
	if s.Bodies {
		what = "questions, answers and records as texts"
	}
	of := fmt.Sprintf(", of %d replicas", len(s.Replicas))
	if slices.Contains(s.Replicas, int(seat)) {
		of += ", one of which is your node; it connects with all others"
	}
	if s.Holders > 1 {
		of += fmt.Sprintf("; a run is in it when %d replicas have signed its question and answer", s.Holders)
	}
	return r.Ledger.Kind + of + "; it keeps " + what
}

func role(s string) string {
	if s == "" {
		return ""
	}
	return ", as " + s
}

func also(r *roster.Roster) string {
	var names []string
	for _, c := range r.Callers {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return " and " + strings.Join(names, ", ")
}

func exact(yes bool) string {
	if yes {
		return "exact"
	}
	return "a lower bound"
}

func relay(yes bool) string {
	if yes {
		return ", with relays"
	}
	return ""
}
