package campaign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// judgeSubject judges ballots that are drawn, with the settings of councils that no execution of a protocol has: voices
// with several seats, answers that members call the same, answers that checks refuse or nobody can read, spellings,
// weights of first answers, and tiers with probabilities.
func judgeSubject() *subject {
	return pieceSubject(judgeName, .3, []string{reference.Agreed, reference.Undecided, reference.Degraded, "joined",
		"one voice with several seats", "a check refuses an answer", "an answer is unreadable", "support is missing",
		"spelled otherwise", "weighted", "a first answer is missed", "by mean", "tiers", "a tier ends early",
		"improbable", "probability", "a change is withstood", "not committed"},
		playJudge, claimCounted, claimWithstood, claimSpelled, claimProbable)
}

// comparing is the protocol whose members can compare answers; it counts votes, and nothing else.
var comparing = sync.OnceValue(func() string {
	return nameWhere("", func(p synod.Protocol) bool {
		_, ok := p.(protocol.Joining)
		return ok
	})
})

// nameWhere returns the first protocol of the catalogue of which something is true with parameters.
func nameWhere(params string, is func(p synod.Protocol) bool) string {
	for _, e := range catalog.Protocols.All() {
		if p, err := built(e)(nil, "{"+params+"}"); err == nil && is(p) {
			return e.Name
		}
	}
	panic("campaign: there is no such protocol with {" + params + "}")
}

// drawn is a council with ballots.
type drawn struct {
	reference.Poll
	rule       reference.Rule
	protocol   string // with its parameters, as in a council file
	question   synod.Question
	said       [2][]synod.Answer // by seat: the first and last answers in its record, which do not all count
	surfaces   []string          // by seat
	compared   []synod.Record
	silent     []synod.NodeID  // whom seat 0 did not hear
	opened     [][]synod.Given // by seat: the first answers of others that it took; nil: nobody committed to any
	rounds     bool            // members note a second opinion
	unreadable bool
	cascade    *reference.Cascaded // what tiers come to; nil: there are none
	more       string              // of the council file
	plan       *plan.Plan

	// decides is what seats decide, as far as what it withstands can be said.
	decides func(b *reference.Poll) synod.Answer
}

func playJudge(p *piece) {
	d := p.ballots()
	if d.plan == nil || d.unreadable && d.plan.Full().Defences["typed"] != defence.On {
		return // no council may have such settings
	}
	if d.cascade != nil && d.cascade.Near {
		return
	}
	p.State("an answer is unreadable", d.unreadable)
	want, o := reference.Judge(d.rule, &d.Poll), outcome.Judge(d.plan, plan.Instance{Question: d.question},
		d.records())
	p.State(want.Status, true)
	p.counted(d, &want, &o)
	p.withstood(d, &want, &o)
	p.spelled(d, &want, &o)
	d.probable(p, &o)
}

// ballots draws a council and what its seats gave.
func (p *piece) ballots() *drawn {
	n := 3 + p.rand.IntN(5)
	d := &drawn{rule: reference.Rule{Name: among(p, plan.Plurality, plan.Majority, plan.Supermajority),
		Support: max(0, p.rand.IntN(5)-1)}, surfaces: make([]string, n), compared: make([]synod.Record, n),
		protocol: comparing(), rounds: true}
	d.F = p.rand.IntN(3)
	d.First, d.Last, d.Failed = make([]synod.Answer, n), make([]synod.Answer, n), make([]bool, n)
	voices := among(p, n, n, 2, 3)
	for i := range n {
		d.Voice = append(d.Voice, i%voices)
	}
	d.question = synod.Question{Text: "Which?", Form: synod.Number}
	kind := p.rand.IntN(13)
	joins := kind < 3
	if joins {
		d.question.Form = synod.Text
	}
	d.decides = func(b *reference.Poll) synod.Answer { return reference.Judge(d.rule, b).Answer }
	p.answers(d, 2+p.rand.IntN(3))
	switch kind {
	case 8, 9:
		d.weigh(p)
	case 10:
		d.mean(p)
	}
	d.said = [2][]synod.Answer{slices.Clone(d.First), slices.Clone(d.Last)}
	switch {
	case joins:
		p.compare(d)
	case p.one(3):
		p.refuse(d)
	case p.one(4):
		d.garble(p)
	}
	d.spell(p)
	switch kind {
	case 8, 9:
		d.hear(p)
	case 10:
		d.step(p)
	case 11, 12:
		d.tier(p)
	}
	p.State("one voice with several seats", slices.Max(d.Voice)+1 < n)
	if d.plan = judged(d, joins); kind < 8 && d.plan != nil && d.plan.Commits() && p.one(2) {
		d.open(p)
	}
	return d
}

