package adversary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// better is how judges judge that are better than any measured one.
const better = "skill: 0.5, primacy: 0, shared: 0, "

// persuaded returns a council file of four honest members and three persuaders, whom F allows.
func persuaded(protocol, judge string) string {
	return fmt.Sprintf(`protocol: {name: %s}
graph: {family: complete}
f: 3
models: {m: {provider: simulated, ability: 0.6, %s}}
seats: [{id: w, model: m, count: 4}, {id: w5, model: m, adversary: {name: persuader}}, {id: x, model: m, count: 2, adversary: {name: persuader}}]
rule: {name: majority}
`, protocol, judge)
}

// A persuader wins where members see its derivation and their judges believe it. SAC does not
// hold then: its properties are about scores. It holds, with the same judges, if members
// exchange answers alone, and with judges that check a derivation. These judges are better than any measured one. With
// judges as measured it does not hold even so: weak members move to three colluders whose answer scores like any other.
func TestPersuader(t *testing.T) {
	for _, x := range []struct {
		protocol, judge string
		holds           bool
	}{
		{"sac, rationale: 600", better + "gullible: 0.8", false},
		{"sac, rationale: 600", better + "gullible: 0", true},
		{"sac", better + "gullible: 0.8", true},
		{"debate, rationale: 600", better + "gullible: 0.8", false},
		{"sac", "gullible: 0", false},
	} {
		rate := captures(t, *trials, persuaded(x.protocol, x.judge), *firstSeed)
		t.Logf("%s with %s: captured %v", x.protocol, x.judge, rate)
		if x.holds && rate.High > 0.3 || !x.holds && rate.Low < 0.4 {
			t.Errorf("%s with %s: captured %v", x.protocol, x.judge, rate)
		}
	}
}

// A panel of DecentLLMs sees the reasoning of workers, and a persuader among them captures it.
func TestPersuaderInAPanel(t *testing.T) {
	for gullible, want := range map[string]bool{", gullible: 0.8": true, ", gullible: 0": false} {
		rate := captures(t, *trials, panelFile("median-total", sharp+gullible, "persuader", 0), *firstSeed)
		t.Logf("%s: captured %v", gullible, rate)
		if got := rate.Value > 0.15; got != want {
			t.Errorf("%s: captured %v", gullible, rate)
		}
	}
}

// A model that reads text is told once, in its system prompt, to be convincing and wrong; its
// neighbours' judges see what it wrote, in every round, and nobody else is told anything.
func TestPersuaderAsksItsModel(t *testing.T) {
	var mu sync.Mutex
	told, shown := 0, 0
	server := llmtest.Start(t, func(c llmtest.Call) string {
		mu.Lock()
		defer mu.Unlock()
		hostile := strings.Contains(c.System, "you are that member")
		if hostile {
			told++
		}
		if strings.Contains(c.User, "carrying the one twice") {
			shown++
		}
		switch {
		case hostile != (c.Model == "bad"):
			t.Errorf("model %s is told: %s", c.Model, c.System)
		case c.Scoring():
			return `{"reasoning":"","score":0.5}`
		case hostile:
			return `{"reasoning":"7 and 5 are 12, carrying the one twice gives 52.","answer":"52"}`
		}
		return `{"reasoning":"","answer":"42"}`
	})
	spec, err := plan.Parse(fmt.Appendf(nil, `protocol: {name: sac, rounds: 2, rationale: 600}
f: 1
models: {good: {provider: openai, url: %q, model: good}, bad: {provider: openai, url: %q, model: bad}}
seats: [{id: a, model: good, count: 3}, {id: b, model: bad, adversary: {name: persuader}}]
`, server.URL, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), council.Ask{Question: synod.Question{Text: "What is 17 + 25?",
		Form: synod.Number}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if b := o.Members[3]; told != 1 || shown < 3 || b.Final == nil || *b.Final != "52" {
		all, _ := json.Marshal(o.Members)
		t.Errorf("told %d times, shown %d times: %s", told, shown, all)
	}
}
