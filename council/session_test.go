package council_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// Each limit alone stops a run. What is said names this limit only, and the command doubles what the next call would
// have come to.
func TestEachLimitAlone(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Usage(`{"prompt_tokens":100,"completion_tokens":100}`)))
	prices := llm.Prices{{Server: "127.0.0.1:*", Model: "s*", Price: llm.Price{Prompt: 1, Completion: 5}}}
	for limits, want := range map[string]struct{ says, past string }{
		"{calls: 5, tokens: 0, deadline: 0s}": {"limits.calls is 5; 5 were made, and the next call makes 6",
			"limits.calls=12"},
		"{calls: 0, tokens: 4000, deadline: 0s}":         {"limits.tokens is 4000; ", "limits.tokens="},
		"{calls: 0, tokens: 0, usd: 0.01, deadline: 0s}": {"limits.usd is 0.01; $0.00", "limits.usd=0.0"},
	} {
		text := strings.Replace(seven(s.URL, fiveToTwo...), "graph:", "limits: "+limits+"\ngraph:", 1)
		spec, err := plan.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		c, err := council.Convene(spec, llm.Env{Prices: prices, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Decide(t.Context(), council.Ask{Question: sum, Journal: filepath.Join(t.TempDir(), "j")})
		c.Close()
		if err != nil || o.Stopped != outcome.OverBudget {
			t.Errorf("%s: %v, stopped by %s", limits, err, o.Stopped)
			continue
		}
		o.Decision = synod.None // else there is nothing to advise
		if len(o.Exceeded) != 1 || !strings.HasPrefix(o.Exceeded[0].String(), want.says) {
			t.Errorf("%s: %q", limits, o.Exceeded)
		}
		if len(o.Past) != 1 || !strings.HasPrefix(o.Past[0], want.past) {
			t.Errorf("%s: %q", limits, o.Past)
		}
	}
}

// A run that was stopped can go on with other settings, and a complete one cannot.
func TestSettingsToResume(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	o := decide(t, convene(t, seven(s.URL, fiveToTwo...), "limits.calls=20", "exact=paper"), council.Ask{})
	if !o.Resumable || !slices.Equal(o.Past, []string{"limits.calls=42"}) {
		t.Errorf("%v, %q", o.Resumable, o.Past)
	}
	whole := decide(t, convene(t, seven(s.URL, fiveToTwo...)), council.Ask{Journal: filepath.Join(t.TempDir(), "k")})
	if whole.Resumable || whole.Past != nil {
		t.Errorf("a complete run: %v, %q", whole.Resumable, whole.Past)
	}
}

// The caller hears of each opinion and of how far the run has come.
func TestProgress(t *testing.T) {
	for _, text := range []string{"", "breakers: {drift: 9}\n"} { // with breakers another part of the run stops it
		c := convene(t,
			"protocol: {name: sac, rounds: 2}\nmodels: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, "+
				"model: d, count: 3}]\n"+text)
		var heard []string
		var last council.Progress
		o := decide(t, c, council.Ask{Seed: 1, Progress: func(p council.Progress) { last = p },
			Noted: func(seat synod.NodeID, o *synod.Opinion) { heard = append(heard, fmt.Sprint(seat, " ", o.Round)) }})
		if o.Stopped != outcome.Early || o.Rounds.Len() != 2 || last.Calls != o.Calls.Made ||
			last.Planned != o.Calls.Planned ||
			last.Rounds != 2 || last.Round != 0 {
			t.Errorf("%q: stopped by %s after %d rounds; %+v of %+v", text, o.Stopped, o.Rounds.Len()-1, last, o.Calls)
		}
		if want := []string{"0 0", "1 0", "2 0", "0 1", "1 1", "2 1"}; !slices.Equal(heard, want) {
			t.Errorf("%q: heard %v, want %v", text, heard, want)
		}
	}
}

// A journal is marked by its owner, names the program, and a segment keeps no end of a run without a decision that was
// cut off.
func TestJournalsOfAsks(t *testing.T) {
	c := convene(t,
		"protocol: {name: game, rounds: 20}\nmodels: {d: {provider: simulated, stubbornness: 1, noise: 0}}\n"+
			"seats: [{id: p, model: d, count: 6}]\nf: 0\nbreakers: {no_progress: 3}\n")
	for _, x := range []struct{ segment, final, end bool }{{false, false, true}, {true, false, false}, {true, true,
		true}} {
		ask := council.Ask{Question: sum, Seed: 1, Final: x.final, Program: "a test",
			Mark: func(head []byte) string { return fmt.Sprintf("%d bytes", min(len(head), 9)) }}
		path := filepath.Join(t.TempDir(), "j")
		ask.Journal = path
		if x.segment {
			ask.Segment = journal.InMemory()
			ask.Journal = "q"
		}
		o, err := c.Decide(t.Context(), ask)
		if err != nil || o.Stopped != outcome.Tripped {
			t.Fatalf("%+v: %v, stopped by %s", x, err, o.Stopped)
		}
		var run *journal.Run
		if !x.segment {
			run, err = journal.Load(path)
		} else if f, taken := ask.Segment.Take("q"); taken == nil {
			run, err = journal.Parse(f.Lines)
		} else {
			run, err = ask.Segment.Load("q")
		}
		if err != nil {
			t.Fatal(err)
		}
		if run.Head.Program != "a test" || run.Head.Origin != "9 bytes" || (run.End != nil) != x.end {
			t.Errorf("%+v: written by %q, marked %q, end %v", x, run.Head.Program, run.Head.Origin, run.End)
		}
	}
}

// After a journal that cannot be written the error says whether the outcome is complete.
func TestJournalErrors(t *testing.T) {
	cause := errors.New("no space left")
	for cut, want := range map[bool]string{
		true:  "the run was stopped, because its record could not be written: no space",
		false: "the journal could not be written, so this run cannot be replayed or resumed: no space",
	} {
		if err := (&council.JournalError{Err: cause, Cut: cut}); !strings.HasPrefix(err.Error(), want) ||
			!errors.Is(err, cause) {
			t.Errorf("cut %v: %v", cut, err)
		}
	}
}

// A webhook gets the outcome of a run that a breaker, a limit or the deadline stopped, and an answer other than
// success is an error. Nobody hears of another ending.
func TestWhatEscalates(t *testing.T) {
	status := http.StatusOK
	came := 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came++
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer hook.Close()
	s := llmtest.Start(t, stubborn, llmtest.For("never42", llmtest.Hang(time.Minute)))
	escalate := fmt.Sprintf("breakers: {escalate: {webhook: %q}}\n", hook.URL)
	for _, c := range []struct {
		name, set string
		status    int
		last      string
		interrupt bool
		came      int
		err       string
	}{
		{"complete", "f=3", 200, "s41", false, 0, ""},
		{"a limit", "limits.calls=5", 204, "s41", false, 1, ""},
		{"the deadline", "limits.deadline=100ms", 299, "never42", false, 1, ""},
		{"an interruption", "f=3", 200, "never42", true, 0, ""},
		{"not found", "limits.calls=5", 404, "s41", false, 1, "webhook: it answered 404"},
		{"a redirect", "limits.calls=5", 302, "s41", false, 1, "webhook: it answered 302"},
		{"an error", "limits.calls=5", 500, "s41", false, 1, "webhook: it answered 500"},
	} {
		came, status = 0, c.status
		ctx, cancel := context.WithCancel(t.Context())
		if c.interrupt {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		models := append(slices.Clone(fiveToTwo[:6]), c.last)
		_, err := convene(t, seven(s.URL, models...)+escalate, c.set, "exact=paper", "protocol.rounds=1").Decide(ctx,
			council.Ask{Question: sum})
		cancel()
		var failed *council.EscalationError
		if errors.As(err, &failed) != (c.err != "") || c.err != "" && !strings.Contains(err.Error(), c.err) ||
			came != c.came {
			t.Errorf("%s: %v; the webhook was called %d times", c.name, err, came)
		}
	}
}

// A command that fails or takes too long is named.
func TestEscalationCommands(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	for command, want := range map[string]string{
		"{command: ['true']}": "", "{command: ['false']}": "command false: exit status 1",
		"{command: [sleep, '60'], within: 100ms}": "command sleep: it did not end in time",
	} {
		c := convene(t, seven(s.URL, fiveToTwo...)+"breakers: {escalate: "+command+"}\n", "limits.calls=5")
		_, err := c.Decide(t.Context(), council.Ask{Question: sum})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// One model is opened from settings as they stand in a council file.
func TestOpenModel(t *testing.T) {
	for want, settings := range map[string]plan.Params{
		"":                             {"provider": "simulated", "ability": 0.5},
		"it names no provider":         {"ability": 0.5},
		"ability":                      {"provider": "simulated", "ability": 7},
		`no provider is called "sims"`: {"provider": "sims"},
	} {
		m, err := council.OpenModel(settings, llm.Env{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil &&
			m == nil {
			t.Errorf("%v: %v", settings, err)
		}
	}
}

// broken is a runner that cannot begin.
type broken struct{}

func (broken) Play(context.Context, *plan.Plan, council.Run, council.Models) (council.Played, error) {
	return council.Played{}, errors.New("no road")
}

// A run that cannot begin is an error, with a journal that has no end, or without one.
func TestRunnerThatCannotBegin(t *testing.T) {
	c, err := council.Open(planFor(t, ""), council.Options{Runner: broken{}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := filepath.Join(t.TempDir(), "j")
	for _, file := range []string{"", path} {
		if _, err := c.Decide(t.Context(), council.Ask{Question: sum, Journal: file}); err == nil ||
			err.Error() != "no road" {
			t.Errorf("journal %q: %v", file, err)
		}
	}
	if run, err := journal.Load(path); err != nil || !outcome.Unfinished(run) || run.End != nil {
		t.Errorf("%v, %+v", err, run)
	}
}

// The limits of one question lower those of the council, and never raise them.
func TestLimitsOfOneQuestion(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	// A slow call is waited for, and the deadline has passed when the run begins: the test needs no speed.
	c := convene(t, seven(s.URL, fiveToTwo...), "limits.calls=20", "patience.spare=0")
	for _, test := range []struct {
		limits  plan.Limits
		stopped string
		most    int
	}{
		{plan.Limits{Calls: 9}, outcome.OverBudget, 9},
		{plan.Limits{Calls: 1000}, outcome.OverBudget, 20},
		{plan.Limits{Deadline: time.Nanosecond}, outcome.PastTime, 20},
	} {
		o, err := c.Decide(context.Background(), council.Ask{Question: sum, Seed: 7, Limits: test.limits})
		if err != nil || o.Stopped != test.stopped || o.Calls.Made > test.most {
			t.Errorf("%+v: %s after %d calls, %v; want %s after at most %d", test.limits, o.Stopped, o.Calls.Made, err,
				test.stopped, test.most)
		}
	}
	// Other models at an address of this machine are free.
	sold := convene(t, strings.ReplaceAll(seven(s.URL, fiveToTwo...), "model: s", "model: gpt-"))
	_, err := sold.Decide(context.Background(), council.Ask{Question: sum, Limits: plan.Limits{USD: 1}})
	if err == nil || !strings.Contains(err.Error(), "usd needs the price of every model") {
		t.Errorf("a limit in money without prices: %v", err)
	}
}
