package council

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// voiced is the plan of a council with one seat for each letter: equal letters are one model at one server.
func voiced(t *testing.T, models, more string) *Plan {
	t.Helper()
	var b strings.Builder
	b.WriteString(more + "models:\n")
	for i, m := range models {
		if strings.IndexRune(models, m) == i {
			fmt.Fprintf(&b, "  %c: {provider: openai, url: 'http://127.0.0.1:1/v1', model: %c}\n", m, m)
		}
	}
	b.WriteString("seats:\n")
	for i, m := range models {
		fmt.Fprintf(&b, "  - {id: s%d, model: %c}\n", i, m)
	}
	p, err := NewPlan(parsed(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Seats of one model at one server are one voice, whatever their settings and names in the council; other servers,
// adversaries and simulated members are not. The key voices counts in other ways.
func TestVoicesOfSeats(t *testing.T) {
	text := `
f: 1
models:
  a: {provider: openai, url: "http://127.0.0.1:1/v1", model: gpt-4o-mini}
  warm: {provider: openai, url: "http://127.0.0.1:1/v1/", model: gpt-4o-mini, temperature: 1}
  other: {provider: openai, url: "http://127.0.0.1:2/v1", model: gpt-4o-mini}
  vendor: {provider: openai, url: "http://127.0.0.1:2/v1", model: meta-llama/llama-3.3-70b}
  llama: {provider: ollama, model: "llama3.2"}
  dice: {provider: simulated}
seats: [{id: a, model: a}, {id: w, model: warm}, {id: o, model: other}, {id: v, model: vendor},
  {id: l, model: llama}, {id: d, model: dice, count: 2}, {id: x, model: a, adversary: {name: silent}}]
`
	for _, c := range []struct {
		more string
		want string
	}{
		{"", "0 0 1 2 3 4 5 6"}, {"voices: models\n", "0 0 1 2 3 4 5 6"}, {"voices: servers\n", "0 0 1 1 2 3 4 5"},
		{"voices: makers\n", "0 0 0 1 1 2 3 4"}, {"voices: seats\n", "0 1 2 3 4 5 6 7"},
		{"exact: paper\n", "0 1 2 3 4 5 6 7"}, {"exact: paper\nvoices: models\n", "0 0 1 2 3 4 5 6"},
	} {
		p, err := NewPlan(parsed(t, c.more+text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range p.seats {
			got = append(got, fmt.Sprint(p.Voice(synod.NodeID(i))))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, want %s", c.more, got, c.want)
		}
	}
	loud := parsed(t, text)
	loud.Voices = "loud"
	if _, err := NewPlan(loud); err == nil || !strings.Contains(err.Error(), "models, servers") {
		t.Errorf("voices: loud is accepted: %v", err)
	}
}

// The bound in voices is the largest number of which any may be hostile, by trying all sets of voices: on graphs of up
// to eight seats, whoever has the seats.
func TestBoundByVoices(t *testing.T) {
	less := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		n := 2 + random.IntN(7)
		models := make([]byte, n)
		for i := range models {
			models[i] = 'a' + byte(random.IntN(1+random.IntN(n)))
		}
		f := random.IntN((n + 1) / 2)
		graph := []string{"{family: complete}", "{family: ring}", "{family: star}"}[random.IntN(3)]
		if n < 3 {
			graph = "{family: complete}"
		}
		p := voiced(t, string(models), fmt.Sprintf("f: %d\ngraph: %s\n", f, graph))
		if p.voices == nil {
			continue
		}
		got, want := p.hostileVoices(), tryHostile(p)
		if got != want {
			t.Errorf("seed %d: %s on %s with F=%d: %d hostile voices, by trying %d", seed, models, graph, f, got, want)
		}
		less += bit(got < f)
	}
	if less == 0 {
		t.Error("in no council are fewer voices than F allowed: the test does not test")
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tryHostile tries all sets of voices.
func tryHostile(p *Plan) int {
	v := p.Voices()
	for k := 1; k <= v; k++ {
		for set := range 1 << v {
			if bits.OnesCount(uint(set)) == k && breaks(p, set) {
				return k - 1
			}
		}
	}
	return v
}

// breaks reports whether the voices of a set have more than F neighbours of a seat that is not theirs, or all seats.
func breaks(p *Plan, set int) bool {
	honest := false
	for i := range p.seats {
		if set>>p.voice(i)&1 == 1 {
			continue
		}
		honest = true
		hostile := 0
		for _, j := range p.peers[i] {
			hostile += set >> p.voice(int(j)) & 1
		}
		if hostile > p.spec.F {
			return true
		}
	}
	return !honest
}

// What a decision withstands in voices is never more than what it does: all sets of that many voices may be removed,
// and may say anything else, without another answer winning.
func TestWithstandsByVoices(t *testing.T) {
	some := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 8))
		n := 3 + random.IntN(5)
		models, answers := make([]byte, n), make([]synod.Answer, n)
		for i := range models {
			models[i] = 'a' + byte(random.IntN(1+random.IntN(n)))
			answers[i] = synod.Answer(fmt.Sprint(random.IntN(1 + random.IntN(2))))
		}
		p := voiced(t, string(models), "f: 0\nrule: {name: plurality}\n")
		if p.voices == nil {
			continue
		}
		ballots := make([]robust.Voice, n)
		for i, a := range answers {
			ballots[i] = robust.Voice{Answer: a, Weight: 1}
		}
		w, wins := robust.Withstands(robust.VoteRule{Name: robust.Plurality}, ballots, "0")
		if !wins {
			continue
		}
		got := p.withstoodVoices(&w)
		some += got.Changed
		for set := range 1 << p.Voices() {
			left, size := map[synod.Answer]int{}, bits.OnesCount(uint(set))
			moved := 0
			for i, a := range answers {
				if set>>p.voice(i)&1 == 1 {
					moved++
				} else {
					left[a]++
				}
			}
			if size <= got.Ignored && left["0"] <= left["1"] || size <= got.Changed && left["0"] <= left["1"]+moved {
				t.Errorf("seed %d: %s said %v: %+v is said, and the voices %b change it", seed, models, answers, *got,
					set)
			}
		}
	}
	if some == 0 {
		t.Error("no decision withstands a voice: the test does not test")
	}
}

// Seven seats of one model are one voice: in support, in what a decision withstands, and in the bound.
func TestSevenSeatsOfOneModel(t *testing.T) {
	for _, c := range []struct {
		models, more  string
		voices, bound int
		ignored       int
	}{
		{"aaaaaaa", "", 1, 0, 0}, {"aaaaaaa", "voices: seats\n", 7, 3, 6}, {"abcdefg", "", 7, 3, 6},
		{"aaabbcd", "", 4, 1, 3},
	} {
		p := voiced(t, c.models, c.more+"f: 3\nprotocol: {name: majority}\nrule: {name: plurality}\n")
		records := make([]Record, 7)
		for i := range records {
			records[i] = Record{Seat: synod.NodeID(i), Opinions: []Noted{{Opinion: &synod.Opinion{Answer: "42"}}},
				Stopped: "rounds"}
		}
		o := Judge(p, Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
		if o.Voices != c.voices || o.Votes[0].Independent != c.voices || o.Bound.Voices != c.bound ||
			o.Withstands == nil || o.Withstands.Ignored != c.ignored || len(o.Votes[0].Seats) != 7 {
			t.Errorf("%s %s: %d voices, %+v, bound %d, %+v", c.models, c.more, o.Voices, o.Votes[0], o.Bound.Voices,
				o.Withstands)
		}
	}
	p := voiced(t, "aaaaaaa", "f: 3\nrule: {name: majority, support: 2}\n")
	if _, err := Open(p, Options{}); err == nil || !strings.Contains(err.Error(), "1 voice") {
		t.Errorf("support of two voices is accepted where there is one: %v", err)
	}
	if b := voiced(t, "aaaaaaa", "f: 3\n").Bound(); !strings.Contains(b.Note, "1 voice") ||
		!strings.Contains(b.Note, "at most 0 hostile voices") {
		t.Errorf("%s", b.Note)
	}
}

// Fields of a merged value count voices: seven seats with one model support a field as one, and support asks for more.
func TestFieldsCountVoices(t *testing.T) {
	for _, c := range []struct {
		models, more string
		support      int
		decided      bool
	}{
		{"aaaabbc", "", 3, true}, {"aaaaaaa", "", 1, true}, {"abcdefg", "", 7, true},
		{"aaaabbc", "rule: {name: majority, support: 3}\n", 3, true},
		{"aaaabbc", "voices: seats\n", 7, true},
	} {
		p := voiced(t, c.models, "f: 1\nprotocol: {name: majority}\n"+c.more)
		q := synod.Question{Text: "Which?", Form: synod.JSON,
			Schema: []byte(`{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`)}
		var records []Record
		for i := range p.seats {
			o := &synod.Opinion{Answer: `{"x":"y"}`}
			records = append(records, Record{Seat: synod.NodeID(i), Opinions: []Noted{{Opinion: o}}, Stopped: "rounds"})
		}
		o := Judge(p, Instance{Question: q}, records)
		if len(o.Fields) == 0 || o.Fields[0].Support != c.support || o.Answered() != c.decided {
			t.Errorf("%s with %q: %s, fields %+v", c.models, c.more, o.Reason, o.Fields)
		}
	}
}

// Cascade counts voices: with too few of them it never decides, which is said before a call is made.
func TestCascadeCountsVoices(t *testing.T) {
	const more = "f: 2\nprotocol: {name: cascade}\n"
	if pairs := voiced(t, "aabbcde", more).together(); len(pairs) != 2 || pairs[0][1] != 1 || pairs[1][0] != 2 {
		t.Errorf("pairs %v", pairs)
	}
	text := "models: {m: {provider: openai, url: 'http://127.0.0.1:1/v1', model: m}}\nseats: [{id: s, model: m, " +
		"count: 7}]\n"
	p, err := NewPlan(parsed(t, more+text))
	if err == nil {
		err = p.checkSupport()
	}
	if err == nil || !strings.Contains(err.Error(), "the seats have 1 voice") {
		t.Errorf("seven seats of one model: %v", err)
	}
	if p, err := NewPlan(parsed(t, more+"voices: seats\n"+text)); err != nil || p.checkSupport() != nil ||
		len(p.together()) > 0 {
		t.Errorf("voices: seats: %v", err)
	}
}
