package bench

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/plan"
)

// What pages show of simulated members is noted while their journals are played again, one on each processor. It is
// what the lines of these journals say.
func TestShownAsInTheLines(t *testing.T) {
	spec, err := plan.Parse([]byte("protocol: {name: sac, rounds: 2}\nmodels:\n" +
		"  dice: {provider: simulated, ability: 0.6}\nseats:\n  - {id: a, model: dice, count: 6}\n" +
		"  - {id: m, model: dice, adversary: {name: replay}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var items []task.Item
	for i := range 12 {
		it, err := task.NewItem(synod.Question{ID: fmt.Sprint(i), Text: "How much?", Form: synod.Number}, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, it)
	}
	run, err := Draft(RunPlan{Task: "sums", Items: items, Repeat: 1, Seed: 7, Spec: spec})
	if err == nil {
		err = run.Create(t.TempDir() + "/run")
	}
	if err == nil {
		_, err = run.Work(context.Background(), Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := run.read()
	if err != nil {
		t.Fatal(err)
	}
	defer x.close()
	all, adopted := []*shown{}, 0
	read := func(j job, row *store.Result) (*shown, error) {
		res, err := x.graded(j, row)
		if err != nil {
			return nil, err
		}
		return x.shown(j, res)
	}
	for s := range eachJob(x, x.store.ByRepeat(x.cell), x.job, read) {
		if s.err != nil || s.made.run != nil {
			t.Fatal(s.err, s.made)
		}
		all = append(all, s.made)
	}
	for k, got := range all {
		row, err := x.finished(x.job(k))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := x.load(x.job(k), row)
		if err != nil {
			t.Fatal(err)
		}
		want := lines.Opinions()
		for i := range want {
			want[i].Tick, want[i].Suspects, want[i].Record = 0, nil, nil // nobody shows them
			adopted += len(want[i].From)
		}
		if !reflect.DeepEqual(got.noted, want) {
			t.Errorf("question %d:\n%+v, want\n%+v", k, got.noted, want)
		}
	}
	if len(all) != len(items) || adopted == 0 {
		t.Errorf("%d questions, %d adopted answers", len(all), adopted)
	}
}
