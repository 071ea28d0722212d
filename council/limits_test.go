package council_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// A limit on requests holds however often the run is cut off and resumed, whatever cut
// it off: requests that were on their way count.
func TestLimitHoldsAcrossResumes(t *testing.T) {
	for name, cut := range map[string]struct {
		set  string
		give time.Duration // until the caller gives up; 0: never
	}{
		"deadline":    {set: "limits.deadline=80ms"},
		"interrupted": {give: 80 * time.Millisecond, set: "limits.deadline=10m"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Hang(time.Minute)))
			c := convene(t, seven(s.URL, fiveToTwo...), "limits.calls=10", cut.set)
			ask := council.Ask{Question: sum, Seed: 7}
			for n := range 9 {
				ask.Journal = filepath.Join(t.TempDir(), fmt.Sprint(n))
				ctx := context.Background()
				if cut.give > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, cut.give)
					defer cancel()
				}
				o, err := c.Decide(ctx, ask)
				if err != nil || o.Answer != nil {
					t.Fatal(o.Answer, err)
				}
				if ask.Resume, err = journal.Load(ask.Journal); err != nil {
					t.Fatal(err)
				}
				if judged := outcome.Judge(c.Plan(), plan.Instance{Question: sum, Seed: 7},
					outcome.RecordsOf(c.Plan(), ask.Resume)); judged.Calls.Made != s.Count() ||
					o.Calls.Made != s.Count() {
					t.Errorf("resume %d: %d requests, %d in the outcome, %d in the journal",
						n, s.Count(), o.Calls.Made, judged.Calls.Made)
				}
			}
			if s.Count() != 10 {
				t.Errorf("%d requests under calls: 10 after 8 resumes", s.Count())
			}
		})
	}
}

// A server whose usage is not true can neither end the run of the others nor switch the
// limit off: its calls are charged what was reserved.
func TestFalseUsage(t *testing.T) {
	limited := func(usage llmtest.Behaviour) (calls int) {
		s := llmtest.Start(t, stubborn, llmtest.With(usage))
		decide(t, convene(t, seven(s.URL, fiveToTwo...), "limits.tokens=40000", "exact=paper"), council.Ask{})
		return s.Count()
	}
	honest := limited(llmtest.OK())
	for _, usage := range []string{
		`{"prompt_tokens":9223372036854775000,"completion_tokens":5}`,
		`{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`,
		`{"prompt_tokens":5,"completion_tokens":4611686018427387904}`,
		`{"prompt_tokens":-9000000,"completion_tokens":-1}`,
		`{"prompt_tokens":1.5,"completion_tokens":2}`,
		`{"prompt_tokens":1e300,"completion_tokens":"7"}`,
		`"none of your business"`,
	} {
		if n := limited(llmtest.Usage(usage)); n > honest || n == 0 {
			t.Errorf("%s: %d requests under a limit that lets %d honest ones pass", usage, n, honest)
		}
	}
}

// What a member's server does wrong is in the journal and in the outcome.
func TestFaultIsShown(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("s42", llmtest.Usage(`{"prompt_tokens":5,"completion_tokens":70000}`)))
	c, path := convene(t, seven(s.URL, "s42", "s43", "s43", "s43", "s43", "s43", "s43"), "protocol.rounds=1"),
		filepath.Join(t.TempDir(), "j")
	o := decide(t, c, council.Ask{Journal: path})
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	judged := outcome.Judge(c.Plan(), plan.Instance{Question: sum, Seed: o.Seed}, outcome.RecordsOf(c.Plan(), run))
	for _, o := range []outcome.Outcome{o, judged} {
		for i, m := range o.Members {
			if want := i == 0; (m.Misreports.Replies > 0) != want ||
				strings.Contains(m.Misreports.First, "70000 completion tokens") != want {
				t.Errorf("%s: %+v", m.ID, m.Misreports)
			}
		}
	}
	if o.Tokens.Completion > 1000*o.Calls.Made {
		t.Errorf("%d completion tokens", o.Tokens.Completion)
	}
}

// An attempt that is cut off at once has the replies of the earlier ones, so that the next
// can be resumed from it.
func TestAttemptHasEarlierReplies(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := llmtest.Start(t, func(c llmtest.Call) string {
		if c.N == 20 {
			cancel()
		}
		return stubborn(c)
	})
	c, dir := convene(t, seven(s.URL, fiveToTwo...), "exact=paper"), t.TempDir()
	ask := council.Ask{Question: sum, Seed: 7}
	var had int
	for n := range 3 {
		ask.Journal = filepath.Join(dir, fmt.Sprint(n))
		if _, err := c.Decide(ctx, ask); err != nil {
			t.Fatal(err)
		}
		run, err := journal.Load(ask.Journal)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			had = len(run.Answered())
		}
		if got := len(run.Answered()); got != had || had < 7 {
			t.Errorf("attempt %d has %d replies, the first had %d", n, got, had)
		}
		ask.Resume = run
	}
}
