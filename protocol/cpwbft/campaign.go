package cpwbft

import (
	"math"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = check.Subject{
	Place: 7, Exchanges: true, Share: 12,
	Claims: []check.Claim{
		{ID: "I-CP-1", Property: "the decision is that of Eq. 4: the answer with the highest mean confidence",
			Model: check.Any, Source: "CP-WBFT Eq. 4"},
		{ID: "I-CP-2", Property: "every confidence that a member goes by is in [0,1]", Model: check.Any,
			Source: "CP-WBFT §4",
			Margin: "distance from 0 or 1"},
		{ID: "I-CP-3", Property: "the order of members changes nothing in the decision", Model: check.Any,
			Source: "own"},
	},
	States: []string{"answer own", "answer kept", "answer adopted", "answer absent", "tie of means", "no confidence"},
	Setup: func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(4)
		x.F = 1 + c.IntN((x.N-1)/2)
		x.Params = settings[c.IntN(len(settings))]
	},
	Horizon: func(*check.Case) synod.Tick { return 20 },
	Check:   func(t *check.Trace) { checkDecision(t); checkAdopted(t) }, Watch: check.KeepDiary,
	Trials: []check.Trial{
		{Claim: check.Claim{ID: "I-CP-4", Property: "one member with the confidence 1 takes the decision from any " +
			"number with less: cp-wbft claims nothing, and this says that it is still the protocol of the paper",
			Model: check.Sync, Source: "CP-WBFT Eq. 4, finding F8", Margin: "honest members beyond the first"},
			Kind: check.Rules, Try: oneLiar},
	},
}.Deciding("I-CP-D", "what each member adopts, and that of Eq. 4 or the answer that enough members end on",
	"CP-WBFT §4", conclude)

// settings are parameters of executions. There are few, because a plan is made for each.
var settings = []string{"{}", "{rounds: 2}", "{adopt: pooled}", "{weigh: reference}", "{probe: none, adopt: majority}",
	"{rounds: 2, reflect: true}", "{rounds: 0, weigh: reference}", "{rounds: 0}", "{adopt: none, weigh: reference}",
	"{rounds: 2, adopt: pooled, probe: random}", "{probe: random, weigh: reference}", "{probe: likelihood, rounds: 2}",
	"{adopt: majority, rounds: 2}", "{adopt: pooled, reflect: true}", "{adopt: majority, reflect: true, weigh: " +
		"reference}",
	"{probe: none, adopt: none, reflect: true, rounds: 2}"}

