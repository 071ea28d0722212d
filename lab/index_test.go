package lab_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"synod.dev/synod/lab"
	"synod.dev/synod/report"
)

// indexed are councils of simulated members, one for each kind of record that opinions have.
var indexed = map[string]string{
	"sac": seven,
	"faults": `{protocol: {name: sac, rounds: 3}, f: 1, models: {m: {provider: simulated, ability: 0.6}},
  seats: [{id: a, model: m, count: 5}], faults: {loss: 0.3}}`,
	"cp-wbft": `{protocol: {name: cp-wbft}, f: 1, models: {m: {provider: simulated, ability: 0.6}},
  seats: [{id: a, model: m, count: 4}, {id: x, model: m, adversary: {name: equivocator}}]}`,
	"decentllms": `{protocol: {name: decentllms}, f: 1, models: {m: {provider: simulated, ability: 0.6}},
  seats: [{id: w, model: m, count: 3, role: worker}, {id: e, model: m, count: 4, role: evaluator}]}`,
	"rotating-leader": `{protocol: {name: rotating-leader}, f: 1, models: {m: {provider: simulated, ability: 0.6}},
  seats: [{id: a, model: m, count: 4}]}`,
	"game": `{protocol: {name: game, rounds: 4}, f: 1, models: {d: {provider: simulated, stubbornness: 0.2}},
  seats: [{id: p, model: d, count: 4}, {id: b, model: d, adversary: {name: saboteur}}]}`,
	"w-msr": `{protocol: {name: w-msr}, f: 1, models: {m: {provider: simulated, ability: 0.6}},
  seats: [{id: a, model: m, count: 4}, {id: x, model: m, adversary: {name: silent}}]}`,
}

// The report and the views of a run are the same with its index, without it, with one of a part of
// the run and with a damaged one; and the run can be resumed in each of these cases.
func TestReportNeedsNoIndex(t *testing.T) {
	for name, text := range indexed {
		t.Run(name, func(t *testing.T) {
			run := create(t, plan(t, text, 5, 2))
			work(t, run, 2)
			path := filepath.Join(run.Dir(), "journals.index")
			whole, err := os.ReadFile(path)
			if err != nil || len(whole) < 1000 {
				t.Fatalf("the index has %d bytes: %v", len(whole), err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			want, wantViews := reported(t, run.Dir()), views(t, run)
			if want.Finished != 10 {
				t.Fatalf("%d finished", want.Finished)
			}
			for _, index := range [][]byte{whole, whole[:len(whole)/2], []byte("no index\n"), append(whole[:100:100],
				whole[101:]...)} {
				if err := os.WriteFile(path, index, 0o600); err != nil {
					t.Fatal(err)
				}
				for range 2 { // before and after the run is opened for writing
					if got := reported(t, run.Dir()); !reflect.DeepEqual(got, want) {
						t.Errorf("with %d bytes of %d:\n%+v\nwithout:\n%+v", len(index), len(whole), got, want)
					}
					if got := views(t, run); !reflect.DeepEqual(got, wantViews) {
						t.Errorf("with %d bytes of %d, other views", len(index), len(whole))
					}
					if p := work(t, run, 2); p.Finished != 10 || p.Now != 0 {
						t.Fatalf("resumed: %+v", p)
					}
				}
			}
		})
	}
}

func views(t *testing.T, run *lab.Run) (all []*report.Question) {
	t.Helper()
	for q, err := range run.Views() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}
