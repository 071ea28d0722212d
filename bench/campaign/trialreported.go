package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// reportTrials are about what an outcome tells beside the decision.
var reportTrials = []ClaimTrial{
	{Claim: claimOf("DE-11"), try: told},
	{Claim: claimOf("DE-12"), try: judgedAgain},
}

// told compares what an outcome tells of rounds, members and models with the records of which it is made.
func told(t *ClaimTried) {
	n := 3 + t.Rand.IntN(4)
	voice := make([]int, n)
	for i := range voice {
		voice[i] = i * 2 / n
	}
	p := planFor(fmt.Sprintf("protocol: {name: %s}\ngraph: {family: complete}\nf: 0\nrule: {name: plurality}\n",
		comparing()) + seatsOf(voice))
	records := make([]outcome.Record, n)
	for i := range records {
		records[i] = t.record(n, i)
	}
	in := plan.Instance{Question: synod.Question{Text: "How many?", Form: synod.Number,
		Guessed: t.Rand.IntN(3) > 0}, Seed: t.Rand.Uint64()}
	o := outcome.Judge(p, in, records)
	packed := new(outcome.Judging).Judge(p, in, records)
	want, err := json.Marshal(rounds(p, records))
	got, err1 := json.Marshal(o.Rounds)
	short, err2 := json.Marshal(packed.Rounds)
	var read outcome.Rounds
	if !t.Need(err) || !t.Need(err1) || !t.Need(err2) || !t.Need(json.Unmarshal(got, &read)) {
		return
	}
	t.Check(bytes.Equal(got, want), "rounds %s, and by the records %s", got, want)
	t.Check(bytes.Equal(short, want), "packed rounds %s, and by the records %s", short, want)
	for _, r := range []outcome.Rounds{o.Rounds, packed.Rounds, read} {
		t.Check(r.Len() == len(r.All()) && r.Len() == o.Rounds.Len(), "%d and %d rounds, and %d", r.Len(), len(r.All()),
			o.Rounds.Len())
	}
	t.accounts(&o, records, voice)
	spoken(t, p, in, records, &o)
	summedUp(t, o)
	unpriced(t, o)
	comparedCost(t)
	excused(t, &records[0])
	collected(t, p)
	if t.Rand.IntN(4) == 0 {
		foretold(t)
	}
}

// record draws what the run of a seat leaves behind. Seats that it names may not exist.
func (t *ClaimTried) record(n, seat int) outcome.Record {
	r := outcome.Record{Seat: synod.NodeID(seat), Stopped: sim.Finished, Needless: t.Rand.IntN(2),
		Rereads: t.Rand.IntN(3), Ticks: synod.Tick(t.Rand.IntN(90)),
		Use: llm.Use{Calls: t.Rand.IntN(9), Usage: synod.Usage{Prompt: t.Rand.IntN(500), Completion: t.Rand.IntN(90)}}}
	seats := func() (all []synod.NodeID) {
		for range t.Rand.IntN(3) {
			all = append(all, synod.NodeID(t.Rand.IntN(n+2)-1))
		}
		return all
	}
	for round := range t.Rand.IntN(4) {
		if t.Rand.IntN(5) == 0 {
			continue
		}
		o := &synod.Opinion{Round: round * (1 + 99*t.Rand.IntN(2)), Source: synod.Own,
			Answer: synod.Answer(fmt.Sprint(1 + t.Rand.IntN(3))), From: seats(), Retained: seats(),
			Dropped: seats(), Silent: seats(), Suspects: seats(), Failed: t.Rand.IntN(200),
			Unreadable: t.Rand.IntN(3), Unsure: t.Rand.IntN(2), Reused: t.Rand.IntN(3)}
		if t.Rand.IntN(4) == 0 {
			o.Answer, o.Source = synod.None, synod.Absent
		}
		if t.Rand.IntN(3) == 0 {
			confidence := t.Rand.Float64()
			o.Confidence, o.Record = &confidence, synod.RawRecord(`{"answers":[],"same":[]}`)
		}
		for _, id := range seats() {
			o.Scores = append(o.Scores, synod.Judged{Of: id, Score: synod.Score(t.Rand.Float64())})
		}
		r.Opinions = append(r.Opinions, outcome.Noted{Tick: synod.Tick(round), Opinion: o})
		for range t.Rand.IntN(3) {
			said := outcome.Said{Round: o.Round, ID: synod.ConsultID(t.Rand.IntN(1000))}
			if said.Text = fmt.Sprintf("thought %d", said.ID); t.Rand.IntN(3) > 0 {
				said.Words = fmt.Sprintf("words %d", said.ID)
			}
			r.Said = append(r.Said, said)
		}
	}
	for _, s := range synod.Statuses() {
		for range t.Rand.IntN(3) {
			r.Statuses.Count(s)
		}
	}
	if t.Rand.IntN(3) == 0 {
		r.Unread.Replies = 1 + t.Rand.IntN(3)
	}
	for range t.Rand.IntN(3) {
		r.Late = append(r.Late, outcome.LateCall{Round: t.Rand.IntN(3)})
	}
	return r
}

