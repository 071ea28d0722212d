package attack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/attack"
	"synod.dev/synod/bench/manifest"
)

const learns = `protocol: {name: cascade}
trust: {file: default, learn: true}
models: {m: {provider: simulated, ability: 0.75, wrong: 5}}
seats: [{id: a, model: m, count: 6}]
f: 1
`

// playLearning plays an attack on a council that learns, in a folder that may have a part of it. It stops after so many
// steps; 0: after the last. cut ends the work of the last step after a few questions.
func playLearning(t *testing.T, s attack.Spec, dir string, steps int, cut bool) (grid *bench.Grid) {
	t.Helper()
	for n, last := 1, false; !last; n++ {
		m, end, err := s.Next(grid)
		if err != nil {
			t.Fatal(err)
		}
		if grid, err = m.Draft(manifest.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := grid.Update(dir); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		o := bench.Options{}
		if cut && n == steps {
			o.Progress = func(p bench.Progress) {
				if p.Finished > 3 {
					stop()
				}
			}
		}
		done, err := grid.Work(ctx, o)
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		if ctx.Err() != nil && done.Left() == 0 {
			t.Errorf("step %d was not interrupted: all %d questions are finished", n, done.Total)
		}
		if last = end; n == steps {
			break
		}
	}
	return grid
}

func tableOf(t *testing.T, g *bench.Grid, format string) string {
	t.Helper()
	table, err := attack.Compute(g)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := table.Write(&b, format, 1, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A council that learns has a history before each attack, in which who follows the plurality earns more weight than the
// others in the mean; the report says how long it was, that members are simulated, and what comes of the attack without
// it and in a plurality.
func TestHistory(t *testing.T) {
	s := attack.Spec{Council: council(t, learns), Adversaries: []string{"follow-defect", "copier", "constant"},
		Questions: 30, History: 80}
	grid := playLearning(t, s, filepath.Join(t.TempDir(), "grid"), 0, false)
	var names []string
	questions := map[string]string{} // by id: the phase in which it is asked
	for i, c := range grid.Cells {
		names = append(names, c.Name)
		phase, _ := c.Params["phase"].(string)
		for _, it := range grid.Runs[i].Items {
			if was := questions[it.Question.ID]; was != "" && (was == "history") != (phase == "history") {
				t.Errorf("%s: question %s is asked in a %s too", c.Name, it.Question.ID, was)
			}
			questions[it.Question.ID] = phase
		}
		spec, err := grid.Runs[i].Spec()
		if err != nil {
			t.Fatal(err)
		}
		weights, _ := spec.Protocol["weights"].(map[string]any)
		if has := len(weights) > 0; has != (phase == "attack") {
			t.Errorf("%s: weights %v in the phase %s", c.Name, weights, phase)
		}
		if c.Name == "follow-defect-1-worst" {
			list, _ := weights["number"].([]any)
			if len(list) != 6 || !aboveMean(list[0], list[1:]) {
				t.Errorf("who follows the plurality weighs no more than others: %v", list)
			}
		}
	}
	for _, want := range []string{"history-baseline", "history-copier-1-worst", "baseline", "constant-1-worst",
		"follow-defect-1-worst-new", "follow-defect-1-worst-plurality"} {
		if !slices.Contains(names, want) {
			t.Errorf("no cell %s in %v", want, names)
		}
	}
	text := tableOf(t, grid, "text")
	for _, want := range []string{"(simulated) answered a history of 80 questions", "no history", "plurality"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var table attack.Table
	if err := json.Unmarshal([]byte(tableOf(t, grid, "json")), &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Attacks) != 3 || table.Questions != 30 {
		t.Fatalf("%d attacks on %d questions", len(table.Attacks), table.Questions)
	}
	for _, a := range table.Attacks {
		p := a.Past
		if p == nil || p.Questions != 80 || p.New.Capture == nil || p.Plurality.Accuracy == nil ||
			p.New.Change.Capture.N != 30 {
			t.Errorf("%s: %+v", a.Adversary, p)
		}
	}
	s.Questions, s.History = 0, 1000
	m, err := s.Planned()
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Draft(manifest.Options{})
	if err == nil || !strings.Contains(err.Error(), "skip is 1000, and builtin") {
		t.Errorf("a history longer than the task: %v", err)
	}
	if csv := tableOf(t, grid, "csv"); !strings.Contains(csv, "captured without it") {
		t.Error(csv)
	}
}

// aboveMean reports whether a weight is above the mean of others.
func aboveMean(w any, others []any) bool {
	sum := 0.0
	for _, x := range others {
		sum += x.(float64)
	}
	return w.(float64) > sum/float64(len(others))
}

// A history that was interrupted goes on, and the figures are those of one that was not.
func TestHistoryInterrupted(t *testing.T) {
	s := attack.Spec{Council: council(t, learns), Adversaries: []string{"lie-to-win", "turns"}, Questions: 10,
		History: 30, Members: []int{2}}
	dir := filepath.Join(t.TempDir(), "whole")
	want := tableOf(t, playLearning(t, s, dir, 0, false), "json")
	for step := 1; step <= 3; step++ {
		dir := filepath.Join(t.TempDir(), "parts")
		playLearning(t, s, dir, step, true)
		if got := tableOf(t, playLearning(t, s, dir, 0, false), "json"); got != want {
			t.Errorf("interrupted in step %d:\n%s\nand at once\n%s", step, got, want)
		}
	}
}

// TestPoisonersAreOffered checks that adversaries that poison a history are offered only for a council that learns.
func TestPoisonersAreOffered(t *testing.T) {
	named := func(text string, names ...string) ([]string, error) {
		s := attack.Spec{Council: council(t, text), Adversaries: names, Questions: 1, History: 1}
		learns, err := s.Learns()
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Manifest()
		if learns {
			m, err = s.Planned()
		}
		if err != nil {
			return nil, err
		}
		grid, err := m.Draft(manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var cells []string
		for _, c := range grid.Cells {
			cells = append(cells, c.Name)
		}
		return cells, nil
	}
	fixed := strings.Replace(learns, "trust: {file: default, learn: true}\n", "", 1)
	for _, name := range []string{"follow-defect", "lie-to-win", "constant", "abstain", "turns"} {
		if cells, err := named(learns); err != nil || !slices.Contains(cells, name+"-1-worst") ||
			!slices.Contains(cells, "history-"+name+"-1-worst") {
			t.Errorf("%s does not attack a council that learns: %v, %v", name, cells, err)
		}
		if cells, err := named(fixed); err != nil || slices.Contains(cells, name+"-1-worst") {
			t.Errorf("%s attacks a council that does not learn: %v, %v", name, cells, err)
		}
		if _, err := named(fixed, name); err == nil || !strings.Contains(err.Error(), "needs trust.learn") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A defence is switched in what is measured, beside the weights that were learned, and a history is played once.
func TestDefencesOfCouncilThatLearns(t *testing.T) {
	text := strings.Replace(learns, "cascade}", "cascade, together: [[1, 2]]}", 1)
	s := attack.Spec{Council: council(t, text), Adversaries: []string{"constant"}, Questions: 3, History: 60,
		Defences: []string{"co-error"}}
	grid := playLearning(t, s, filepath.Join(t.TempDir(), "grid"), 0, false)
	toggled := 0
	for i, c := range grid.Cells {
		if c.Params["defence_name"] == nil {
			continue
		}
		toggled++
		spec, err := grid.Runs[i].Spec()
		if err != nil {
			t.Fatal(err)
		}
		if list, _ := spec.Protocol["together"].([]any); len(list) > 0 || spec.Protocol["weights"] == nil {
			t.Errorf("%s has the protocol %v", c.Name, spec.Protocol)
		}
	}
	if toggled != 2 {
		t.Errorf("%d cells have the defence switched, want the baseline and the attack", toggled)
	}
	if text := tableOf(t, grid, "latex"); !strings.Contains(text, "co-error") || !strings.Contains(text, "history") {
		t.Error(text)
	}
}
