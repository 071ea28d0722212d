package plan

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
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
	p, err := New(parsed(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return p
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
		got, want := HostileVoices(p), tryHostile(p)
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
	v := CountVoices(p)
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
		if set>>p.VoiceOf(i)&1 == 1 {
			continue
		}
		honest = true
		hostile := 0
		for _, j := range p.peers[i] {
			hostile += set >> p.VoiceOf(int(j)) & 1
		}
		if hostile > p.spec.F {
			return true
		}
	}
	return !honest
}

// Cascade counts voices: with too few of them it never decides, which is said before a call is made.
func TestCascadeCountsVoices(t *testing.T) {
	const more = "f: 2\nprotocol: {name: cascade}\n"
	if pairs := togetherPairs(voiced(t, "aabbcde", more)); len(pairs) != 2 || pairs[0][1] != 1 || pairs[1][0] != 2 {
		t.Errorf("pairs %v", pairs)
	}
	text := "models: {m: {provider: openai, url: 'http://127.0.0.1:1/v1', model: m}}\nseats: [{id: s, model: m, " +
		"count: 7}]\n"
	p, err := New(parsed(t, more+text))
	if err == nil {
		err = CheckSupport(p)
	}
	if err == nil || !strings.Contains(err.Error(), "the seats have 1 voice") {
		t.Errorf("seven seats of one model: %v", err)
	}
	if p, err := New(parsed(t, more+"voices: seats\n"+text)); err != nil || CheckSupport(p) != nil ||
		len(togetherPairs(p)) > 0 {
		t.Errorf("voices: seats: %v", err)
	}
}
