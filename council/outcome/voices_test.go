package outcome

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/plan"
)

// voiced is the plan of a council with one seat for each letter: equal letters are one model at one server.
func voiced(t *testing.T, models, more string) *plan.Plan {
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
	p, err := plan.New(parsed(t, b.String()))
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
		p, err := plan.New(parsed(t, c.more+text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range p.Seats() {
			got = append(got, fmt.Sprint(p.VoiceOf(i)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, want %s", c.more, got, c.want)
		}
	}
	loud := parsed(t, text)
	loud.Voices = "loud"
	if _, err := plan.New(loud); err == nil || !strings.Contains(err.Error(), "models, servers") {
		t.Errorf("voices: loud is accepted: %v", err)
	}
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
		if p.VoicesOf() == nil {
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
		got := withstoodVoices(p, &w)
		some += got.Changed
		for set := range 1 << plan.CountVoices(p) {
			left, size := map[synod.Answer]int{}, bits.OnesCount(uint(set))
			moved := 0
			for i, a := range answers {
				if set>>p.VoiceOf(i)&1 == 1 {
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
		for i := range p.Seats() {
			o := &synod.Opinion{Answer: `{"x":"y"}`}
			records = append(records, Record{Seat: synod.NodeID(i), Opinions: []Noted{{Opinion: o}}, Stopped: "rounds"})
		}
		o := Judge(p, plan.Instance{Question: q}, records)
		if len(o.Fields) == 0 || o.Fields[0].Support != c.support || o.Answered() != c.decided {
			t.Errorf("%s with %q: %s, fields %+v", c.models, c.more, o.Reason, o.Fields)
		}
	}
}
