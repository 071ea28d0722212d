package council_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// runner is a model that gives an answer after some seconds; "": it fails. The one that is called busy has no room for
// calls that may be needless, and mumbles is not understood the first time.
type runner struct {
	name    string
	answer  string
	seconds int
	track   *track
}

// track is when calls began and how they ended.
type track struct {
	mu    sync.Mutex
	start time.Time
	begun map[string]time.Duration
	ended map[string]string
	more  map[string]int // seconds that a model takes longer than usual
}

func (r runner) Info() llm.Info { return llm.Info{Kind: llm.Endpoint, Name: r.name, Model: r.name} }

func (r runner) Complete(ctx context.Context, request llm.Request) (synod.Reply, error) {
	again := request.Prompt.Unread != ""
	if request.Spare && (r.name == "busy" || r.name == "mumbles" && again) {
		return synod.Reply{Calls: 1, Usage: synod.Usage{Prompt: 9}}, &llm.Failure{Status: synod.Dropped}
	}
	r.track.mu.Lock()
	r.track.begun[r.name] = time.Since(r.track.start)
	seconds := r.seconds + r.track.more[r.name]
	r.track.mu.Unlock()
	how := "replied"
	defer func() {
		r.track.mu.Lock()
		r.track.ended[r.name] = how
		r.track.mu.Unlock()
	}()
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-ctx.Done():
		how = "cancelled"
		return synod.Reply{Calls: 1}, ctx.Err()
	}
	if r.answer == "" {
		return synod.Reply{Calls: 1}, &llm.Failure{Status: synod.Refused}
	}
	if r.name == "mumbles" && !again {
		return synod.Reply{Text: "Let me think.", Calls: 1}, nil
	}
	return synod.Reply{Text: "Answer: " + r.answer, Calls: 1, Usage: synod.Usage{Prompt: 100, Completion: 10}}, nil
}

// course is a run of tiers in which models take seconds of a clock that tests own.
type course struct {
	outcome outcome.Outcome
	track   *track
	seconds float64
}

// runs plays a council whose seats have names such as a, with answers and seconds such as "a=7:2", and tiers.
func runs(tiers, members, more string, ask council.Ask) (c course, err error) {
	return runsIn(context.Background(), tiers, members, more, ask)
}

func runsIn(ctx context.Context, tiers, members, more string, ask council.Ask) (c course, err error) {
	open, track, err := convened(tiers, members, more)
	if err != nil {
		return c, err
	}
	ask.Seed, ask.Question = 7, synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number}
	c.track = track
	c.outcome, err = open.Decide(ctx, ask)
	c.seconds = time.Since(track.start).Seconds()
	return c, err
}

// convened opens the council of runs.
func convened(tiers, members, more string) (*council.Council, *track, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol: {name: cascade, tiers: %s%s\ngraph: {family: complete}\nrule: {name: protocol}\n"+
		"patience: {spare: 0}\nmodels:\n", tiers, more)
	track := &track{start: time.Now(), begun: map[string]time.Duration{}, ended: map[string]string{}}
	models, seats := map[string]llm.Model{}, ""
	for _, m := range strings.Fields(members) {
		name, rest, _ := strings.Cut(m, "=")
		answer, seconds, _ := strings.Cut(rest, ":")
		one := runner{name: name, answer: answer, track: track}
		if _, err := fmt.Sscan(seconds, &one.seconds); err != nil {
			return nil, nil, err
		}
		models[name] = one
		fmt.Fprintf(&b, "  %s: {provider: given}\n", name)
		seats += fmt.Sprintf("  - {id: %s, model: %s}\n", name, name)
	}
	spec, err := plan.Parse([]byte(b.String() + "seats:\n" + seats))
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.New(spec)
	if err != nil {
		return nil, nil, err
	}
	c, err := council.Open(p, council.Options{Models: models, Pool: &llm.Pool{}})
	return c, track, err
}

// both plays a council without race and with it.
func both(t *testing.T, tiers, members, more string) (without, with course) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if without, err = runs(tiers, members, more, council.Ask{Journal: filepath.Join(dir, "without")}); err != nil {
			t.Error(err)
		}
		race := council.Ask{Journal: filepath.Join(dir, "with")}
		if with, err = runs(tiers, members, ", race: true"+more, race); err != nil {
			t.Error(err)
		}
	})
	return without, with
}

