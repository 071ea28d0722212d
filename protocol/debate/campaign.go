package debate

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = func() check.Subject {
	s := check.Ordinary(10, "{}", "{rounds: 2}", "{rounds: 3}", "{rounds: 0}", "{rationale: 0}").At(12)
	s.Council = "{name: debate, rounds: 1}"
	s.Watch, s.Check = check.KeepDiary, checkRounds
	return s.Deciding("I-DB-D", "each member is shown all answers that it heard and holds what its model then says, "+
		"and the rule counts", "Du et al.", nil)
}()

// checkRounds checks what members are shown and what they hold then. A prompt that is answered from memory is no call.
func checkRounds(t *check.Trace) {
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		for k := 1; k < len(notes); k++ {
			calls := t.AskedFor(i, k, synod.Refining)
			if len(calls) == 0 {
				checkSilent(t, i, k)
				checkRemembered(t, i, k)
				continue
			}
			c, own := &calls[len(calls)-1], notes[k-1].Answer
			heard, shown := heardBefore(t, i, k, c.Heard), shownIn(c)
			if t.Guards.DrawOrder { // the order is the member's own
				slices.Sort(heard)
				slices.Sort(shown)
			}
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

// heardBefore returns the readable answers of a round that a member had heard when it had heard so many messages.
func heardBefore(t *check.Trace, i, k, until int) (heard []synod.Answer) {
	_, responses := t.Responses(i, k-1, until)
	for _, r := range responses {
		if a, ok := read.Canonical(t.Question, string(r.Answer)); ok {
			heard = append(heard, a)
		}
	}
	return heard
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
	heard := heardBefore(t, i, k, t.Diaries[i].Noted[k].Heard)
	if own == synod.None || len(heard) == 0 || len(t.AskedFor(i, k, synod.Answering)) > 0 {
		return
	}
	slices.Sort(heard)
	d := &t.Diaries[i]
	for n := range d.Asked[:d.Noted[k].Asked] {
		c := &d.Asked[n]
		shown := shownIn(c)
		slices.Sort(shown)
		if c.Prompt.Purpose != synod.Refining || c.Prompt.Own != own || !slices.Equal(shown, heard) {
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
	from, responses := t.Responses(i, k-1, t.Diaries[i].Noted[k].Heard)
	for _, id := range t.Peers[i] {
		n := slices.Index(from, id)
		if n >= 0 {
			if _, ok := read.Canonical(t.Question, string(responses[n].Answer)); ok {
				continue
			}
		}
		silent = append(silent, id)
	}
	calls := len(t.AskedFor(i, k, synod.Answering))
	t.Claim("I-DB-D", calls > 0 || slices.Equal(silent, t.Notes[i][k].Silent), "n%d calls %v silent in round %d; "+
		"these were: %v", i, t.Notes[i][k].Silent, k, silent)
}
