package campaign

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"
)

// spoken compares the words around the answer with those that members wrote who gave it first.
func spoken(t *ClaimTried, p *plan.Plan, in plan.Instance, records []outcome.Record, o *outcome.Outcome) {
	answer := o.Decision
	if answer == synod.None && o.Status == outcome.Undecided && len(o.Votes) > 0 {
		answer = o.Votes[0].Answer
	}
	var all []outcome.Words
	for i := range records {
		var first synod.Answer
		for _, opinion := range records[i].Opinions {
			if opinion.Round == 0 {
				first = opinion.Answer
			}
		}
		best := -1
		for k, s := range records[i].Said {
			if s.Round == 0 && s.Words != "" && (best < 0 || s.ID > records[i].Said[best].ID) {
				best = k
			}
		}
		if first == answer && best >= 0 {
			all = append(all, outcome.Words{Member: p.Seats()[i].ID, Text: records[i].Said[best].Words})
		}
	}
	if answer == synod.None || !in.Question.Guessed || len(all) == 0 {
		t.Check(o.Words == nil, "the words %+v are told of %q, and nobody wrote any", o.Words, answer)
		return
	}
	want := all[in.Seed%uint64(len(all))]
	t.Check(o.Words != nil && *o.Words == want, "the words %+v are told of %q, and by the records %+v", o.Words, answer,
		want)
}

// excused compares what a record says of calls that were cut off with a count of them, in all rounds.
func excused(t *ClaimTried, r *outcome.Record) {
	for i := range r.Late {
		r.Late[i].Refined = t.Rand.IntN(2) == 0
	}
	for round := -1; round < 5; round++ {
		faulty, late := false, false
		for _, c := range r.Late {
			late = late || c.Round <= round
			faulty = faulty || !c.Refined && (c.Round == round || round == -1)
		}
		t.Check(r.Faulty(round) == faulty, "a seat with the late calls %+v is faulty in round %d: %v", r.Late, round,
			!faulty)
		for _, a := range []synod.Answer{synod.None, "1"} {
			want := late && a == synod.None
			t.Check(r.Unanswered(&synod.Opinion{Round: round, Answer: a}) == want, "a seat with the late calls %+v "+
				"could not answer in round %d, where it says %q: %v", r.Late, round, a, !want)
		}
	}
}

// collected makes records of the parts of a journal, in which seats may not exist, and sums them up by seat.
func collected(t *ClaimTried, p *plan.Plan) {
	n := len(p.Seats())
	node := func() synod.NodeID { return synod.NodeID(t.Rand.IntN(n+2) - 1) }
	s := &journal.Summary{}
	for range t.Rand.IntN(12) {
		s.Noted = append(s.Noted, journal.Noted{Tick: synod.Tick(t.Rand.IntN(9)), Node: node(),
			Opinion: synod.Opinion{Round: t.Rand.IntN(3), Answer: "1"}})
		s.Opened = append(s.Opened, journal.Opened{Node: node(), First: make([]synod.Given, t.Rand.IntN(3))})
		s.Unanswered = append(s.Unanswered, journal.Unanswered{Node: node(),
			Cost: journal.Cost{Calls: t.Rand.IntN(3)}})
	}
	for _, id := range t.Rand.Perm(12) {
		all := synod.Statuses()
		r := journal.Replied{Key: journal.Key{Node: node(), ID: synod.ConsultID(id)}, Reply: synod.Reply{
			Status: all[t.Rand.IntN(len(all))], Calls: t.Rand.IntN(3), Needless: t.Rand.IntN(4) == 0,
			Usage: synod.Usage{Prompt: t.Rand.IntN(3)}, Detail: fmt.Sprint("detail ", id)}}
		if t.Rand.IntN(3) == 0 {
			r.Fault = fmt.Sprint("fault ", id)
		}
		s.Replies = append(s.Replies, r)
	}
	for i, r := range outcome.RecordsOfParts(p, s) {
		got := collectedFrom{len(r.Opinions), len(r.Opened), r.Use.Calls, r.Use.Prompt, r.Needless,
			r.Misreports.Replies, r.Statuses, r.Failure, r.Misreports.First, r.Opened != nil}
		want := collect(s, synod.NodeID(i))
		t.Check(int(r.Seat) == i && got == want, "of the record of seat %d %+v, and by the parts of its journal %+v", i,
			got, want)
	}
}

