package council_test

import (
	"context"
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
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

func FuzzParse(f *testing.F) {
	f.Add([]byte(diceCouncil))
	f.Add([]byte("graph: {edges: [[0,1]]}\nseats: [{id: a, count: 2}]"))
	f.Add([]byte("seats: [{id: a, count: 99999999999}]"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		plan.Parse(text) // must not panic or take all memory
	})
}
