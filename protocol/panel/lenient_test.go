package panel

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Where more than F members graded nothing, a lenient panel decides by the grades that came, and says that its
// guarantee does not hold. Within F it decides as a strict one.
func TestLenient(t *testing.T) {
	const f, s, silent = 2, Supported, Verdict("silent")
	lenient := New()
	lenient.Lenient = true
	for _, x := range []struct {
		verdicts [6]Verdict
		strict   bool // whether a strict panel decides
		want     string
	}{
		{[6]Verdict{s, s, s, s, s, s}, true, ""},
		{[6]Verdict{s, s, s, s, silent, silent}, true, ""},
		{[6]Verdict{s, s, s, silent, silent, silent}, false, "3 of 7 members graded no answer, and f is 2"},
		{[6]Verdict{silent, silent, silent, silent, silent, silent}, false, "6 of 7 members graded no answer"},
	} {
		last := opinionsOf(x.verdicts)
		want, enough, _ := New().Accept(last, nil, f, nil)
		got, decides, why := lenient.Accept(last, nil, f, nil)
		if enough != x.strict || !decides || got == synod.None || x.strict && got != want {
			t.Errorf("%v: %q, strict %q %v", x.verdicts, got, want, enough)
		}
		forfeits := lenient.Forfeits(last, f)
		if (forfeits == "") != (x.want == "") || !strings.Contains(forfeits, x.want) || !strings.Contains(why, x.want) {
			t.Errorf("%v: %s; %s", x.verdicts, why, forfeits)
		}
		if New().Forfeits(last, f) != "" {
			t.Errorf("%v: a strict panel decides outside of its bound", x.verdicts)
		}
	}
}

// A text that nobody graded has 50 of 100: it is chosen before one that is graded below, and after one that is graded
// above. A single text is chosen.
func TestUngraded(t *testing.T) {
	p := New()
	p.Lenient = true
	name := func(id synod.NodeID) string { return fmt.Sprint("m", id) }
	for points, want := range map[float64]synod.Answer{5: "One.", 15: "Two."} {
		last := []synod.Opinion{
			{Answer: "One.", Record: &Record{Given: sumOf("One."), Marks: []Mark{markOf(1, "Two.", points)}}},
			{Answer: "Two.", Record: &Record{Given: sumOf("Two.")}}}
		if got, _, why := p.Accept(last, nil, 0, nil); got != want {
			t.Errorf("%v points: %q (%s)", points, got, why)
		}
	}
	alone := []synod.Opinion{{Answer: "One.", Record: &Record{Given: sumOf("One.")}}, {Record: &Record{}}}
	got, enough, why := p.Accept(alone, nil, 0, nil)
	if got != "One." || !enough || !strings.Contains(why, "nobody graded it") {
		t.Errorf("%q, %v: %s", got, enough, why)
	}
	head := p.Present(alone, protocol.View{Name: name, Accepted: got}).Head
	if !strings.Contains(head, "m0; no other") {
		t.Error(head)
	}
	if got, enough, _ := p.Accept(alone[1:], nil, 0, nil); got != synod.None || enough {
		t.Errorf("no text: %q", got)
	}
	if p.CheckCast(make([]synod.Role, 1), 0) != nil || New().CheckCast(make([]synod.Role, 1), 0) == nil {
		t.Error("one seat")
	}
}
