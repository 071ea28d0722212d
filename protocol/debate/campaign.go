package debate

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Ordinary(10, "{}", "{rounds: 2}", "{rounds: 3}", "{rounds: 0}", "{rationale: 0}").At(12)
	s.Council = "{name: debate, rounds: 1}"
	s.Watch, s.Check, s.States = check.KeepDiary, checkRounds, append(s.States, "echo")
	return s.Deciding("I-DB-D", "each member is shown all answers that it heard and holds what its model then says, "+
		"and the rule counts", "Du et al.", nil)
}()

// checkRounds checks what members are shown and what they hold then. A prompt that is answered from memory is no call.
func checkRounds(t *check.Trace) {
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		checkReasons(t, i)
		for k := 1; k < len(notes); k++ {
			calls := t.AskedFor(i, k, synod.Refining)
			if len(calls) == 0 {
				checkSilent(t, i, k)
				checkRemembered(t, i, k)
				continue
			}
			c, own := &calls[len(calls)-1], notes[k-1].Answer
			from, all := t.Answers(i, k-1, c.Heard)
			t.Credited("I-DB-D", i, k, t.Told(i, k), from, all)
			heard, shown := t.Listed(i, from, all), shownIn(c)
			t.Claim("I-DB-D", slices.Equal(heard, shown), "n%d is shown %q in round %d, and heard %q", i, shown, k,
				heard)
			want := c.Prompt.Own
			if a, _, ok := read.Answer(t.Question, &c.Reply, false); ok {
				want = a
			}
			t.Claim("I-DB-D", notes[k].Answer == want && (own == synod.None || c.Prompt.Own == own),
				"n%d holds %q after round %d, and its model says %q; it held %q and is shown %q as its own", i,
				notes[k].Answer, k, want, own, c.Prompt.Own)
		}
	}
}

// checkReasons checks the reasoning that a member is shown beside each answer: it is that of its sender. It is missing
// if it repeats what others said in earlier rounds, and the defence drop-echoes is on.
func checkReasons(t *check.Trace, i int) {
	var echoes reference.Echoes
	seat := synod.Seat{Question: t.Question, Guards: t.Guards}
	for k := 1; k < len(t.Notes[i]); k++ {
		calls, until := t.AskedFor(i, k, synod.Refining), t.Diaries[i].Noted[k].Heard
		if len(calls) > 0 {
			until = calls[len(calls)-1].Heard
		}
		from, all := t.Answers(i, k-1, until)
		var round []reference.Said
		for n, r := range all {
			text := answer.Shown(&seat, r.Rationale, t.Protocol.(*Debate).Rationale)
			round = append(round, reference.Said{From: from[n], Text: text})
		}
		var own synod.Response
		if sent := t.SentIn(i, synod.Slot{Name: synod.Respond, Round: k - 1}); sent != nil &&
			own.UnmarshalBinary(sent.Body) == nil {
			round = append(round, reference.Said{From: synod.NodeID(i), Text: own.Rationale})
		}
		repeats := echoes.Hear(round)
		if len(calls) == 0 || len(calls[len(calls)-1].Prompt.Peers) != len(from) { // which is a claim of its own
			continue
		}
		for place, id := range t.Drawn(i, from) {
			n, shown := slices.Index(from, id), calls[len(calls)-1].Prompt.Peers[place].Rationale
			want := round[n].Text
			if t.Guards.DropEchoes && repeats[n] {
				want = ""
			}
			t.State("echo", repeats[n])
			t.Claim("I-DB-D", shown == want, "n%d is shown n%d in round %d with the reasoning %q, and by the "+
				"reference with %q", i, id, k, shown, want)
		}
	}
}

// shownIn returns the answers of others in a prompt.
func shownIn(c *check.Asked) (shown []synod.Answer) {
	for _, p := range c.Prompt.Peers {
		shown = append(shown, p.Answer)
	}
	return shown
}

// checkRemembered checks that a member which called no model in a round had nothing to reconsider, or had been asked
// the same before and holds what its model said then.
func checkRemembered(t *check.Trace, i, k int) {
	own := t.Notes[i][k-1].Answer
	from, all := t.Answers(i, k-1, t.Diaries[i].Noted[k].Heard)
	heard := t.Listed(i, from, all)
	if own == synod.None || len(heard) == 0 || len(t.AskedFor(i, k, synod.Answering)) > 0 {
		return
	}
	d := &t.Diaries[i]
	for n := range d.Asked[:d.Noted[k].Asked] {
		c := &d.Asked[n]
		if c.Prompt.Purpose != synod.Refining || c.Prompt.Own != own || !slices.Equal(shownIn(c), heard) {
			continue
		}
		want := own
		if a, _, ok := read.Answer(t.Question, &c.Reply, false); ok {
			want = a
		}
		if t.Notes[i][k].Answer == want {
			return
		}
	}
	t.Fail("I-DB-D", "n%d holds %q, hears %q, and is asked for no next answer in round %d: it notes %q", i, own, heard,
		k, t.Notes[i][k].Answer)
}

// checkSilent checks who was silent in a round in which a member called no model: it noted its answer when the round
// ended.
func checkSilent(t *check.Trace, i, k int) {
	var silent []synod.NodeID
	from, all := t.Answers(i, k-1, t.Diaries[i].Noted[k].Heard)
	for _, id := range t.Peers[i] {
		if !slices.Contains(from, id) {
			silent = append(silent, id)
		}
	}
	t.Credited("I-DB-D", i, k, t.Told(i, k), from, all)
	calls := len(t.AskedFor(i, k, synod.Answering))
	t.Claim("I-DB-D", calls > 0 || slices.Equal(silent, t.Notes[i][k].Silent), "n%d calls %v silent in round %d; "+
		"these were: %v", i, t.Notes[i][k].Silent, k, silent)
}