// The next tier is called as soon as two answers of a tier differ, or one is late, so a run takes less time. Calls
// that turn out needless are cancelled, counted and paid.
func TestRace(t *testing.T) {
	for name, c := range map[string]struct {
		tiers, members string
		before, after  float64 // seconds without race, and with it
		begun          float64 // when d is called
		ended          string
		needless       int
	}{
		"two differ":          {"[[a, b, c], [d]]", "a=7:2 b=8:3 c=7:20 d=7:10", 30, 20, 3, "replied", 0},
		"one is late":         {"[[a, b], [d]]", "a=7:2 b=8:20 d=7:10", 30, 20, 3.5, "replied", 0},
		"it was needed later": {"[[a, b], [d]]", "a=7:2 b=8:20 d=7:30", 50, 33.5, 3.5, "replied", 0},
		"replied in vain":     {"[[a, b], [d]]", "a=7:2 b=7:20 d=7:10", 20, 20, 3.5, "replied", 1},
		"cancelled":           {"[[a, b], [d]]", "a=7:2 b=7:20 d=7:30", 20, 20, 3.5, "cancelled", 1},
		"nobody is late":      {"[[a, b], [d]]", "a=7:2 b=7:3 d=7:10", 3, 3, 0, "", 0},
		"tiers before differ": {"[[a, b], [c], [d]]", "a=7:2 b=8:2 c=7:10 d=8:10", 22, 12, 2, "replied", 0},
		"an audit asks all":   {"[[a, b], [c], [d]]", "a=7:2 b=7:2 c=8:10 d=8:20", 22, 22, 2, "replied", 0},
		"alone in the first":  {"[[a], [d]]", "a=7:60 d=7:1", 60, 60, 0, "", 0},
	} {
		audit := ""
		if strings.Contains(name, "audit") {
			audit = ", audit: 1"
		}
		without, with := both(t, c.tiers, c.members, audit+"}\nf: 0")
		o := with.outcome
		if without.seconds != c.before || with.seconds != c.after {
			t.Errorf("%s: %v s without race, and %v with it", name, without.seconds, with.seconds)
		}
		if at := with.track.begun["d"].Seconds(); at != c.begun || with.track.ended["d"] != c.ended {
			t.Errorf("%s: d is called after %v s, and %s", name, at, with.track.ended["d"])
		}
		same(t.Errorf, without.outcome, o)
		if o.Calls.Needless != c.needless || o.Calls.Made != without.outcome.Calls.Made+c.needless {
			t.Errorf("%s: %+v; without race %+v", name, o.Calls, without.outcome.Calls)
		}
		tokens := 110 * (o.Calls.Made - strings.Count(with.track.ended["d"], "cancelled"))
		if o.Tokens.Prompt+o.Tokens.Completion != tokens || c.ended == "cancelled" && o.Cost != nil {
			t.Errorf("%s: %+v, cost %+v", name, o.Tokens, o.Cost)
		}
	}
}

// same checks that two runs of a question decide the same, from the same events, and that a race is judged from its
// journal as it was when it ran.
func same(failf func(string, ...any), without, with outcome.Outcome) {
	if without.Digest != with.Digest || without.Status != with.Status || without.Reason != with.Reason ||
		fmt.Sprint(without.Asked) != fmt.Sprint(with.Asked) || without.Text != with.Text {
		failf("without race: %s %q, asked %v, %s; with it: %s %q, asked %v, %s", without.Status, without.Text,
			without.Asked, without.Reason, with.Status, with.Text, with.Asked, with.Reason)
	}
	run, err := journal.Load(with.Journal)
	if err != nil {
		failf("%v", err)
		return
	}
	if digest, err := council.Replay(run); err != nil || digest != with.Digest {
		failf("replay gives %s, %v; the run's digest is %s", digest, err, with.Digest)
	}
	p, err := plan.Of(run)
	if err != nil {
		failf("%v", err)
		return
	}
	judged := outcome.Judge(p, outcome.InstanceOf(run), outcome.RecordsOf(p, run))
	for i := range judged.Members {
		if judged.Members[i].Calls != with.Members[i].Calls || judged.Members[i].Trouble != with.Members[i].Trouble {
			failf("the journal is judged as %+v; the outcome has %+v", judged.Members[i], with.Members[i])
		}
	}
	if judged.Calls != with.Calls || judged.Tokens != with.Tokens {
		failf("the journal is judged as %+v, %+v; the outcome has %+v, %+v", judged.Calls, judged.Tokens, with.Calls,
			with.Tokens)
	}
}

// A member is late when it takes longer than nineteen of twenty earlier calls of its model, also where it is alone.
func TestRaceKnowsUsualTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, track, err := convened("[[a], [d]]", "a=7:4 d=7:1", ", race: true}\nf: 0")
		if err != nil {
			t.Fatal(err)
		}
		ask := council.Ask{Question: synod.Question{ID: "q", Text: "What is 17 + 25?", Form: synod.Number}}
		for range 20 {
			if _, err := c.Decide(t.Context(), ask); err != nil || track.ended["d"] != "" {
				t.Fatal(err, track.ended)
			}
		}
		track.start, track.more = time.Now(), map[string]int{"a": 30}
		o, err := c.Decide(t.Context(), ask)
		if err != nil || track.begun["d"] != 4*time.Second || o.Calls.Needless != 1 {
			t.Errorf("%v: d is called after %v, %+v", err, track.begun["d"], o.Calls)
		}
	})
}