// collectedFrom is what the parts of a journal say of one seat.
type collectedFrom struct {
	noted, given, calls, prompt, needless, misreports int
	statuses                                          outcome.StatusCount
	failure, fault                                    string
	opened                                            bool
}

func collect(s *journal.Summary, seat synod.NodeID) (c collectedFrom) {
	for _, o := range s.Noted {
		if o.Node == seat {
			c.noted++
		}
	}
	for _, o := range s.Opened {
		if o.Node == seat {
			c.given, c.opened = len(o.First), true
		}
	}
	for _, u := range s.Unanswered {
		if u.Node == seat {
			c.calls += u.Calls
		}
	}
	byCall := slices.Clone(s.Replies)
	slices.SortFunc(byCall, func(a, b journal.Replied) int { return int(a.ID) - int(b.ID) })
	for _, r := range byCall {
		if r.Node != seat {
			continue
		}
		if c.calls += r.Calls; r.Calls > 0 {
			c.prompt += r.Usage.Prompt
		}
		if r.Fault != "" {
			if c.misreports++; c.fault == "" {
				c.fault = r.Fault
			}
		}
		if r.Needless {
			c.needless += r.Calls
			continue
		}
		c.statuses.Count(r.Status)
		if r.Status != synod.OK && c.failure == "" {
			c.failure = r.Detail
		}
	}
	return c
}

// summedUp compares the first sentence about an outcome with what it has: a value of parts, what the protocol presents
// or the votes.
func summedUp(t *ClaimTried, o outcome.Outcome) {
	var open []string
	o.Fields, o.Presented = nil, nil
	for i := range max(0, t.Rand.IntN(6)-2) {
		f := structured.Field{Path: fmt.Sprint("/", i), Decided: t.Rand.IntN(2) == 0}
		if o.Fields = append(o.Fields, f); !f.Decided {
			open = append(open, f.Path)
		}
	}
	asked := len(o.Members)
	if t.Rand.IntN(2) == 0 {
		o.Presented = &protocol.Presentation{Voters: "judges", Count: t.Rand.IntN(3)}
		if t.Rand.IntN(2) == 0 {
			o.Presented.Head = "head of what is presented"
		}
		if o.Presented.Count > 0 {
			asked = o.Presented.Count
		}
	}
	silent := 0
	for i := range o.Members {
		if o.Members[i].Final == nil {
			silent++
		}
	}
	want := "No answer"
	switch {
	case o.Decision == synod.None:
	case len(o.Fields) > 0:
		want = fmt.Sprintf("%d of %d fields decided, from the answers of %d ", len(o.Fields)-len(open), len(o.Fields),
			asked-silent)
		if len(open) > 0 && !strings.Contains(o.Summary(), "undecided: "+strings.Join(open, ", ")) {
			want = "the names of the undecided fields"
		}
	case o.Presented != nil && o.Presented.Head != "":
		want = "Head of what is presented"
	case asked == 1:
		want = "One model answered; nothing was compared"
	default:
		i := slices.IndexFunc(o.Votes, func(v outcome.Vote) bool { return v.Answer == o.Decision })
		want = fmt.Sprintf("%d of %d ", len(o.Votes[i].Seats), asked)
	}
	t.Check(strings.HasPrefix(o.Summary(), want), "%q is said of an outcome, and it begins with %q", o.Summary(), want)
}

