package outcome

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// When seats stopped for different reasons, the gravest is the run's.
func TestGravestReason(t *testing.T) {
	p := planOf(t, 2, "")
	for i := 1; i < len(severity); i++ {
		for _, order := range [][]string{{severity[i-1], severity[i]}, {severity[i], severity[i-1]}} {
			records := []Record{notes(0, "1"), notes(1, "1")}
			records[0].Stopped, records[1].Stopped = order[0], order[1]
			if o := Judge(p, plan.Instance{}, records); o.Stopped != severity[i] {
				t.Errorf("%q: the run stopped by %s, want %s", order, o.Stopped, severity[i])
			}
		}
	}
	if o := Judge(p, plan.Instance{}, nil); o.Stopped != Interrupted {
		t.Errorf("without records: %s", o.Stopped)
	}
}

// A breaker is the reason of a run that it stopped, or that has no end on record. Of a run that came to its end only
// an equivocation is, which may have been noted in the last tick.
func TestBreakersOfRecords(t *testing.T) {
	for _, c := range []struct {
		breakers, stopped string
		suspects          bool
		want, trip        string
	}{
		{"no_progress: 1", Tripped, false, Tripped, NoProgress},
		{"no_progress: 1", "", false, Tripped, NoProgress},
		{"no_progress: 1", sim.Finished, false, sim.Finished, ""},
		{"no_progress: 1", PastTime, false, PastTime, ""},
		{"no_progress: 1, equivocation: true", sim.Finished, false, sim.Finished, ""},
		{"equivocation: true", sim.Finished, true, Tripped, Equivocation},
		{"equivocation: true", Tripped, true, Tripped, Equivocation},
		{"equivocation: true", "", true, Tripped, Equivocation},
		{"equivocation: true", "", false, Interrupted, ""},
		{"equivocation: true", PastTime, true, PastTime, ""},
		{"quorum: true", sim.Finished, true, sim.Finished, ""},
		{"", "", true, Interrupted, ""},
	} {
		records := []Record{notes(0, "1", "1"), notes(1, "2", "2"), notes(2, "3", "3")}
		for i := range records {
			records[i].Stopped = c.stopped
			if c.suspects {
				records[i].Opinions[1].Suspects = []synod.NodeID{2}
			}
		}
		o := Judge(planOf(t, 3, "f: 0\nbreakers: {"+c.breakers+"}\n"), plan.Instance{}, records)
		trip := ""
		if o.Trip != nil {
			trip = o.Trip.Breaker
		}
		if o.Stopped != c.want || trip != c.trip {
			t.Errorf("{%s}, stopped by %q: %s, breaker %q; want %s, %q", c.breakers, c.stopped, o.Stopped, trip, c.want,
				c.trip)
		}
		if c.trip == NoProgress && o.Trip.Round != 1 {
			t.Errorf("{%s}: round %d", c.breakers, o.Trip.Round)
		}
	}
	// A breaker sees the notes of a tick together: here two seats go on in the tick in which the third follows.
	records := []Record{notes(0, "1", "1", "2"), notes(1, "2", "2", "3"), notes(2, "3", "4")}
	records[2].Opinions[1].Tick = 2
	for i := range records {
		records[i].Stopped = ""
	}
	if o := Judge(planOf(t, 3, "f: 1\nbreakers: {no_progress: 1}\n"), plan.Instance{}, records); o.Trip == nil ||
		o.Trip.Round != 1 || !strings.Contains(o.Trip.Detail, "F=1") {
		t.Errorf("%+v", o.Trip)
	}
}

// After a breaker for too few members a run is degraded; after another one it is undecided, with the breaker's reason.
func TestReasonOfABreaker(t *testing.T) {
	p := planOf(t, 3, "f: 0\nbreakers: {no_progress: 1, quorum: true}\n")
	records := []Record{notes(0, "1", "1"), notes(1, "2", "2"), notes(2, "3", "3")}
	for i := range records {
		records[i].Stopped = Tripped
	}
	if o := Judge(p, plan.Instance{}, records); o.Status != Undecided || !strings.HasPrefix(o.Reason,
		"no answer changed in 1") ||
		!strings.Contains(o.Reason, "; until then 1 of 3 chose") {
		t.Errorf("%s: %s", o.Status, o.Reason)
	}
	for i := range records[1:] {
		for k := range records[1+i].Opinions {
			records[1+i].Opinions[k].Opinion = &synod.Opinion{Round: k}
		}
		records[1+i].Statuses = StatusCount{}.with(synod.Unavailable)
	}
	if o := Judge(p, plan.Instance{}, records); o.Status != Degraded || o.Trip.Breaker != NoQuorum {
		t.Errorf("%s: %s, %+v", o.Status, o.Reason, o.Trip)
	}
}

