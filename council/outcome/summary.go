package outcome

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Summary says in one to three sentences by how many of how many the answer was decided, who did not answer, and what
// the number hides. It has no symbol and no word of the papers.
func (o *Outcome) Summary() string {
	if len(o.Members) == 0 {
		return ""
	}
	e := electorsOf(o)
	text := undecidedBy(o, e)
	if o.Answered() {
		text = agreed(o, e)
	}
	if missing := e.missing(); missing != "" {
		text += "; " + missing
	}
	sentences := []string{asSentence(text)}
	for _, s := range append(o.EndedBy(), e.caveats(o)...) {
		sentences = append(sentences, asSentence(s))
	}
	return strings.Join(sentences, " ")
}

// agreed says what an answer rests on.
func agreed(o *Outcome, e electors) string {
	p := o.Presented
	switch {
	case len(o.Fields) > 0:
		return decidedFields(o, e)
	case p != nil && p.Head != "":
		return p.Head
	case e.count == 1:
		return "one " + e.kind + "model answered; nothing was compared"
	}
	for _, v := range o.Votes {
		if v.Answer == *o.Answer {
			return e.agree(v.Seats)
		}
	}
	return o.Reason // no single vote is the answer
}

// decidedFields says how many parts of a JSON value are decided, and which are not.
func decidedFields(o *Outcome, e electors) string {
	var open []string
	for _, f := range o.Fields {
		if !f.Decided {
			open = append(open, f.Path)
		}
	}
	text := fmt.Sprintf("%d of %d fields decided, from the answers of %s", len(o.Fields)-len(open), len(o.Fields),
		counted(e.count-len(e.silent), e.kind+e.noun, e.kind+e.noun+"s"))
	if len(open) > 0 {
		text += "; undecided: " + strings.Join(open, ", ")
	}
	return text
}

// undecidedBy says how the members differ that did not decide.
func undecidedBy(o *Outcome, e electors) string {
	var parts []string
	const most = 4
	for i, v := range o.Votes {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more answers", len(o.Votes)-most))
			break
		}
		says := "say"
		if len(v.Seats) == 1 {
			says = "says"
		}
		subject := fmt.Sprint(len(v.Seats))
		if i == 0 {
			subject = counted(len(v.Seats), e.kind+e.who, e.kind+e.who+"s")
		}
		parts = append(parts, fmt.Sprintf("%s %s %q", subject, says, Shortened(o.Form, v.Text)))
	}
	if len(parts) == 0 {
		return "no answer"
	}
	return "no answer: " + strings.Join(parts, ", ")
}

// electors are who took part in a decision.
type electors struct {
	count   int            // seats that were asked and vote
	spared  int            // seats that were not asked
	who     string         // model or seat: who answers
	noun    string         // the same, or the protocol's word for those who decide
	kind    string         // "simulated " or "recorded " if all are
	model   map[string]int // the voice of a seat, by its id
	voices  int            // different models
	silent  []string       // the models of seats without an answer, and why
	acting  int            // seats that an experimenter made hostile
	staged  []llm.Kind     // kinds of some members that are not live
	oneKind llm.Kind       // the kind of all members; "" if they differ
}

func electorsOf(o *Outcome) electors {
	e := electors{noun: "model", model: map[string]int{}, oneKind: o.Members[0].Kind}
	names := map[string]int{}
	for i := range o.Members {
		m := &o.Members[i]
		if m.Kind != e.oneKind {
			e.oneKind = ""
		}
		if m.Adversary != nil {
			e.acting++
		}
		if o.Asked != nil && !slices.Contains(o.Asked, m.ID) {
			e.spared++
			continue
		}
		e.count++
		e.model[m.ID] = voice(names, speaker(o, m))
		if m.Final == nil {
			e.silent = append(e.silent, m.Model+" gave no answer"+why(o, m))
		}
	}
	e.voices = len(names)
	if e.voices < e.count {
		e.noun = "seat"
	}
	e.who = e.noun
	for _, k := range []llm.Kind{llm.Simulated, llm.Recorded} {
		if e.oneKind == k {
			e.kind = string(k) + " "
		} else if len(o.OfKind(k)) > 0 {
			e.staged = append(e.staged, k)
		}
	}
	if p := o.Presented; p != nil && p.Count > 0 {
		e.count, e.noun = p.Count, strings.TrimSuffix(p.Voters, "s")
	}
	return e
}

// voice numbers the models by name.
func voice(names map[string]int, name string) int {
	n, known := names[name]
	if !known {
		n = len(names)
		names[name] = n
	}
	return n
}

