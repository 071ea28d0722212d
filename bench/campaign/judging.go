package campaign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// judgeSubject judges ballots that are drawn, with the settings of councils that no execution of a protocol has: voices
// with several seats, answers that members call the same, answers that checks refuse, and spellings.
func judgeSubject() *subject {
	return pieceSubject(judgeName, .3, []string{reference.Agreed, reference.Undecided, reference.Degraded, "joined",
		"one voice with several seats", "a check refuses an answer", "support is missing", "spelled otherwise"},
		playJudge, claimCounted, claimWithstood, claimSpelled)
}

// comparing is the protocol whose members can compare answers; it counts votes, and nothing else.
func comparing() string {
	for _, e := range catalog.Protocols.All() {
		if _, ok := e.New().(protocol.Joining); ok {
			return e.Name
		}
	}
	panic("campaign: no protocol compares answers")
}

// drawn is a council with ballots.
type drawn struct {
	reference.Poll
	rule     reference.Rule
	question synod.Question
	surfaces []string // by seat
	refusal  synod.Answer
	early    []bool // by seat: its first answer is the refused one
	compared []synod.Record
	plan     *plan.Plan
}

func playJudge(p *piece) {
	d := p.ballots()
	if d.plan == nil {
		return // no council may have such settings
	}
	want, o := reference.Judge(d.rule, &d.Poll), outcome.Judge(d.plan, plan.Instance{Question: d.question},
		d.records())
	p.State(want.Status, true)
	p.counted(d, &want, &o)
	p.withstood(d, &want, &o)
	p.spelled(d, &want, &o)
}

// ballots draws a council and what its seats gave.
func (p *piece) ballots() *drawn {
	n := 3 + p.rand.IntN(5)
	d := &drawn{rule: reference.Rule{Name: among(p, plan.Plurality, plan.Majority, plan.Supermajority),
		Support: max(0, p.rand.IntN(5)-1)}, surfaces: make([]string, n), compared: make([]synod.Record, n)}
	d.F = p.rand.IntN(3)
	d.First, d.Last = make([]synod.Answer, n), make([]synod.Answer, n)
	d.Failed, d.early = make([]bool, n), make([]bool, n)
	voices := among(p, n, n, 2, 3)
	for i := range n {
		d.Voice = append(d.Voice, i%voices)
	}
	p.State("one voice with several seats", voices < n)
	d.question = synod.Question{Text: "Which?", Form: synod.Number}
	joins := p.one(3)
	if joins {
		d.question.Form = synod.Text
	}
	p.answers(d, 2+p.rand.IntN(3))
	switch {
	case joins:
		p.compare(d)
	case p.one(3):
		p.refuse(d)
	}
	d.plan = judged(d, voices, joins)
	return d
}

// answers draws first and last answers of a few kinds. Half of the seats keep theirs.
func (p *piece) answers(d *drawn, kinds int) {
	draw := func() synod.Answer {
		k := p.rand.IntN(kinds + 1)
		switch {
		case k == kinds && p.one(2):
			return synod.None
		case d.question.Form == synod.Text:
			return synod.Answer("place " + string(rune('a'+min(k, kinds-1)))) // canonical
		}
		return synod.Answer(fmt.Sprint(5 + min(k, kinds-1)))
	}
	for i := range d.First {
		d.First[i] = draw()
		if d.Last[i] = d.First[i]; p.one(3) {
			d.Last[i] = draw()
		}
		if a := string(d.Last[i]); d.question.Form == synod.Number && a != "" && p.one(2) {
			d.surfaces[i] = among(p, a+".0", "+"+a, a, "about "+a)
		}
	}
}

// compare has seats say which answers mean the same.
func (p *piece) compare(d *drawn) {
	all := slices.Concat(d.First, d.Last)
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(a synod.Answer) bool { return a == synod.None })
	d.Same = make([][][2]synod.Answer, len(d.First))
	near := p.rand.Float64()
	for seat := range d.First {
		record := struct {
			Answers []synod.Answer `json:"answers"`
			Same    [][2]int       `json:"same"`
		}{all, [][2]int{}}
		for i := range all {
			for k := range i {
				if p.rand.Float64() < near {
					record.Same = append(record.Same, [2]int{i, k})
					d.Same[seat] = append(d.Same[seat], [2]synod.Answer{all[i], all[k]})
				}
			}
		}
		b, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		d.compared[seat] = synod.RawRecord(b)
	}
}

// refuse adds a check that refuses one of the answers.
func (p *piece) refuse(d *drawn) {
	bad := d.First[p.rand.IntN(len(d.First))]
	if bad == synod.None {
		return
	}
	d.refusal = bad
	d.question.Checks = []synod.Check{{Name: "other", Regex: "^[^" + string(bad) + "]"}}
	for i := range d.First {
		if d.First[i] == bad {
			d.First[i], d.early[i] = synod.None, true
		}
		if d.Last[i] == bad {
			d.Last[i], d.Failed[i] = synod.None, true
			p.State("a check refuses an answer", true)
		}
	}
}