// unpriced compares which models have no price with their servers, their costs and the table.
func unpriced(t *ClaimTried, o outcome.Outcome) {
	servers, names := []string{"", "a.example", "b.example", "localhost:1", "10.0.0.1"}, []string{"one", "two"}
	kinds := []llm.Kind{llm.Endpoint, llm.Endpoint, llm.Simulated, llm.Recorded, llm.Embedded}
	var prices llm.Prices
	for range t.Rand.IntN(3) {
		prices = append(prices, llm.Tariff{Server: servers[1+t.Rand.IntN(2)], Model: names[t.Rand.IntN(2)]})
	}
	o.Models = nil
	want := []outcome.Unpriced{}
	for i := range 1 + t.Rand.IntN(6) {
		m := outcome.ModelResult{Model: fmt.Sprint("m", i), Kind: kinds[t.Rand.IntN(len(kinds))],
			Server: servers[t.Rand.IntN(len(servers))], Served: names[t.Rand.IntN(2)]}
		if t.Rand.IntN(3) == 0 {
			m.Cost = new(llm.Cost)
		}
		o.Models = append(o.Models, m)
		told := slices.ContainsFunc(want, func(u outcome.Unpriced) bool {
			return u.Server == m.Server && u.Served == m.Served
		})
		priced := slices.ContainsFunc(prices, func(r llm.Tariff) bool {
			return r.Server == m.Server && r.Model == m.Served
		})
		if m.Kind == llm.Endpoint && strings.HasSuffix(m.Server, ".example") && m.Cost == nil && !priced && !told {
			want = append(want, outcome.Unpriced{Model: m.Model, Server: m.Server, Served: m.Served})
		}
	}
	got := o.Unpriced(prices)
	t.Check(slices.Equal(got, want), "without a price in %+v are %+v of %+v, and by the table %+v", prices, got,
		o.Models, want)
}

// comparedCost compares what is said of the cost of one model alone with the amounts.
func comparedCost(t *ClaimTried) {
	amounts := []float64{-2, -1e-6, 0, 1e-6, 3}
	r := &outcome.Reference{Model: "m", Measured: t.Rand.IntN(2) == 0}
	if t.Rand.IntN(4) > 0 {
		usd := t.Rand.Float64()
		r.USD = &usd
	}
	if t.Rand.IntN(3) > 0 {
		r.Saved = &amounts[t.Rand.IntN(len(amounts))]
	}
	text := r.String()
	more, less := strings.Contains(text, " saved"), strings.Contains(text, " less than the council")
	known := r.USD != nil && r.Saved != nil
	t.Check(strings.Contains(text, "not known") == (r.USD == nil) && more == (known && *r.Saved >= 0) &&
		less == (known && *r.Saved < 0), "%q is said of what would have been saved", text)
	if known {
		t.Check(strings.Contains(text, fmt.Sprintf("%.6f USD", *r.USD)) &&
			strings.Contains(text, fmt.Sprintf(" %.6f ", max(*r.Saved, -*r.Saved))), "%q is said of %v and %v", text,
			*r.USD, *r.Saved)
	}
}

// foretold compares which councils decide by first answers alone: those of one process whose members do not change
// their answers. Where nobody talks, what is foretold is what is judged.
func foretold(t *ClaimTried) {
	n := 4 + t.Rand.IntN(3)
	spec, err := plan.Parse(fmt.Appendf(nil, "protocol: %s\ngraph: {family: complete}\nf: 0\nrule: {name: plurality}\n"+
		"models: {m: {provider: simulated}}\nseats: [{id: m, model: m, count: %d}]\n", t.protocol(), n))
	if !t.Need(err) {
		return
	}
	apart := t.Rand.IntN(3) == 0
	if apart {
		for i := range n {
			spec.Runner.Keys = append(spec.Runner.Keys, fmt.Sprintf("%x", logKeys[i].PublicKey()))
		}
	}
	p, err := plan.New(spec)
	if err != nil {
		return // no council may be like that
	}
	_, keeps := p.Protocol().(protocol.Foretelling)
	quiet := p.Protocol().MaxRounds() == 0
	got := outcome.Foretold(p)
	t.Check(got == (!apart && (keeps || quiet)), "that %s is decided by first answers: %v; in processes of its own: %v",
		p.Entry().Name, got, apart)
	if !quiet || keeps {
		return
	}
	first, records := make([]synod.Answer, n), make([]outcome.Record, n)
	for i := range first {
		first[i] = synod.Answer(fmt.Sprint(1 + t.Rand.IntN(3)))
		records[i] = outcome.Record{Seat: synod.NodeID(i), Stopped: "rounds",
			Opinions: []outcome.Noted{{Opinion: &synod.Opinion{Answer: first[i]}}}}
	}
	q := synod.Question{Text: "How many?", Form: synod.Number}
	want := outcome.Judge(p, plan.Instance{Question: q}, records).Decision
	answer := outcome.Foretell(p, &q, first)
	t.Check(answer == want, "of %q %q is foretold, and %q judged", first, answer, want)
}