// speaker names who speaks in a seat: the model at its server. Models in the box have no server.
func speaker(o *Outcome, m *Member) string {
	if m.Kind == llm.Embedded {
		return fmt.Sprintf("embedded %d", m.Voice)
	}
	return served(o, m.Model)
}

// served returns the name of a model at its server; its name in the council if there is none.
func served(o *Outcome, model string) string {
	for i := range o.Models {
		if r := &o.Models[i]; r.Model == model && r.Served != "" {
			return r.Served
		}
	}
	return model
}

// why says why a member has no answer, in a few words.
func why(o *Outcome, m *Member) string {
	if m.Unreadable != nil && m.Unreadable.Failed != nil {
		return " that passes the check " + m.Unreadable.Failed.Check
	}
	if slices.Contains(o.Late, m.ID) {
		return " in time"
	}
	for _, s := range synod.Statuses() {
		if s != synod.OK && s != synod.Dropped && m.Calls.Of(s) > 0 {
			return fmt.Sprintf(" (%s)", strings.ReplaceAll(string(s), "_", " "))
		}
	}
	return ""
}

// agree says how many of the electors these seats are, and how many voices they have.
func (e electors) agree(seats []string) string {
	of := fmt.Sprint(e.count)
	if e.spared > 0 {
		of = "the " + of
	}
	text := fmt.Sprintf("%d of %s %s%ss agree", len(seats), of, e.kind, e.noun)
	if e.spared > 0 {
		text = fmt.Sprintf("%d of %s %s%ss that were asked agree, and %d more were not needed", len(seats), of, e.kind,
			e.noun, e.spared)
	}
	if e.noun != "seat" || e.kind != "" {
		return text
	}
	heard := map[int]bool{}
	for _, id := range seats {
		heard[e.model[id]] = true
	}
	if e.voices == 1 {
		return text + ", and all have one model: one voice, so nothing protects against its errors"
	}
	return fmt.Sprintf("%s: %d of %d models", text, len(heard), e.voices)
}

// missing names the one member that gave no answer, or says how many gave none; it is empty if all gave one.
func (e electors) missing() string {
	switch n := len(e.silent); {
	case n == 0:
		return ""
	case n == 1:
		return e.silent[0]
	default:
		return fmt.Sprintf("%d gave no answer", n)
	}
}

// caveats are the sentences without which the number of those who agree would mislead.
func (e electors) caveats(o *Outcome) (all []string) {
	for _, k := range e.staged {
		n := len(o.OfKind(k))
		all = append(all, fmt.Sprintf("%s, not live", are(n, "member", string(k))))
	}
	if slow := e.slow(o); len(slow) > 0 {
		all = append(all, "not all replies of "+strings.Join(slow, ", ")+" were waited for")
	}
	if e.acting > 0 {
		all = append(all, "the council file makes "+counted(e.acting, "member", "members")+" hostile")
	}
	if n := len(o.Evidence); n > 0 {
		all = append(all, "there is proof that a member told different members different things")
	}
	void := o.Bound.Guarantee == plan.None || o.Bound.Voices == 0 && o.Bound.F > 0
	if o.Answered() && void && e.count > 1 && e.voices > 1 {
		all = append(all, "nothing is guaranteed if a member is hostile")
	}
	return all
}

// slow lists the models of members that have an answer and were late with something else.
func (e electors) slow(o *Outcome) (models []string) {
	for i := range o.Members {
		m := &o.Members[i]
		if m.Final != nil && slices.Contains(o.Late, m.ID) && !slices.Contains(models, m.Model) {
			models = append(models, m.Model)
		}
	}
	return models
}

// are says that some members are something.
func are(n int, what, state string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s is %s", what, state)
	}
	return fmt.Sprintf("%d %ss are %s", n, what, state)
}

// EndedBy says which limit or breaker ended the run; nil: none.
func (o *Outcome) EndedBy() []string {
	switch o.Stopped {
	case PastTime:
		return []string{"the deadline ended the run"}
	case OverBudget:
		return []string{"a limit ended the run"}
	case Tripped:
		return []string{"a breaker ended the run"}
	}
	return nil
}

// OfKind returns the ids of the members of a kind.
func (o *Outcome) OfKind(kind llm.Kind) (ids []string) {
	for _, m := range o.Members {
		if m.Kind == kind {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Shortened is a text on one line, of a long form its beginning.
func Shortened(form synod.Form, text string) string {
	const most = 100
	if r := []rune(oneLine(text)); form.Long() && len(r) > most {
		return string(r[:most]) + "…"
	}
	return oneLine(text)
}

// asSentence begins a text with a capital letter and ends it with a full stop.
func asSentence(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + strings.TrimRight(text[size:], ". ") + "."
}
