package panel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// opinionsOf are the last opinions of seven members, of whom member 0 wrote the best text. The verdicts of members 1 to
// 6 on its only sentence are given; members graded nothing if their verdict is "silent".
func opinionsOf(verdicts [6]Verdict) []synod.Opinion {
	last := make([]synod.Opinion, 7)
	text := func(i int) synod.Answer { return synod.Answer(fmt.Sprintf("Text %d.", i)) }
	about := Check{Of: 0, Text: sumOf(text(0))}
	for i := range last {
		r, c := &Record{Given: sumOf(text(i))}, about
		last[i] = synod.Opinion{Answer: text(i), Record: r}
		r.Claims = &c
		if i > 0 && verdicts[i-1] == "silent" {
			continue
		} else if i > 0 {
			c.Marks = []Verdict{verdicts[i-1]}
		}
		for of := range last {
			if of != i {
				r.Marks = append(r.Marks, markOf(of, text(of), float64(20-of)))
			}
		}
	}
	return last
}

// More than F critics dispute a sentence, and more than F supporters without so many critics support it. Up to F
// members may grade nothing.
func TestMoreThanF(t *testing.T) {
	const f, s, c, silent = 2, Supported, Contradicted, Verdict("silent")
	for _, x := range []struct {
		verdicts [6]Verdict
		want     protocol.ClaimVerdict
		enough   bool
	}{
		{[6]Verdict{s, s, s, c, c, CannotTell}, protocol.Supported, true},
		{[6]Verdict{s, s, CannotTell, c, c, CannotTell}, protocol.Open, true},
		{[6]Verdict{s, s, s, c, c, c}, protocol.Disputed, true},
		{[6]Verdict{s, s, s, silent, silent, c}, protocol.Supported, true},
		{[6]Verdict{s, s, s, silent, silent, silent}, "", false},
	} {
		last := opinionsOf(x.verdicts)
		a, enough, why := New().Accept(last, nil, f, nil)
		if enough != x.enough || enough && a != "Text 0." {
			t.Errorf("%v: %q, %v: %s", x.verdicts, a, enough, why)
		}
		if claims := New().ListClaims(last, f); x.enough && (len(claims) != 1 || claims[0].Verdict != x.want ||
			len(claims[0].Critics) != count(x.verdicts, c) || len(claims[0].Supporters) != count(x.verdicts, s)) {
			t.Errorf("%v: %+v, want %s", x.verdicts, claims, x.want)
		}
	}
	if a, enough, _ := New().Accept([]synod.Opinion{{Answer: "alone"}}, nil, 0, nil); a != synod.None || !enough {
		t.Errorf("one member, whom nobody grades: %q, %v", a, enough)
	}
}

// A Byzantine author that writes verdicts on its own sentences into its record has no vote on them.
func TestAuthorHasNoVote(t *testing.T) {
	const f, s, c = 2, Supported, Contradicted
	for _, own := range []Verdict{s, c} {
		last := opinionsOf([6]Verdict{s, s, CannotTell, c, c, CannotTell})
		recordOf(&last[0]).Claims.Marks = []Verdict{own}
		claims := New().ListClaims(last, f)
		if len(claims) != 1 || claims[0].Verdict != protocol.Open || len(claims[0].Supporters) != 2 ||
			len(claims[0].Critics) != 2 {
			t.Errorf("the author says %q: %+v", own, claims)
		}
	}
}

// disputing are members of which member 4 wrote the best text; its sentence with "planted" is false. asked sees every
// prompt.
func disputing(sentences []string, asked func(by synod.NodeID, q *synod.Prompt)) *trial {
	p := New()
	p.Claims, p.Drop = true, true
	return &trial{p: p, n: 7, f: 2, reply: func(by synod.NodeID, q *synod.Prompt) synod.Reply {
		asked(by, q)
		return discussing(by, q, 4, sentences, func(synod.NodeID) bool { return false })
	}}
}

// Only an author of disputed sentences writes again, and every judge sees the text that it judges.
func TestWhoWritesAgain(t *testing.T) {
	for what, c := range map[string]struct {
		sentences []string
		want      string
		rewrites  int
	}{
		"disputed":         {[]string{"The Moon pulls.", "This is planted."}, "The Moon pulls.", 1},
		"nothing disputed": {[]string{"The Moon pulls.", "The Sun pulls."}, "The Moon pulls. The Sun pulls.", 0},
	} {
		rewrites := 0
		x := disputing(c.sentences, func(_ synod.NodeID, q *synod.Prompt) {
			switch d := q.Detail.(type) {
			case Rewriting:
				rewrites++
			case Checking:
				want := strings.Join(c.sentences, " ")
				if d.Before != synod.None {
					want = c.want
				}
				if string(q.Candidate) != want {
					t.Errorf("%s: sentences of %q in place of %q", what, q.Candidate, d.Before)
				}
			}
		})
		a, _, why := x.p.Accept(x.play(t), nil, x.f, nil)
		if string(a) != c.want || rewrites != c.rewrites {
			t.Errorf("%s: %q (%s) after %d new texts", what, a, why, rewrites)
		}
	}
}

// mute sends nothing after its grades.
type mute struct{ synod.Machine }

func (w mute) Step(now synod.Tick, e synod.Event) []synod.Effect {
	return slices.DeleteFunc(slices.Clone(w.Machine.Step(now, e)), func(x synod.Effect) bool {
		s, ok := x.(synod.Send)
		return ok && s.Slot.Name != synod.Respond && s.Slot.Name != gradesSlot
	})
}

// Each exchange ends before the next one does, also if all wait for a member that is silent.
func TestSilenceInTheDiscussion(t *testing.T) {
	x := disputing([]string{"The Moon pulls.", "This is planted."}, func(synod.NodeID, *synod.Prompt) {})
	x.wrap = func(by synod.NodeID, m synod.Machine) synod.Machine {
		if by == 1 {
			return mute{m}
		}
		return m
	}
	if a, _, why := x.p.Accept(x.play(t), nil, x.f, nil); a != "The Moon pulls." {
		t.Errorf("%q: %s", a, why)
	}
}

// Where no answer has a total, no scores are shown.
func TestNoScores(t *testing.T) {
	silent := Verdict("silent")
	last := opinionsOf([6]Verdict{silent, silent, silent, silent, silent, silent})
	shown := New().Present(last, protocol.View{F: 2, Name: func(id synod.NodeID) string { return fmt.Sprint("m", id) }})
	if len(shown.Lines) != 7 || slices.ContainsFunc(shown.Lines, func(s string) bool {
		return !strings.Contains(s, " has no score: ")
	}) {
		t.Errorf("%q", shown.Lines)
	}
}

func count(all [6]Verdict, v Verdict) (n int) {
	return len(slices.DeleteFunc(all[:], func(x Verdict) bool { return x != v }))
}
