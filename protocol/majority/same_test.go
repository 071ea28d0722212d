package majority_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol/majority"
)

// compare plays members that give these answers ("": the call fails) and reply to the comparison with said. It returns
// what each is asked to compare, nil if nothing, and its opinions.
func compare(said string, answers ...string) (asked []*majority.Comparing, notes [][]*synod.Opinion) {
	p, n := majority.New(), len(answers)
	p.JoinAnswers()
	machines := make([]synod.Machine, n)
	for i := range machines {
		machines[i] = p.Join(synod.Seat{Self: synod.NodeID(i), Peers: simtest.Neighbours(n, "complete")[i],
			Pace:     synod.Pace{Think: 2, Within: 4},
			Question: &synod.Question{Text: "?", Form: synod.Text}, Seed: script.Derive(1, uint64(i))})
	}
	asked, notes = make([]*majority.Comparing, n), make([][]*synod.Opinion, n)
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		out := make([]synod.Reply, len(calls))
		for i, c := range calls {
			switch d, ok := c.Prompt.Detail.(majority.Comparing); {
			case ok:
				asked[c.Node] = &d
				out[i] = synod.Reply{Status: synod.OK, Text: said}
				if said == "" {
					out[i] = d.Simulate(c.Prompt, synod.Simulation{})
				} else if said == "fails" {
					out[i] = synod.Reply{Status: synod.Refused}
				}
			case answers[c.Node] == "":
				out[i] = synod.Reply{Status: synod.Refused}
			default:
				out[i] = synod.Reply{Status: synod.OK, Text: fmt.Sprintf(`{"answer":%q}`, answers[c.Node])}
			}
		}
		return out
	}), Watch: func(_ synod.Tick, all []sim.Noted) string {
		for _, x := range all {
			notes[x.Node] = append(notes[x.Node], x.Opinion)
		}
		return ""
	}})
	return asked, notes
}

// A member compares the different answers of others, its own and missing ones aside, if there are two of them.
func TestWhatIsCompared(t *testing.T) {
	for _, c := range []struct {
		answers []string
		want    string // by member 0, sorted
	}{
		{[]string{"Rome", "Paris", "Oslo", "Paris"}, "[Oslo Paris]"}, {[]string{"Rome", "Rome", "Oslo"}, "-"},
		{[]string{"Rome", "Paris", "Oslo", ""}, "[Oslo Paris]"}, {[]string{"", "Paris", "Oslo"}, "[Oslo Paris]"},
		{[]string{"Rome", "Paris", "Paris"}, "-"},
	} {
		got := "-"
		asked, notes := compare("", c.answers...)
		if asked[0] != nil {
			got = fmt.Sprint(slices.Sorted(slices.Values(asked[0].Answers)))
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.answers, got, c.want)
		}
		for round, o := range notes[0] {
			if strings.EqualFold(c.answers[0], string(o.Answer)) && (o.Answer == synod.None || round == 0 ||
				o.Source == synod.Kept) {
				continue
			}
			t.Errorf("%v: the answer changed: %s", c.answers, o)
		}
	}
}

