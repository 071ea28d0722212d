package majority

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Ordinary(6, "{}", "{}", "{same: members}").At(13)
	draw := s.Setup
	s.Setup = func(c check.Chance, x *check.Case) {
		if draw(c, x); x.Params != "{}" {
			x.Form = synod.Text
		}
	}
	s.Watch, s.Reply, s.Check = check.KeepDiary, saysSame, checkMeanings
	s.Council, s.Relies = "{name: majority}", []string{"WI-1"}
	s.Trials = []check.Trial{{Claim: check.Claim{ID: "I-MV-C", Model: check.Any, Source: "own", Property: "of the " +
		"answers of others a member compares those that most of them gave, at most 12, and not its own"},
		Kind: check.Rules, Try: tryCompared}}
	return s.Deciding("I-MV-D", "the answer that enough members gave, by the rule, and what members say of the "+
		"meanings of others' answers", "own", nil)
}()

// saysSame makes simulated members call some answers the same, and some leave out the last verdict.
func saysSame(t *check.Trace, by synod.NodeID, q *synod.Prompt, r synod.Reply) synod.Reply {
	d, ok := q.Detail.(Comparing)
	if !ok {
		return r
	}
	verdicts := map[string]string{}
	for k := range d.Pairs {
		verdicts[d.Key(k)] = []string{same, different}[check.Mix(t.Case.Seed^uint64(by)<<8^uint64(k))%2]
	}
	if check.Mix(t.Case.Seed^uint64(by)<<16)%16 == 0 {
		delete(verdicts, d.Key(len(d.Pairs)-1))
	}
	b, _ := json.Marshal(verdicts) // texts
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

// checkMeanings compares what members note about the answers of others with what they heard and their models said.
func checkMeanings(t *check.Trace) {
	strangePairs(t)
	for i, notes := range t.Notes {
		if !t.Protocol.(*Majority).Same || len(notes) < 2 || !t.Plain(synod.NodeID(i)) {
			continue
		}
		calls, until := t.AskedFor(i, 1, comparing), t.Diaries[i].Noted[1].Heard
		if len(calls) > 0 {
			until = calls[0].Heard
		}
		want := othersOf(t, i, notes[0].Answer, until)
		m, _ := synod.RecordOf[Meanings](notes[1].Opinion)
		if len(want) < 2 {
			t.Claim("I-MV-D", len(calls) == 0 && m == nil, "n%d compares %v; it heard %q of others", i, m, want)
			continue
		}
		if t.Claim("I-MV-D", len(calls) == 1, "n%d compares %q with %d calls", i, want, len(calls)); len(calls) != 1 {
			continue
		}
		checkCompared(t, i, want, &calls[0], m)
	}
}

// strangePairs checks what counts of the pairs that a member notes. Records of others come from their machines, so that
// their numbers may be those of no answer.
func strangePairs(t *check.Trace) {
	var m Meanings
	var want [][2]synod.Answer
	draw := func(k, n uint64) int { return int(check.Mix(t.Case.Seed^k<<8) % n) }
	for k := range uint64(draw(1, 4)) {
		m.Answers = append(m.Answers, synod.Answer('a'+rune(k)))
	}
	n := len(m.Answers)
	for k := range uint64(4) {
		pair := [2]int{draw(2*k+2, uint64(n+3)) - 1, draw(2*k+3, uint64(n+3)) - 1}
		m.Same = append(m.Same, pair)
		if i, j := pair[0], pair[1]; i >= 0 && i < n && j >= 0 && j < n {
			want = append(want, [2]synod.Answer{m.Answers[i], m.Answers[j]})
		}
	}
	p := t.Protocol.(*Majority)
	for _, more := range []int{0, 1} { // as many answers or pairs as are read, and one more
		answers, all := make([]synod.Answer, MaxCompared+more), make([][2]int, MaxCompared*MaxCompared+more)
		_, read := p.SamePairs(&synod.Opinion{Record: &Meanings{Answers: answers}})
		_, too := p.SamePairs(&synod.Opinion{Record: &Meanings{Answers: answers[:1], Same: all}})
		t.Claim("I-MV-D", read == (more == 0) && too == read, "records of %d answers and of %d pairs are read: %v, %v",
			len(answers), len(all), read, too)
	}
	pairs, asked := p.SamePairs(&synod.Opinion{Record: &m})
	t.Claim("I-MV-D", asked && slices.Equal(pairs, want), "of the record %+v count %v", m, pairs)
}

// othersOf returns the different answers of others that a member heard and did not give itself, ascending.
func othersOf(t *check.Trace, i int, own synod.Answer, until int) (all []synod.Answer) {
	_, heard := t.Answers(i, 0, until)
	for _, r := range heard {
		if r.Answer != own && !slices.Contains(all, r.Answer) {
			all = append(all, r.Answer)
		}
	}
	slices.Sort(all)
	return all
}

// checkCompared compares a call about meanings, and what a member noted of it.
func checkCompared(t *check.Trace, i int, want []synod.Answer, c *check.Asked, m *Meanings) {
	d := c.Prompt.Detail.(Comparing)
	pairs, readable := d.read(&c.Reply)
	n := len(want)
	t.Claim("I-MV-D", len(d.Answers) == n && len(d.Pairs) == n*(n-1)/2, "n%d is shown %+v of %q", i, d, want)
	t.Claim("I-MV-D", (m != nil) == readable, "n%d notes %v of the reply %+v", i, m, c.Reply)
	if said, whole := verdictsOf(d, &c.Reply); said != nil {
		t.Claim("I-MV-D", readable == whole && (!whole || slices.Equal(pairs, said)), "n%d reads %v in the reply %+v, "+
			"which has all verdicts: %v", i, pairs, c.Reply, whole)
	}
	if m == nil {
		return
	}
	t.Claim("I-MV-D", slices.Equal(slices.Sorted(slices.Values(m.Answers)), want) && slices.Equal(m.Same, pairs),
		"n%d notes %+v; its model was shown %+v and calls %v the same", i, m, d, pairs)
}

// verdictsOf returns the pairs that a reply of saysSame calls the same, which is not nil, and whether it has all
// verdicts; nil if it is not such a reply.
func verdictsOf(d Comparing, r *synod.Reply) (pairs [][2]int, whole bool) {
	var said map[string]string
	if r.Status != synod.OK || json.Unmarshal([]byte(r.Text), &said) != nil {
		return nil, false
	}
	pairs, known := [][2]int{}, 0
	for k, pair := range d.Pairs {
		switch said[d.Key(k)] {
		case same:
			pairs, known = append(pairs, pair), known+1
		case different:
			known++
		}
	}
	if known < len(said) {
		return nil, false
	}
	return pairs, known == len(d.Pairs)
}

// tryCompared draws what a member hears, more different answers than are compared among it.
func tryCompared(t *check.Tried) {
	var heard []answer.Heard
	kinds, votes := 1+t.Rand.IntN(2*MaxCompared), map[synod.Answer]int{}
	for k := range t.Rand.IntN(3 * MaxCompared) {
		a := synod.Answer(fmt.Sprintf("place %02d", t.Rand.IntN(kinds)))
		heard = append(heard, answer.Heard{From: synod.NodeID(k), Value: synod.Response{Answer: a}})
		votes[a]++
	}
	own := synod.Answer(fmt.Sprintf("place %02d", t.Rand.IntN(kinds)))
	delete(votes, own)
	got := compared(&synod.Seat{Seed: t.Rand.Uint64()}, own, heard)
	var want []synod.Answer
	for n := len(heard); n > 0; n-- {
		for _, a := range slices.Sorted(maps.Keys(votes)) {
			if votes[a] == n && len(want) < 12 {
				want = append(want, a)
			}
		}
	}
	t.Check(slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))), "a member with %q "+
		"that hears %v compares %q, want %q", own, votes, got, want)
}