// judged returns the plan of the council; nil if no council may be like that. Nobody is asked.
func judged(d *drawn, voices int, joins bool) *plan.Plan {
	var file strings.Builder
	fmt.Fprintf(&file, "protocol: {name: %s}\ngraph: {family: complete}\nf: %d\nrule: {name: %s, support: %d}\n",
		comparing(), d.F, d.rule.Name, d.rule.Support)
	if joins {
		file.WriteString("form: text\nsame: members\n")
	}
	file.WriteString("models:\n")
	for k := range voices {
		fmt.Fprintf(&file, "  m%d: {provider: openai, url: 'http://localhost:1/v1', model: m%d}\n", k, k)
	}
	file.WriteString("seats:\n")
	for i := range d.First {
		fmt.Fprintf(&file, "  - {id: s%d, model: m%d}\n", i, d.Voice[i])
	}
	return planFor(file.String())
}

// records are what the runs of the seats leave behind.
func (d *drawn) records() (all []outcome.Record) {
	for i := range d.First {
		r := outcome.Record{Seat: synod.NodeID(i), Stopped: sim.Finished}
		first, last := d.First[i], d.Last[i]
		if d.early[i] {
			first = d.refusal
		}
		if d.Failed[i] {
			last = d.refusal
		}
		r.Opinions = append(r.Opinions, outcome.Noted{Opinion: &synod.Opinion{Answer: first}},
			outcome.Noted{Tick: 1, Opinion: &synod.Opinion{Round: 1, Answer: last, Surface: d.surfaces[i],
				Record: d.compared[i]}})
		all = append(all, r)
	}
	return all
}

// counted compares the decision and the votes.
func (p *piece) counted(d *drawn, want *reference.Judged, o *outcome.Outcome) {
	p.State("joined", len(o.Joined) > 0)
	p.State("support is missing", want.Status == reference.Undecided && len(want.Votes) > 0 &&
		want.Votes[0].Independent < d.rule.Support)
	got := reference.Judged{Verdict: verdictOf(d.plan, o), Voices: o.Voices}
	for _, v := range o.Votes {
		c := reference.Counted{Answer: v.Answer, Independent: v.Independent}
		for _, id := range v.Seats {
			c.Seats = append(c.Seats, seatNamed(d.plan, id))
		}
		got.Votes = append(got.Votes, c)
	}
	for i, m := range o.Members {
		first := synod.None
		if m.First != nil {
			first = *m.First
		}
		p.Claim(claimCounted, first == d.First[i], "the first answer of seat %d counts as %q, not %q", i, first,
			d.First[i])
	}
	same := want.Same(got.Verdict) && want.Voices == got.Voices && slices.EqualFunc(want.Votes, got.Votes,
		func(a, b reference.Counted) bool {
			return a.Answer == b.Answer && a.Independent == b.Independent && slices.Equal(a.Seats, b.Seats)
		})
	p.Claim(claimCounted, same, "%+v with the rule %+v is judged %+v (%s), and by the reference %+v",
		d.Poll, d.rule, got, o.Reason, *want)
}

// withstood compares what a decision withstands, where members have not compared answers.
func (p *piece) withstood(d *drawn, want *reference.Judged, o *outcome.Outcome) {
	p.Applies(claimWithstood)
	if want.Status != reference.Agreed || d.Same != nil {
		return
	}
	ignored, changed := reference.Withstands(d.rule, d.Last, want.Answer)
	wins := len(want.Supporters) >= d.rule.Support
	ok := o.Withstands == nil && !wins || o.Withstands != nil && wins &&
		o.Withstands.Ignored == d.InVoices(ignored) && o.Withstands.Changed == d.InVoices(changed)
	p.Claim(claimWithstood, ok, "%q of %q withstands %+v by %+v; by the reference %d and %d seats, voices %v",
		o.Decision, d.Last, o.Withstands, d.rule, ignored, changed, d.Voice)
}

// spelled compares how a decision is printed.
func (p *piece) spelled(d *drawn, want *reference.Judged, o *outcome.Outcome) {
	p.Applies(claimSpelled)
	if want.Status != reference.Agreed || d.Same != nil {
		return
	}
	written := make([]string, len(d.Last))
	for i := range written {
		if d.Last[i] == want.Answer {
			written[i] = d.surfaces[i]
		}
	}
	plain := string(want.Answer)
	text := reference.Spelling(plain, written, d.F, func(text string) bool { return !strings.HasPrefix(text, "about") })
	p.State("spelled otherwise", text != plain)
	p.Claim(claimSpelled, o.Text == text, "%q, spelled %q, is printed as %q, and by the reference as %q", plain,
		written, o.Text, text)
}