// Of more than twelve answers those with the most authors are compared, of equals the first by their bytes. The order
// is the member's own.
func TestMostCompared(t *testing.T) {
	answers := []string{"zz", "zz"}
	for i := range 15 {
		answers = append(answers, fmt.Sprintf("a%02d", i))
	}
	answers = append(answers, "yy", "yy", "a14")
	asked, _ := compare("", answers...)
	want := "[a00 a01 a02 a03 a04 a05 a06 a07 a08 a09 a14 yy]"
	if got := fmt.Sprint(slices.Sorted(slices.Values(asked[0].Answers))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if slices.Equal(asked[0].Answers, asked[1].Answers) {
		t.Error("two members have the answers in the same order")
	}
	seen := map[[2]int]bool{}
	for _, p := range asked[0].Pairs {
		seen[p] = p[0] < p[1]
	}
	if n := majority.MaxCompared; len(asked[0].Pairs) != n*(n-1)/2 || len(seen) != n*(n-1)/2 {
		t.Errorf("%d pairs, %d of them different", len(asked[0].Pairs), len(seen))
	}
}

// A comparison counts only if it has a known verdict on each pair. The prompt counts answers and pairs from 1.
func TestVerdicts(t *testing.T) {
	p := majority.New()
	for _, c := range []struct {
		said               string
		pairs              int // -1: no comparison is noted
		failed, unreadable int
	}{
		{`{"pair_1":"same","pair_2":"different","pair_3":" SAME "}`, 2, 0, 0},
		{`{"pair_1":"different","pair_2":"different","pair_3":"different"}`, 0, 0, 0},
		{`{"pair_1":"same","pair_2":"different"}`, -1, 0, 1},
		{`{"pair_1":"same","pair_2":"no","pair_3":"same"}`, -1, 0, 1},
		{"all are the same", -1, 0, 1}, {"fails", -1, 1, 0},
	} {
		_, notes := compare(c.said, "Rome", "Paris", "Oslo", "Bern")
		o := notes[0][1]
		pairs, asked := p.SamePairs(o)
		if asked != (c.pairs >= 0) || len(pairs) != max(0, c.pairs) || o.Failed != c.failed ||
			o.Unreadable != c.unreadable {
			t.Errorf("%s: %v, %v: %s", c.said, pairs, asked, o)
		}
	}
	templates, err := prompt.NewTemplates("majority", p.JoinPrompts())
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := compare("", "Rome", "Paris", "Oslo", "Bern")
	chat, err := templates.Render(&synod.Prompt{Template: "majority/same", Purpose: "same", Detail: *asked[0],
		Question: &synod.Question{Text: "?", Form: synod.Text}})
	if err != nil || !strings.Contains(chat.User, "Answer 1:") || !strings.Contains(chat.User, "Answer 3:") ||
		!strings.Contains(chat.User, "pair_3: answer 2 and answer 3") || strings.Contains(chat.User, "nswer 0") {
		t.Errorf("%v: %s", err, chat.User)
	}
}

// Simulated members call answers the same that have the same letters and digits.
func TestSimulatedVerdicts(t *testing.T) {
	_, notes := compare("", "Rome", "U.S.A.", "usa", "Oslo 2", "oslo")
	pairs, _ := majority.New().SamePairs(notes[0][1])
	if len(pairs) != 1 || min(pairs[0][0], pairs[0][1]) != "u.s.a" || max(pairs[0][0], pairs[0][1]) != "usa" {
		t.Errorf("the same: %v", pairs)
	}
}

// Two comparisons ask the same only if they show the same answers and ask for the same pairs.
func TestSameComparison(t *testing.T) {
	d := majority.Comparing{Answers: []string{"a", "b"}, Pairs: [][2]int{{0, 1}}}
	for _, c := range []struct {
		other synod.Detail
		want  bool
	}{
		{majority.Comparing{Answers: []string{"a", "b"}, Pairs: [][2]int{{0, 1}}}, true}, {nil, false},
		{majority.Comparing{Answers: []string{"a", "c"}, Pairs: [][2]int{{0, 1}}}, false},
		{majority.Comparing{Answers: []string{"a", "b"}}, false},
	} {
		if d.Same(c.other) != c.want {
			t.Errorf("%v: %v", c.other, !c.want)
		}
	}
}

// Records come from files and peers: pairs of unknown answers are left out, and records that are too long do not count.
func TestForeignMeanings(t *testing.T) {
	names := make([]synod.Answer, majority.MaxCompared+1)
	for i := range names {
		names[i] = synod.Answer(fmt.Sprint(i))
	}
	const most = majority.MaxCompared * majority.MaxCompared
	p := majority.New()
	for _, c := range []struct {
		record *majority.Meanings
		pairs  int
		asked  bool
	}{
		{&majority.Meanings{Answers: names[:2], Same: [][2]int{{0, 1}, {1, 2}, {2, 0}, {-1, 0}, {1, -1}, {1, 0}}}, 2,
			true},
		{&majority.Meanings{Answers: names[:12], Same: make([][2]int, most)}, most, true},
		{&majority.Meanings{Answers: names[:12], Same: make([][2]int, most+1)}, 0, false},
		{&majority.Meanings{Answers: names, Same: [][2]int{{0, 1}}}, 0, false}, {nil, 0, false},
	} {
		o := &synod.Opinion{}
		if c.record != nil {
			o.Record = c.record
		}
		if pairs, asked := p.SamePairs(o); len(pairs) != c.pairs || asked != c.asked {
			t.Errorf("%s: %d pairs, %v; want %d, %v", c.record, len(pairs), asked, c.pairs, c.asked)
		}
	}
	if _, asked := p.SamePairs(&synod.Opinion{Record: synod.RawRecord(`{"same":7}`)}); asked {
		t.Error("a record that cannot be read counts")
	}
}

// The price of a comparison is one more call and one round for each member.
func TestCallsOfComparing(t *testing.T) {
	p := majority.New()
	degrees := []int{3, 3, 3, 3}
	if calls, rounds := p.Calls(degrees), p.MaxRounds(); calls != 4 || rounds != 0 || p.AllToAll() {
		t.Errorf("%d calls, %d rounds", calls, rounds)
	}
	p.JoinAnswers()
	if calls, rounds := p.Calls(degrees), p.MaxRounds(); calls != 8 || rounds != 1 || !p.AllToAll() {
		t.Errorf("comparing: %d calls, %d rounds", calls, rounds)
	}
}
