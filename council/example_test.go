package council_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Five simulated members answer; with real ones only the models section differs.
func Example() {
	spec, err := plan.Parse([]byte(`
protocol: {name: sac, rounds: 3}
graph: {family: complete}
f: 2
models: {dice: {provider: simulated, ability: 0.95}}
seats: [{id: a, model: dice, count: 5}]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), council.Ask{
		Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number}, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Status, string(*o.Answer), "by", o.Members[0].Kind, "members, claim", o.Bound.Guarantee)
	// Output: agreed 42 by simulated members, claim 4.3
}

// parrot is a model of the program itself: it gives one answer to every question.
type parrot struct{ answer string }

func (p parrot) Info() llm.Info {
	return llm.Info{Kind: llm.Embedded, Name: "parrot", Identity: "parrot/1 " + p.answer}
}

func (p parrot) Complete(context.Context, llm.Request) (synod.Reply, error) {
	return synod.Reply{Text: "Answer: " + p.answer, Calls: 1}, nil
}

// The model of a council may be a Go value.
func Example_model() {
	spec, err := plan.Parse([]byte("models: {mine: {provider: given}}\nseats: [{id: a, model: mine, count: 5}]\n"))
	if err != nil {
		panic(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		panic(err)
	}
	c, err := council.Open(p, council.Options{Models: map[string]llm.Model{"mine": parrot{"42"}}})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	o, err := c.Decide(context.Background(), council.Ask{
		Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number}})
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Status, o.Text)
	// Output: agreed 42
}

// A model that the program does not give, or that the council does not name, is an error of Open; a budget counts the
// calls of given models too.
func TestGivenModels(t *testing.T) {
	const file = "models: {mine: {provider: given}}\nseats: [{id: a, model: mine, count: 3}]\nlimits: {calls: 2}\n"
	spec, err := plan.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	for want, models := range map[string]map[string]llm.Model{
		"the program that opens the council has to give": nil,
		`council.Options has the model "other"`:          {"mine": parrot{"1"}, "other": parrot{"2"}},
	} {
		if _, err := council.Open(p, council.Options{Models: models}); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c, err := council.Open(p, council.Options{Models: map[string]llm.Model{"mine": parrot{"42"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o, err := c.Decide(t.Context(), council.Ask{Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number}})
	if err != nil || o.Stopped != outcome.OverBudget || o.Calls.Made != 2 {
		t.Errorf("%v: stopped by %q after %d calls", err, o.Stopped, o.Calls.Made)
	}
	if _, err := plan.Parse([]byte(strings.Replace(file, "given}", "given, url: x}", 1))); err == nil {
		t.Error("a given model has settings")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(diceCouncil))
	f.Add([]byte("graph: {edges: [[0,1]]}\nseats: [{id: a, count: 2}]"))
	f.Add([]byte("seats: [{id: a, count: 99999999999}]"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		plan.Parse(text) // must not panic or take all memory
	})
}