// open draws whose first answers seats say they took after all had committed to theirs. A first answer counts if F
// others, or all if there are fewer, and one in any case, say that they took it.
func (d *drawn) open(p *piece) {
	n, took := len(d.First), p.rand.Float64()
	d.opened = make([][]synod.Given, n)
	said := make([]int, n)
	for i := range n {
		d.opened[i] = []synod.Given{}
		for of := range n { // a hostile seat may name itself
			g := synod.Given{Of: synod.NodeID(of), Answer: d.said[0][of]}
			if g.Answer == synod.None || p.rand.Float64() > took {
				continue
			}
			if p.one(6) {
				g.Answer += "1"
			} else if i != of {
				said[of]++
			}
			d.opened[i] = append(d.opened[i], g)
		}
	}
	for of, a := range d.First {
		if a != synod.None && said[of] < min(max(1, d.F), n-1) {
			d.First[of] = synod.None
			p.State("not committed", true)
		}
	}
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
	}
}

// spell draws how seats wrote their last answers.
func (d *drawn) spell(p *piece) {
	for i := range d.Last {
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
	d.question.Checks = []synod.Check{{Name: "other", Regex: "^[^" + string(bad) + "]"}}
	for i := range d.First {
		if d.First[i] == bad {
			d.First[i] = synod.None
		}
		if d.Last[i] == bad {
			d.Last[i], d.Failed[i] = synod.None, true
			p.State("a check refuses an answer", true)
		}
	}
}

// garble has seats say in place of one of the answers what nobody can read as a number.
func (d *drawn) garble(p *piece) {
	bad := d.First[p.rand.IntN(len(d.First))]
	d.unreadable = bad != synod.None
	for k, answers := range [][]synod.Answer{d.First, d.Last} {
		for i, a := range answers {
			if a == bad && a != synod.None {
				answers[i], d.said[k][i] = synod.None, "very many"
			}
		}
	}
}

// judged returns the plan of the council; nil if no council may be like that. Nobody is asked.
func judged(d *drawn, joins bool) *plan.Plan {
	var file strings.Builder
	fmt.Fprintf(&file, "protocol: {name: %s}\ngraph: {family: complete}\nf: %d\nrule: {name: %s, support: %d}\n",
		d.protocol, d.F, d.rule.Name, d.rule.Support)
	if joins {
		file.WriteString("form: text\nsame: members\n")
	}
	file.WriteString(d.more + "models:\n")
	for k := range slices.Max(d.Voice) + 1 {
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
		if d.opened != nil {
			r.Opened = d.opened[i]
		}
		first := &synod.Opinion{Answer: d.said[0][i]}
		if d.Sure != nil && d.cascade == nil {
			first.Confidence = &d.Sure[i]
		}
		r.Opinions = append(r.Opinions, outcome.Noted{Opinion: first})
		if last := first; d.rounds {
			last = &synod.Opinion{Round: 1, Answer: d.said[1][i], Surface: d.surfaces[i], Record: d.compared[i]}
			if i == 0 {
				last.Silent = d.silent
			}
			r.Opinions = append(r.Opinions, outcome.Noted{Tick: 1, Opinion: last})
		} else {
			last.Surface = d.surfaces[i]
		}
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

// withstoodShare is one of how many decisions is checked for what it withstands, which takes long.
const withstoodShare = 3

// withstood compares what a decision withstands, where members have not compared answers.
func (p *piece) withstood(d *drawn, want *reference.Judged, o *outcome.Outcome) {
	p.Applies(claimWithstood)
	if want.Status != reference.Agreed || d.Same != nil || !p.one(withstoodShare) {
		return
	}
	if d.decides(&d.Poll) != want.Answer {
		p.Claim(claimWithstood, o.Withstands == nil, "%+v withstands %+v, and by the reference it is not known what",
			d.Poll, o.Withstands)
		return
	}
	ignored, changed := d.Withstands(want.Answer, d.decides)
	ignored, changed = d.InVoices(ignored), d.InVoices(changed)
	got := o.Withstands
	p.State("a change is withstood", changed > 0)
	p.Claim(claimWithstood, got != nil && got.Ignored == ignored && got.Changed == changed,
		"%q by %+v of %s withstands %+v (%s); by the reference %d and %d voices: %+v", o.Decision, d.rule, d.protocol,
		got, o.Fragile, ignored, changed, d.Poll)
	p.Claim(claimWithstood, d.VoicesStay(want.Answer, ignored, changed, d.decides),
		"%q by %+v is said to withstand %d and %d voices: %+v", o.Decision, d.rule, ignored, changed, d.Poll)
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
