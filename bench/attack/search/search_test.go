package search_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod/bench/attack/search"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
)

// options are those of a small search of a council that adversaries capture sometimes.
func options(t *testing.T, n int) search.Options {
	items, fresh := problems(t, 3, 10)
	return search.Options{Spec: spec(t, seven("sac, rationale: 600", "f: 3")), Tries: n, Seed: 3, Members: 2,
		Adversaries: []string{"persuader", "judge-hypnotist", "sleeper", "replayer"}, Items: items, Fresh: fresh,
		Env: noEnv}
}

func run(t *testing.T, dir string, o search.Options) *search.Findings {
	t.Helper()
	r, err := search.Run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A search that was interrupted, also in the middle of a line, and one with a smaller budget go on to the result of a
// search that was not interrupted. Another search is refused in the same folder.
func TestResume(t *testing.T) {
	for _, s := range []search.Strategy{search.Random, search.Greedy, search.Evolutionary} {
		whole := options(t, 125) // more than the 4 + 100 that are tried before attacks follow from earlier ones
		whole.Strategy = s
		want := run(t, t.TempDir(), whole)
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		part := whole
		part.Progress = func(n int, _ search.Try) {
			if n == 3 {
				cancel()
			}
		}
		if _, err := search.Run(ctx, dir, part); err == nil {
			t.Fatal("an interrupted search has a result")
		}
		path := filepath.Join(dir, "tries.jsonl")
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), "\n") != 3 {
			t.Fatalf("%d tries were kept, want 3: %v", strings.Count(string(text), "\n"), err)
		}
		changed := []byte(strings.Replace(string(text), `"n":2`, `"n":2 `, 1))
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := search.Run(t.Context(), dir, whole); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("a changed try: %v", err)
		}
		if err := os.WriteFile(path, append(text, `{"n":4,"ca`...), 0o600); err != nil {
			t.Fatal(err)
		}
		part = whole
		part.Tries = 110
		run(t, dir, part)
		if got := run(t, dir, whole); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: resumed %+v\nwant %+v", s, got, want)
		}
		other := whole
		other.Seed++
		if _, err := search.Run(t.Context(), dir, other); err == nil || !strings.Contains(err.Error(), "-o") {
			t.Errorf("another search in the folder: %v", err)
		}
	}
}

// The worst attack needs each of its seats: without one it captures less. What a search found is chosen for its score,
// so it is measured again on other questions.
func TestReduced(t *testing.T) {
	o := options(t, 40)
	r := run(t, t.TempDir(), o)
	if len(r.Worst) == 0 || len(r.Worst) > len(r.Found.Case) || r.Before.Score.Captured < r.Found.Score.Captured {
		t.Errorf("worst %s with %s; found %s with %s", r.Worst, r.Before.Score, r.Found.Case, r.Found.Score)
	}
	if r.Before.Score.Questions != 3 || r.After.Score.Questions != 10 || r.Before.Digest == r.After.Digest {
		t.Errorf("before %+v, after %+v", r.Before, r.After)
	}
}

// The file of an attack plays again with the same figures and digests, and says what differs if it was changed.
func TestReplay(t *testing.T) {
	o := options(t, 20)
	f, err := o.File(run(t, t.TempDir(), o), "test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "worst.json")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	again := func() []string {
		t.Helper()
		read, err := search.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := read.Replay(t.Context(), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		return r.Differs
	}
	damage.Check(t, path, 100, durable.Bare, func() (string, error) {
		read, err := search.Read(path)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(read)
		return string(text), err
	})
	if differs := again(); len(differs) != 0 {
		t.Errorf("differs: %q", differs)
	}
	f.Case[0].Adversary = plan.Params{"name": "sleeper"}
	f.Fresh.Score.Captured++
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	if differs := again(); len(differs) == 0 || !strings.Contains(strings.Join(differs, " "), "fresh") {
		t.Errorf("a changed file differs in %q", differs)
	}
	attacked, err := f.Attacked()
	if err != nil {
		t.Fatal(err)
	}
	if s := spec(t, string(attacked)); !strings.Contains(string(attacked), "sleeper") || len(s.Seats) != 7 {
		t.Errorf("the council with the attack:\n%s", attacked)
	}
	for _, bad := range []string{"{}", `{"version": 2}`, "[", `{"version": 1, "more": 1}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := search.Read(path); err == nil || !strings.Contains(err.Error(), "worst.json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A score counts captures first, then lost answers, lost decisions and cost.
func TestObjective(t *testing.T) {
	rising := []search.Damage{{}, {Calls: 3, Baseline: 2}, {Stopped: 1}, {Lost: 1},
		{Captured: 1, Calls: 0, Baseline: 9}}
	for i := 1; i < len(rising); i++ {
		if a, b := rising[i-1], rising[i]; b.Compare(a) <= 0 || a.Compare(b) >= 0 || a.Compare(a) != 0 {
			t.Errorf("%s is not worse than %s", b, a)
		}
	}
	if b, err := json.Marshal(search.Measurement{}.Figures()); err != nil || !strings.Contains(string(b),
		`"capture":null`) {
		t.Errorf("without a right answer: %s, %v", b, err)
	}
}

// A search draws no parameters that the adversary refuses, such as a change of numbers by 0.
func TestRefusedParameters(t *testing.T) {
	o := options(t, 150)
	o.Adversaries, o.Strategy, o.Items = []string{"number-alterer"}, search.Random, o.Items[:1]
	if r := run(t, t.TempDir(), o); r.Tries != 150 && r.Ended != search.EndedExhausted {
		t.Errorf("%d tries: %s", r.Tries, r.Ended)
	}
}