// rounds lists what the seats noted, round by round.
func rounds(p *plan.Plan, records []outcome.Record) []outcome.Round {
	all := []outcome.Round{}
	for t := range 400 {
		round := outcome.Round{T: t}
		for i := range records {
			for _, o := range records[i].Opinions {
				if o.Round == t {
					round.Members = append(round.Members, seatOf(p, &records[i], o.Opinion))
				}
			}
		}
		if len(round.Members) > 0 {
			all = append(all, round)
		}
	}
	return all
}

// seatOf is an opinion as an outcome tells it.
func seatOf(p *plan.Plan, r *outcome.Record, o *synod.Opinion) outcome.RoundSeat {
	names := func(seats []synod.NodeID) []string {
		list := []string{}
		for _, id := range seats {
			if 0 <= id && int(id) < len(p.Seats()) {
				list = append(list, p.Seats()[id].ID)
			}
		}
		return list
	}
	s := outcome.RoundSeat{ID: p.Seats()[r.Seat].ID, Source: o.Source, Confidence: o.Confidence, From: names(o.From),
		Scores: outcome.Scores{}, Retained: names(o.Retained), Dropped: names(o.Dropped), Silent: names(o.Silent),
		Suspects: names(o.Suspects), Failed: o.Failed, Garbled: o.Unreadable, Unsure: o.Unsure}
	if o.Answer != synod.None {
		s.Answer = &o.Answer
	}
	for _, x := range o.Scores {
		if name := names([]synod.NodeID{x.Of}); len(name) > 0 {
			s.Scores = append(s.Scores, outcome.SeatScore{ID: name[0], Score: x.Score})
		}
	}
	last := synod.ConsultID(0)
	for _, said := range r.Said {
		if said.Round == o.Round && (s.Reasoning == "" || said.ID > last) {
			last, s.Reasoning = said.ID, said.Text
		}
	}
	return s
}

// accounts compares what an outcome says of calls with the records.
func (t *ClaimTried) accounts(o *outcome.Outcome, records []outcome.Record, voice []int) {
	var calls outcome.Calls
	var tokens outcome.Tokens
	rereads, ticks, silent := 0, synod.Tick(0), make([]int, len(records))
	models := make([]outcome.ModelResult, slices.Max(voice)+1)
	for i := range records {
		r, m := &records[i], &models[voice[i]]
		calls.Made, calls.Needless, rereads = calls.Made+r.Use.Calls, calls.Needless+r.Needless, rereads+r.Rereads
		tokens.Prompt, tokens.Completion = tokens.Prompt+r.Use.Prompt, tokens.Completion+r.Use.Completion
		ticks = max(ticks, r.Ticks)
		m.Calls, m.Tokens.Prompt = m.Calls+r.Use.Calls, m.Tokens.Prompt+r.Use.Prompt
		last := synod.None
		for _, opinion := range r.Opinions {
			last, calls.Reused = opinion.Answer, calls.Reused+opinion.Reused
			for _, id := range opinion.Silent {
				if 0 <= id && int(id) < len(records) {
					silent[id]++
				}
			}
		}
		t.statuses(r, m, o.Members[i].Calls)
		if o.Decision != synod.None {
			m.Of++
			if last == o.Decision {
				m.Agree++
			}
		}
	}
	t.Check(o.Calls.Made == calls.Made && o.Calls.Needless == calls.Needless && o.Calls.Reused == calls.Reused &&
		o.Tokens == tokens && o.Rereads == rereads && o.Ticks == ticks, "calls %+v, %+v, %d read again, %d ticks; by "+
		"the records %+v, %+v, %d, %d", o.Calls, o.Tokens, o.Rereads, o.Ticks, calls, tokens, rereads, ticks)
	for k, m := range models {
		got := o.Models[k]
		t.Check(got.Calls == m.Calls && got.Tokens.Prompt == m.Tokens.Prompt && got.Unreadable == m.Unreadable &&
			got.Failed == m.Failed && got.Agree == m.Agree && got.Of == m.Of, "model %d: %+v, and by the records %+v",
			k, got, m)
	}
	for i, m := range o.Members {
		t.Check(m.Conduct.Silent == silent[i] && m.Conduct.Late == len(records[i].Late) &&
			m.Conduct.Refused == m.Calls.Of(synod.Refused), "seat %d: %+v, and it was silent %d times", i, m.Conduct,
			silent[i])
	}
}