// Only a runner in virtual time can call the next members.
func TestRaceRefused(t *testing.T) {
	_, err := runs("[[a, b], [d]]", "a=7:2 b=8:3 d=7:1", ", race: true}\nrunner: {name: clock}", council.Ask{})
	if err == nil || !strings.Contains(err.Error(), "remove race, or the key runner") {
		t.Errorf("%v", err)
	}
}

// An early call waits for no limit: it is not made if the budget has no room for it, and made again if its model had
// none. So limits do not end a run with race earlier.
func TestRaceKeepsLimits(t *testing.T) {
	for name, c := range map[string]struct {
		tiers, members, more string
		calls                int
		after                float64
	}{
		"enough for the first tier": {"[[a, b], [d]]", "a=7:2 b=7:20 d=7:10", "limits: {calls: 2}", 2, 20},
		"not enough":                {"[[a, b, c], [d]]", "a=7:2 b=8:3 c=7:20 d=7:10", "limits: {calls: 3}", 3, 20},
		"the model has no room":     {"[[a, b], [busy]]", "a=7:2 b=8:20 busy=7:10", "", 4, 30},
		"no room to ask again":      {"[[a, b], [mumbles]]", "a=7:2 b=8:20 mumbles=7:10", "", 5, 30},
	} {
		without, with := both(t, c.tiers, c.members, "}\nf: 0\n"+c.more)
		same(t.Errorf, without.outcome, with.outcome)
		if with.outcome.Calls.Made != c.calls || with.outcome.Calls.Needless != 0 || with.seconds != c.after {
			t.Errorf("%s: %+v in %v s; without race %+v in %v s", name, with.outcome.Calls, with.seconds,
				without.outcome.Calls, without.seconds)
		}
	}
}

// A run that is cut off and goes on later does not pay again for a reply to an early call, and does not pay less
// either if the call turns out needless.
func TestRaceResumes(t *testing.T) {
	for _, c := range []struct {
		members, tiers string
		again          string
		made, needless int
	}{
		{"a=7:1 b=8:20 d=7:2", "[[a, b], [d]]", "map[b:0s]", 4, 0},
		{"a=7:1 b=7:20 d=7:2", "[[a, b], [d]]", "map[b:0s]", 4, 1},
		{"a=7:1 b=8:20 d=7:9", "[[a, b], [d]]", "map[b:0s d:20s]", 5, 0},
	} {
		path := filepath.Join(t.TempDir(), "j")
		var first, rest course
		var err error
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			more := ", race: true}\nf: 0"
			if first, err = runsIn(ctx, c.tiers, c.members, more, council.Ask{Journal: path}); err != nil {
				t.Fatal(err)
			}
			run, err := journal.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			ask := council.Ask{Journal: path + "2", Resume: run}
			if rest, err = runs(c.tiers, c.members, more, ask); err != nil {
				t.Fatal(err)
			}
		})
		same(t.Errorf, rest.outcome, rest.outcome)
		if first.outcome.Stopped != outcome.Interrupted || fmt.Sprint(rest.track.begun) != c.again ||
			rest.outcome.Calls.Made != c.made || rest.outcome.Calls.Needless != c.needless {
			t.Errorf("%s: stopped by %q; then calls %v, %+v", c.members, first.outcome.Stopped, rest.track.begun,
				rest.outcome.Calls)
		}
	}
}

// Whatever members answer, and however long they take, race changes no decision, takes no longer, and makes no call
// beside those of the run and the needless ones.
func TestRaceDecidesTheSame(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		members, tiers, open := "", "", false
		n := rapid.IntRange(2, 6).Draw(r, "members")
		f := rapid.IntRange(0, (n-1)/2).Draw(r, "f")
		for i := range n {
			name := string(rune('a' + i))
			answer := rapid.SampledFrom([]string{"7", "7", "7", "8", "9", ""}).Draw(r, "answer")
			members += fmt.Sprintf("%s=%s:%d ", name, answer, rapid.IntRange(0, 30).Draw(r, "seconds"))
			if !open {
				tiers += "[" + name
			} else {
				tiers += ", " + name
			}
			if open = rapid.Bool().Draw(r, "goes on"); !open {
				tiers += "], "
			}
		}
		if open {
			tiers += "]"
		}
		tiers = "[" + strings.TrimSuffix(tiers, ", ") + "]"
		without, with := both(t, tiers, members, fmt.Sprintf("}\nf: %d", f))
		same(r.Errorf, without.outcome, with.outcome)
		if with.seconds > without.seconds {
			r.Errorf("%v s without race, and %v with it", without.seconds, with.seconds)
		}
		if with.outcome.Calls.Made != without.outcome.Calls.Made+with.outcome.Calls.Needless {
			r.Errorf("%+v; without race %+v", with.outcome.Calls, without.outcome.Calls)
		}
	})
}