// checkDecision compares stage 2 with Eq. 4, by the letter, in exact fractions.
func checkDecision(t *check.Trace) {
	p := t.Protocol.(*CPWBFT)
	var last []synod.Opinion
	for i := range t.Notes {
		if o := t.Last(i); o != nil {
			last = append(last, *o)
		}
		for _, n := range t.Notes[i] {
			if t.Honest(synod.NodeID(i)) && n.Confidence != nil {
				c := *n.Confidence
				t.Claim("I-CP-2", c >= 0 && c <= 1, "n%d has the confidence %v", i, c)
				t.Margin("I-CP-2", min(c, 1-c))
			}
			t.State("no confidence", n.Confidence == nil && n.Answer != synod.None)
			t.Claim("I-CP-2", p.Probe != RandomProbe || n.Round > 0 || !t.Plain(synod.NodeID(i)) ||
				(n.Confidence != nil) == (n.Answer != synod.None), "n%d gives %q with the drawn confidence %v", i,
				n.Answer, n.Confidence)
		}
	}
	got := p.Conclude(last)
	want, tie := reference.HighestMean(confident(last), p.Weigh == Half)
	t.Claim("I-CP-1", got == want, "it decides %q, and Eq. 4 gives %q: %v", got, want, last)
	t.State("tie of means", tie)
	shuffled := slices.Clone(last)
	rand.New(rand.NewPCG(t.Case.Seed, 4)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	t.Claim("I-CP-3", p.Conclude(shuffled) == got, "another order decides %q and not %q", p.Conclude(shuffled), got)
}

// confident returns the answers of opinions with their confidences; a missing one is 0.
func confident(last []synod.Opinion) (all []reference.Confident) {
	for _, o := range last {
		c := reference.Confident{Answer: o.Answer}
		if o.Confidence != nil {
			c.Sure = *o.Confidence
		}
		all = append(all, c)
	}
	return all
}

// conclude is the decision of a council whose rule is that of the protocol, in every second execution.
func conclude(t *check.Trace) (s reference.Step) {
	if s.Decides = t.Case.Sampled(2); !s.Decides {
		return s
	}
	last := make([]synod.Opinion, t.Case.N)
	for i := range last {
		if o := t.Last(i); o != nil {
			last[i] = *o
			if _, ok := read.Canonical(t.Question, string(o.Answer)); !ok { // a forged note may have any answer
				last[i].Answer = synod.None
			}
		}
	}
	s.Answer, _ = reference.HighestMean(confident(last), t.Protocol.(*CPWBFT).Weigh == Half)
	return s
}

// checkAdopted compares what each member adopts with the reference, from what it heard. A member that reflects holds
// what its model says in between.
func checkAdopted(t *check.Trace) {
	p := t.Protocol.(*CPWBFT)
	for i, notes := range t.Notes {
		if !t.Plain(synod.NodeID(i)) {
			continue
		}
		for k := 1; k < len(notes); k++ {
			own, until := toldSurely(t, i, k), t.Diaries[i].Noted[k].Heard
			told := own.Answer
			call := reflection(t, i, k)
			if call != nil {
				until = call.Heard
			}
			var heard []reference.Confident
			var compared []synod.Judged
			from, all := t.Answers(i, k-1, until)
			for n, r := range all {
				heard = append(heard, reference.Confident{Answer: r.Answer, Sure: r.Confidence})
				compared = append(compared, synod.Judged{Of: from[n], Score: synod.Score(r.Confidence)})
			}
			if told != synod.None {
				own = reflected(t, i, k, own, inReflection(t, i, from, heard), call)
				compared = append(compared, synod.Judged{Of: synod.NodeID(i), Score: synod.Score(own.Sure)})
			}
			checkCompared(t, i, notes[k].Scores, compared)
			t.Credited("I-CP-D", i, k, told, from, all)
			first := notes[k-1].Answer == synod.None && told != synod.None && notes[k].Answer == told
			t.Claim("I-CP-D", (notes[k].Source == synod.Own) == first, "n%d was asked again and said %q: %v; it notes "+
				"%s", i, told, first, notes[k].Opinion)
			got := confident([]synod.Opinion{*notes[k].Opinion})[0]
			want := reference.AdoptConfident(string(p.Adopt), own, heard)
			same := got.Answer == want.Answer && (p.Probe == NoProbe || math.Abs(got.Sure-want.Sure) < 1e-9)
			t.Claim("I-CP-D", same, "n%d holds %v and hears %v: it adopts %v, and the reference %v", i, own, heard, got,
				want)
		}
	}
}

// toldSurely returns with which answer a member went into a round, and how sure it was of it.
func toldSurely(t *check.Trace, i, k int) reference.Confident {
	before := t.Notes[i][k-1].Opinion
	own := confident([]synod.Opinion{*before})[0]
	if own.Answer = t.Told(i, k); before.Answer != synod.None {
		return own
	}
	for _, c := range t.AskedFor(i, k, synod.Answering) {
		mode := t.Protocol.(*CPWBFT).ConfidenceMode()
		if given, ok := read.ConfidentAnswer(t.Question, &c.Reply, mode, false); ok && given.Confidence != nil {
			own.Sure = *given.Confidence
		}
	}
	return own
}

// checkCompared compares the confidences that a member notes with its own and those that it heard.
func checkCompared(t *check.Trace, i int, noted, want []synod.Judged) {
	slices.SortFunc(want, func(a, b synod.Judged) int { return int(a.Of - b.Of) })
	if t.Protocol.(*CPWBFT).Probe == NoProbe {
		want = nil
	}
	t.Claim("I-CP-D", slices.Equal(noted, want), "n%d notes the confidences %v, and by the reference %v", i, noted,
		want)
}

// reflection returns the call in which a member thinks again in a round; nil: there is none.
func reflection(t *check.Trace, i, k int) *check.Asked {
	calls := t.AskedFor(i, k, synod.Refining)
	if len(calls) == 0 {
		return nil
	}
	return &calls[len(calls)-1]
}

// reflected is what a member holds when it adopts: with reflection, what its model said in view of all answers that the
// member heard. A prompt that is answered from memory is no call.
func reflected(t *check.Trace, i, k int, own reference.Confident, heard []synod.Answer, call *check.Asked,
) reference.Confident {
	p := t.Protocol.(*CPWBFT)
	t.Claim("I-CP-D", call == nil || p.Reflect, "n%d thinks again in round %d", i, k)
	if call == nil && p.Reflect && len(heard) > 0 {
		call = remembered(t, i, k, own.Answer, heard)
	}
	if call == nil {
		return own
	}
	t.Claim("I-CP-D", call.Prompt.Own == own.Answer && slices.Equal(shownTo(call), heard),
		"n%d is shown %q and %q as its own in round %d; it holds %q and heard %v", i, shownTo(call), call.Prompt.Own, k,
		own.Answer, heard)
	given, ok := read.ConfidentAnswer(t.Question, &call.Reply, p.ConfidenceMode(), false)
	if !ok || call.Reply.Status != synod.OK {
		return own
	}
	if given.Answer != own.Answer {
		own = reference.Confident{Answer: given.Answer}
	}
	if given.Confidence != nil {
		own.Sure = *given.Confidence
	}
	return own
}

// remembered returns an earlier call with the same prompt; nil: there is none.
func remembered(t *check.Trace, i, k int, own synod.Answer, heard []synod.Answer) *check.Asked {
	d := &t.Diaries[i]
	for n := range d.Asked[:d.Noted[k].Asked] {
		c := &d.Asked[n]
		if c.Prompt.Purpose == synod.Refining && c.Prompt.Own == own && slices.Equal(shownTo(c), heard) {
			return c
		}
	}
	t.Fail("I-CP-D", "n%d does not think again in round %d", i, k)
	return nil
}

// shownTo are the answers in a prompt.
func shownTo(c *check.Asked) (all []synod.Answer) {
	for _, p := range c.Prompt.Peers {
		all = append(all, p.Answer)
	}
	return all
}

// inReflection returns answers in the order in which a member that reflects is shown them: as it draws, or by their
// bytes.
func inReflection(t *check.Trace, i int, from []synod.NodeID, heard []reference.Confident) (all []synod.Answer) {
	for _, id := range t.Drawn(i, from) {
		all = append(all, heard[slices.Index(from, id)].Answer)
	}
	if !t.Guards.DrawOrder {
		slices.Sort(all)
	}
	return all
}

// oneLiar lets one member be surer of another answer than all others are of theirs.
func oneLiar(t *check.Tried) {
	n := 2 + t.Rand.IntN(12)
	last := make([]synod.Opinion, n)
	for i := range last {
		sure := float64(t.Rand.IntN(1000)) / 1000
		last[i] = synod.Opinion{Answer: "true", Source: synod.Own, Confidence: &sure}
	}
	at := t.Rand.IntN(n)
	all := 1.0
	last[at].Answer, last[at].Confidence = "false", &all
	for _, weigh := range []Weigh{Everyone, Half} {
		p := New()
		p.Weigh = weigh
		got := p.Conclude(last)
		t.Check(got == "false", "%d members with less than 1 and one with 1 decide %q", n-1, got)
	}
	t.Spare(float64(n - 2))
}