// statuses compares how calls of a seat ended: a reply that came and that the protocol could not read is unreadable. It
// adds them to those of the seat's model.
func (t *ClaimTried) statuses(r *outcome.Record, m *outcome.ModelResult, got outcome.StatusCount) {
	garbled := 0
	for _, o := range r.Opinions {
		garbled += o.Unreadable
	}
	if r.Unread.Replies > 0 {
		garbled = min(garbled, r.Unread.Replies)
	}
	garbled = min(garbled, r.Statuses.Of(synod.OK))
	for _, s := range synod.Statuses() {
		want := r.Statuses.Of(s)
		switch s {
		case synod.OK:
			want -= garbled
		case synod.Unreadable:
			want += garbled
			m.Unreadable += want
		case synod.Dropped:
		default:
			m.Failed += want
		}
		t.Check(got.Of(s) == want, "seat %d: %d calls are %s, and by its record %d", r.Seat, got.Of(s), s, want)
	}
}

// judgedAgain computes the outcome of a run from its journal, and the entry of a ledger.
func judgedAgain(t *ClaimTried) {
	r, dir, ok := t.journalled()
	defer t.remove(dir)
	defer r.close()
	if !ok {
		return
	}
	kept, err := journal.Load(r.ask.Journal)
	if !t.Need(err) {
		return
	}
	p, in := r.council.Plan(), outcome.InstanceOf(kept)
	records := outcome.RecordsOf(p, kept)
	again, err := plain(outcome.Judge(p, in, records))
	first, err1 := plain(r.outcome)
	if t.Need(err) && t.Need(err1) {
		t.Check(bytes.Equal(again, first), "the outcome %s, and from its journal %s", first, again)
	}
	t.entry(&r, p, kept, records)
}

// entry compares the entry of a run in a ledger with the run.
func (t *ClaimTried) entry(r *run, p *plan.Plan, kept *journal.Run, records []outcome.Record) {
	keep := t.Rand.IntN(2) == 0
	e, err := outcome.LedgerEntry(p, kept, keep)
	t.Check((err == nil) == (r.outcome.Decision != synod.None), "%q is decided, and its entry: %v",
		r.outcome.Decision, err)
	if err != nil {
		return
	}
	in := outcome.InstanceOf(kept)
	texts := map[string]string{"question": in.Question.Text, "answer": string(r.outcome.Decision)}
	for i := range records {
		if all := records[i].Opinions; len(all) > 0 {
			b, err := json.Marshal(all[len(all)-1].Opinion)
			if !t.Need(err) {
				return
			}
			texts["record "+p.Seats()[i].ID] = string(b)
		}
	}
	t.Check(len(e.Parts) == len(texts) && e.Instance == string(p.InstanceID(in)) &&
		fmt.Sprintf("%x", e.Council) == p.Digest(), "the entry of %s has %d parts, and there are %d texts", e.Instance,
		len(e.Parts), len(texts))
	for _, part := range e.Parts {
		text, known := texts[part.Name]
		sum := sha256.Sum256([]byte(text))
		t.Check(known && bytes.Equal(part.Sum, sum[:]) && (string(part.Body) == text || !keep && len(part.Body) == 0),
			"the part %q holds %q, and the run has %q", part.Name, part.Body, text)
	}
}

// plain is an outcome without what only the program that asked can know.
func plain(o outcome.Outcome) ([]byte, error) {
	o.Seconds, o.Journal, o.Digest, o.Money, o.Cost = 0, "", "", llm.Money{}, nil
	o.Models = slices.Clone(o.Models)
	for i := range o.Models {
		o.Models[i].Cost, o.Models[i].Served = nil, ""
	}
	return json.Marshal(o)
}