// Late seats use up F: those of the round with the most, the first of such rounds, where the claim is about each
// round; otherwise those of the whole run.
func TestLateSeatsOfRounds(t *testing.T) {
	for _, c := range []struct {
		protocol string
		late     map[int][]LateCall
		shown    string
		note     string // "": the claim is as it was
		holds    bool
	}{
		{"sac", nil, "[]", "", true},
		{"sac", map[int][]LateCall{1: {{2, true}}}, "[a2]", "", true},
		{"sac", map[int][]LateCall{1: {{0, false}}}, "[a2]",
			"late in one round (a2) used up 1 of F=2, so it holds with at " +
				"most 1 Byzantine", true},
		{"sac", map[int][]LateCall{1: {{0, false}}, 3: {{1, false}}}, "[a2 a4]", "(a2) used up 1 of F=2", true},
		{"sac", map[int][]LateCall{0: {{0, false}}, 1: {{1, false}}, 3: {{1, false}}}, "[a1 a2 a4]",
			"(a2, a4) used up 2 of F=2, so it holds with at most 0", true},
		{"sac", map[int][]LateCall{1: {{0, false}}, 2: {{0, false}}, 3: {{0, false}}}, "[a2 a3 a4]",
			"more seats than f, 2, were late in one round: a2, a3, a4", false},
		{"w-msr", map[int][]LateCall{1: {{0, false}}, 3: {{1, false}}}, "[a2 a4]", "late (a2, a4) used up 2 of F=2",
			true},
		{"w-msr", map[int][]LateCall{1: {{0, false}}, 2: {{3, true}}}, "[a2 a3]", "late (a2) used up 1 of F=2", true},
	} {
		p := planOf(t, 7, "f: 2\nprotocol: {name: "+c.protocol+", rounds: 4}\n")
		var records []Record
		for i := range 7 {
			r := notes(synod.NodeID(i), "1", "1", "1", "1", "1")
			r.Late = c.late[i]
			records = append(records, r)
		}
		o := Judge(p, plan.Instance{}, records)
		if fmt.Sprint(o.Late) != c.shown || (o.Bound.Guarantee != plan.None) != c.holds ||
			!strings.Contains(o.Bound.Note,
				c.note) ||
			c.note == "" && o.Bound != p.Bound() {
			t.Errorf("%s, %v: late %v, %s, %q", c.protocol, c.late, o.Late, o.Bound.Guarantee, o.Bound.Note)
		}
	}
}

// What the members of an outcome show of their calls, of their spelling and of what others saw of them.
func TestMembersOfOutcomes(t *testing.T) {
	p := planOf(t, 3, "")
	r := []Record{notes(0, "1", "2", "2"), notes(1, "2", "2", "2"), notes(2, "3", "3")}
	r[0].Opinions[0].Surface, r[0].Opinions[1].Surface = "one", "two\nof them"
	r[1].Opinions[0].Surface, r[1].Opinions[1].Surface = "II", "2"
	r[2].Opinions[0].Surface, r[2].Opinions[1].Surface = "the third", ""
	r[0].Opinions[1].Silent, r[1].Opinions[2].Silent = []synod.NodeID{2, -1, 3}, []synod.NodeID{2, 0}
	for range 5 {
		r[0].Statuses = r[0].Statuses.with(synod.OK)
	}
	r[0].Statuses = r[0].Statuses.with(synod.Refused).with(synod.Refused).with(synod.Unreadable)
	r[0].Opinions[1].Unreadable, r[0].Opinions[2].Unreadable = 1, 2
	r[1].Statuses, r[1].Opinions[0].Unreadable = StatusCount{}.with(synod.OK), 9 // a journal may hold any number
	r[2].Late = []LateCall{{1, true}, {2, false}}
	r[0].Failure = "refused"
	o := Judge(p, plan.Instance{}, r)
	for i, want := range []struct {
		written         string
		ok, bad, silent int
	}{{"two of them", 2, 4, 1}, {"", 0, 1, 0}, {"the third", 0, 0, 2}} {
		m := o.Members[i]
		if m.Written != want.written || m.Calls.Of(synod.OK) != want.ok || m.Calls.Of(synod.Unreadable) != want.bad ||
			m.Conduct.Silent != want.silent || m.Role != "member" || m.Adversary != nil {
			t.Errorf("%s: %+v", m.ID, m)
		}
	}
	if m := o.Members[0]; m.Conduct.Refused != 2 || m.Trouble != "refused" || *m.First != "1" || *m.Final != "2" {
		t.Errorf("%+v", m)
	}
	if m := o.Members[2]; m.Conduct.Late != 2 || *m.Final != "3" {
		t.Errorf("%+v", m)
	}
}

