package bench_test

import (
	"strings"
	"testing"

	"synod.dev/synod/bench/report"
	"synod.dev/synod/internal/llmtest"
)

// A model that is always wrong shows in the report, with its calls, times and failures.
func TestModelsOfAReport(t *testing.T) {
	s := llmtest.Start(t, nil, llmtest.For("garbled", llmtest.HTML()))
	spec := strings.ReplaceAll(`
protocol: {name: majority}
f: 0
models:
  good: {provider: openai, url: URL, model: m42}
  bad: {provider: openai, url: URL, model: garbled}
  dice: {provider: simulated, ability: 1}
seats: [{id: g, model: dice, count: 3}, {id: b, model: bad}, {id: x, model: good, adversary: {name: silent}}]
`, "URL", s.URL)
	run := create(t, plan(t, spec, 6, 1))
	if p := work(t, run, 1); p.Finished != 6 {
		t.Fatalf("%+v", p)
	}
	r := reported(t, run.Dir())
	if len(r.Models) != 3 {
		t.Fatalf("%+v", r.Models)
	}
	dice, bad, good := r.Models[0], r.Models[1], r.Models[2]
	if dice.Seats != 3 || dice.Right.Final == nil || dice.Right.Final.Value != 1 || dice.Right.Final.N != 18 ||
		dice.Agreement.Value != 1 || dice.Latency != nil {
		t.Errorf("dice: %+v", dice)
	}
	if len(dice.Rounds) == 0 || len(good.Rounds) != 0 || *dice.Rounds[0] != *dice.Right.First ||
		*bad.Rounds[len(bad.Rounds)-1] != *bad.Right.Final {
		t.Errorf("by round: %+v, %+v", dice.Rounds, good.Rounds)
	}
	if bad.Right.Final.Value != 0 || bad.Right.Final.High < 0.3 || bad.Calls == 0 || bad.Unreadable == 0 ||
		bad.Agreement.Value != 0 || bad.Served != "garbled" {
		t.Errorf("bad: %+v", bad)
	}
	if dice.Calls != r.Calls.Made-bad.Calls-good.Calls || dice.Calls != 18 || bad.Tokens != (report.Tokens{}) {
		t.Errorf("%d calls of dice, %d of bad, %d of good; %d of all", dice.Calls, bad.Calls, good.Calls, r.Calls.Made)
	}
	if good.Right.Final != nil || good.Seats != 1 {
		t.Errorf("an adversary's answers are not its model's: %+v", good)
	}
	for _, format := range []string{"text", "csv", "md", "html"} {
		var b strings.Builder
		if err := r.Write(&b, format); err != nil || !strings.Contains(b.String(), "bad") {
			t.Errorf("%s: %v", format, err)
		}
	}
}
