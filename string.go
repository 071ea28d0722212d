package synod

import (
	"fmt"
	"strings"
)

// The String methods below return one line each, for transcripts.

func (Begin) String() string { return "begin" }
func (Halt) String() string  { return "halt" }

func (e Heard) String() string    { return fmt.Sprintf("heard %s", e.Message) }
func (e Expired) String() string  { return fmt.Sprintf("alarm %d expired", e.ID) }
func (e Answered) String() string { return fmt.Sprintf("answered %d: %s", e.ID, e.Reply) }

func (x Send) String() string    { return fmt.Sprintf("send to %s: %s", ids(x.To), x.Message) }
func (x Consult) String() string { return fmt.Sprintf("consult %d: %s", x.ID, x.Prompt) }
func (x Alarm) String() string   { return fmt.Sprintf("alarm %d at tick %d", x.ID, x.At) }
func (x Note) String() string    { return fmt.Sprintf("note %s", x.Opinion) }
func (x Decide) String() string  { return fmt.Sprintf("decide %s", x.Answer) }

func (x Opened) String() string {
	parts := make([]string, len(x.First))
	for i, g := range x.First {
		parts[i] = fmt.Sprintf("n%d %s", g.Of, g.Answer)
	}
	return "opened " + strings.Join(parts, ", ")
}

// String quotes the answer. None is a dash.
func (a Answer) String() string {
	if a == None {
		return "–"
	}
	return fmt.Sprintf("%q", string(a))
}

func (s Slot) String() string { return fmt.Sprintf("%s/%d", s.Name, s.Round) }

func (m *Message) String() string {
	var r Response
	if r.UnmarshalBinary(m.Body) == nil {
		if r.Confidence > 0 {
			return fmt.Sprintf("n%d %s %s sure %.2f", m.From, m.Slot, r.Answer, r.Confidence)
		}
		return fmt.Sprintf("n%d %s %s", m.From, m.Slot, r.Answer)
	}
	return fmt.Sprintf("n%d %s %d bytes", m.From, m.Slot, len(m.Body))
}

func (r *Reply) String() string {
	switch {
	case r.Status != OK:
		return string(r.Status)
	case r.Typed && r.Answer != None:
		return r.Answer.String()
	case r.Typed:
		return fmt.Sprintf("%.2f", r.Value)
	}
	return fmt.Sprintf("%q", r.Text)
}

func (p *Prompt) String() string {
	var s strings.Builder
	s.WriteString(string(p.Purpose))
	if p.Candidate != None {
		fmt.Fprintf(&s, " %s", p.Candidate)
	}
	if p.Own != None {
		fmt.Fprintf(&s, " own %s", p.Own)
	}
	if p.Detail != nil {
		writePart(&s, p.Detail.String())
	}
	for _, q := range p.Peers {
		fmt.Fprintf(&s, " · %s at %s", q.Answer, q.Score)
	}
	return s.String()
}

func (o *Opinion) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "t=%d holds %s (%s)", o.Round, o.Answer, o.Source)
	if len(o.From) > 0 {
		fmt.Fprintf(&s, " from %s", ids(o.From))
	}
	if o.Confidence != nil {
		fmt.Fprintf(&s, " sure %.2f", *o.Confidence)
	}
	for i, j := range o.Scores {
		if i == 0 {
			s.WriteString(" scores")
		}
		fmt.Fprintf(&s, " n%d=%s", j.Of, j.Score)
	}
	for _, set := range []struct {
		name  string
		nodes []NodeID
	}{{"retained", o.Retained}, {"dropped", o.Dropped}, {"silent", o.Silent}, {"suspects", o.Suspects}} {
		if len(set.nodes) > 0 {
			fmt.Fprintf(&s, " %s %s", set.name, ids(set.nodes))
		}
	}
	if o.Record != nil {
		writePart(&s, o.Record.String())
	}
	for _, n := range []struct {
		name  string
		count int
	}{{"failed", o.Failed}, {"garbled", o.Unreadable}, {"unsure", o.Unsure}, {"reused", o.Reused}} {
		if n.count > 0 {
			fmt.Fprintf(&s, " %s %d", n.name, n.count)
		}
	}
	return s.String()
}

func ids(nodes []NodeID) string {
	parts := make([]string, len(nodes))
	for i, n := range nodes {
		parts[i] = fmt.Sprintf("n%d", n)
	}
	return strings.Join(parts, ",")
}

// writePart writes a space and the text, or nothing if the text is empty.
func writePart(s *strings.Builder, text string) {
	if text != "" {
		s.WriteByte(' ')
		s.WriteString(text)
	}
}