// Members that were never reached are the reason where the protocol decides: all that answer, or more of those that
// vote than F.
func TestUnreachableMembers(t *testing.T) {
	p, err := plan.New(parsed(t, `protocol: {name: decentllms}
f: 1
models: {d: {provider: simulated}}
seats: [{id: w, model: d, role: worker, count: 2}, {id: e, model: d, role: evaluator, count: 4}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dead []int
		want string
	}{
		{nil, ""}, {[]int{0}, ""}, {[]int{0, 1}, "no member that answers could be reached: w1, w2"}, {[]int{2}, ""},
		{[]int{2, 4}, "e1, e3 could not be reached, and f is 1"}, {[]int{0, 2}, ""},
	} {
		records := make([]Record, 6)
		for i := range records {
			records[i].Seat = synod.NodeID(i)
			records[i].Statuses = StatusCount{}.with(synod.OK)
			if slices.Contains(c.dead, i) {
				records[i].Statuses = StatusCount{}.with(synod.Unavailable)
			}
		}
		if got := judgmentOf(p, records).unreachable(); got != c.want {
			t.Errorf("dead %v: %q, want %q", c.dead, got, c.want)
		}
	}
	dead := []Record{{Statuses: StatusCount{}.with(synod.Unavailable)}}
	if got := judgmentOf(planOf(t, 1, ""), dead).unreachable(); got != "" {
		t.Errorf("a rule that counts seats: %q", got)
	}
}

// A model's seats are added up. An adversary's seat and one without a vote have no part in the agreement.
func TestModelsOfOutcomes(t *testing.T) {
	p, err := plan.New(parsed(t, `f: 1
models: {d: {provider: simulated}, e: {provider: simulated}}
seats: [{id: a, model: d, count: 2}, {id: b, model: e}, {id: c, model: d, adversary: {name: replay}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	r := []Record{notes(0, "1"), notes(1, "2"), notes(2, "1"), notes(3, "1")}
	r[0].Use, r[1].Use, r[3].Use = used(2, 10, 1), used(3, 20, 2), used(4, 30, 4)
	r[0].Took, r[1].Took = []int{10, 30}, []int{20}
	r[1].Statuses = StatusCount{}.with(synod.Timeout).with(synod.Dropped).with(synod.Refused)
	r[0].Reported, r[1].Reported = []string{"x"}, []string{"y", "x"}
	o := Judge(p, plan.Instance{}, r)
	if len(o.Models) != 2 || o.Decision != "1" {
		t.Fatalf("%q, %+v", string(o.Decision), o.Models)
	}
	d, e := o.Models[0], o.Models[1]
	if !slices.Equal(d.Seats, []string{"a1", "a2", "c"}) || d.Calls != 9 || d.Tokens != (Tokens{60, 7}) ||
		d.Agree != 1 ||
		d.Of != 2 || d.Failed != 2 || d.Latency == nil || len(d.Reported) != 2 {
		t.Errorf("%+v", d)
	}
	if e.Agree != 1 || e.Of != 1 || e.Calls != 0 || e.Latency != nil || e.Failed != 0 {
		t.Errorf("%+v", e)
	}
	if none := Judge(p, plan.Instance{}, nil); none.Models[0].Of != 0 {
		t.Errorf("without a decision nobody could agree: %+v", none.Models[0])
	}
}

// used is the use of so many requests and tokens.
func used(calls, prompt, completion int) llm.Use {
	return llm.Use{Calls: calls, Usage: synod.Usage{Prompt: prompt, Completion: completion}}
}

func judgmentOf(p *plan.Plan, records []Record) *judgment {
	j := new(judgment)
	j.take(p, plan.Instance{}, records)
	return j
}
