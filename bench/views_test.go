package bench_test

import (
	"context"
	"errors"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/council/outcome"
)

// The views of the questions add up to the figures of the report.
func TestViewsAddUp(t *testing.T) {
	run := create(t, plan(t, seven, 6, 2))
	if _, err := run.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := run.Report()
	if err != nil {
		t.Fatal(err)
	}
	index := map[string]int{}
	for i, s := range r.Seats {
		index[s.ID] = i
	}
	dropped, met := map[[2]int]int{}, map[[2]int]int{}
	shown, right, decided, first := 0, 0, 0, 0
	for q, err := range run.Views(-1) {
		if err != nil {
			t.Fatal(err)
		}
		if want := run.Items[shown%6]; q.ID != want.Question.ID || q.Key != want.Key || q.Repeat != shown/6 {
			t.Fatalf("question %d is %s, repeat %d, key %s", shown, q.ID, q.Repeat, q.Key)
		}
		shown++
		if q.Status == "agreed" {
			decided++
			if q.Verdict == task.Right {
				right++
			}
		}
		for i, held := range q.Rounds[0] {
			if held.Verdict == task.Right && r.Seats[i].Adversary == "" {
				first++
			}
		}
		for _, round := range q.Rounds {
			for i, held := range round {
				for _, j := range held.Dropped {
					dropped[[2]int{i, int(j)}]++
					met[[2]int{i, int(j)}]++
				}
				for _, j := range held.Retained {
					met[[2]int{i, int(j)}]++
				}
			}
		}
	}
	if shown != r.Finished || decided == 0 || r.Metrics.Decision.N != decided ||
		r.Metrics.Decision.Value != float64(right)/float64(decided) ||
		r.Metrics.IAA.Value != float64(first)/float64(7*shown) || r.Metrics.IAA.N != 7*shown {
		t.Errorf("%d shown, %d of %d decided rightly, %d right at first: %+v", shown, right, decided, first, r.Metrics)
	}
	if len(r.Drops) == 0 || len(r.Drops) != len(met) {
		t.Errorf("%d pairs reported, %d shown", len(r.Drops), len(met))
	}
	for _, d := range r.Drops {
		pair := [2]int{index[d.By], index[d.Of]}
		if d.Dropped != dropped[pair] || *d.Share != *metrics.Share(dropped[pair], met[pair]) {
			t.Errorf("%+v, and %d of %d are shown", d, dropped[pair], met[pair])
		}
	}
}

// Only the questions that a page shows whole need their whole journal; the others have their outcome all the same.
func TestViewsOfAFew(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	if _, err := run.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	k := 0
	for q, err := range run.Views(1) {
		if err != nil || q.Status == "unfinished" || (q.Rounds != nil) != (k < 1) {
			t.Errorf("question %d: %s, %d rounds, error %v", k, q.Status, len(q.Rounds), err)
		}
		k++
	}
	if k != 3 {
		t.Errorf("%d questions", k)
	}
}

// Unfinished and failed questions have their status, and a journal that cannot be read
// is an error.
func TestViewsOfTheUnfinished(t *testing.T) {
	run := create(t, plan(t, seven, 3, 1))
	w, err := run.Write()
	if err == nil {
		err = errors.Join(w.Attempted(run, bench.Job{Question: "Sum 1/x"}, bench.Attempt{Stopped: outcome.PastTime,
			Reason: "too late", Seconds: 1}), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []report.Question
	for q, err := range run.Views(-1) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *q)
	}
	if len(got) != 3 || got[0].Status != "unfinished" || got[1].Status != "failed" || got[1].Reason != "too late" ||
		got[1].Rounds != nil || got[1].Answer != synod.None {
		t.Errorf("%+v", got)
	}
	if _, err := run.Work(context.Background(), bench.Options{}); err != nil {
		t.Fatal(err)
	}
	damage(t, run, 1)
	shown := 0
	for _, err = range run.Views(-1) {
		shown++
	}
	if err == nil || shown != 2 {
		t.Errorf("%d shown, error %v", shown, err)
	}
}

// damage changes the result of question k of a run.
func damage(t *testing.T, run *bench.Run, k int) {
	t.Helper()
	tamper(t, run.Dir(), "UPDATE results SET calls = calls + 1 WHERE question = ?", k)
}
