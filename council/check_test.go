package council_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/internal/sandbox"
)

// needSandbox skips a test where bubblewrap cannot run.
func needSandbox(t *testing.T) {
	t.Helper()
	if err := sandbox.Usable(sandbox.Command{Argv: []string{"true"}}); err != nil {
		t.Skipf("NOT TESTED: commands among checks: %v", err)
	}
}

const (
	small = "\nchecks: [{name: small, cel: self < 50, says: the answer is below 50}]\n"
	// even prints a reason and fails for odd numbers.
	even = "\nchecks: [{name: even, command: [sh, -c, " +
		"'read x; [ $((x % 2)) = 0 ] || { echo \"$x is odd\"; exit 1; }']}]\n"
)

// learner gives another answer, 42, when it is told that its own is not accepted, if its model's name begins so.
func learner(c llmtest.Call) string {
	if strings.HasPrefix(c.Model, "l") && c.Said != "" {
		if !strings.Contains(c.User, "cannot be accepted") || !strings.Contains(c.User, "below 50") {
			return "nobody told me why"
		}
		if strings.Contains(c.User, "Confidence:") {
			return "I see.\nAnswer: 42, Confidence: 0.9"
		}
		return "I see.\nAnswer: 42"
	}
	return stubborn(c)
}

// Three liars of five that agree win the vote, and not the check. A member that learns is asked once more.
func TestCheckBeatsVote(t *testing.T) {
	for _, protocol := range []string{"{name: majority}", "{name: sac, rounds: 2}", "{name: debate}",
		"{name: weighted-majority}", "{name: cascade, tiers: [[a0, a1], [a2, a3, a4]]}"} {
		t.Run(protocol, func(t *testing.T) {
			s := llmtest.Start(t, learner)
			file := panelOf(s.URL, protocol, "s99", "s42", "s99", "l99", "s42")
			set := []string{"f=1", "rule.name=plurality"}
			if strings.Contains(protocol, "cascade") {
				set = []string{"f=1"}
			}
			if o := decide(t, convene(t, file, set...), council.Ask{}); o.Decision == "42" {
				t.Errorf("without the check: %s %q", o.Status, o.Decision)
			}
			c := convene(t, file+small, set...)
			path := filepath.Join(t.TempDir(), "j")
			o := decide(t, c, council.Ask{Seed: 3, Journal: path})
			want := []outcome.Checked{{Name: "small", Kind: "cel", Passed: true, Failed: []string{"a0", "a2"}}}
			if o.Decision != "42" || !reflect.DeepEqual(o.Checks, want) {
				t.Errorf("%s %q (%s): %+v", o.Status, o.Decision, o.Reason, o.Checks)
			}
			sameChecks(t, c, path, &o)
		})
	}
}

// sameChecks checks that a journal replays, and gives the same outcome again.
func sameChecks(t *testing.T, c *council.Council, path string, o *outcome.Outcome) {
	t.Helper()
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if digest, err := council.Replay(run); err != nil || digest != o.Digest {
		t.Errorf("replay gives %s, %v; the run's digest is %s", digest, err, o.Digest)
	}
	again := c.Recall(run, path)
	if !reflect.DeepEqual(again.Checks, o.Checks) || again.Decision != o.Decision ||
		!reflect.DeepEqual(again.Members, o.Members) {
		t.Errorf("the journal says %q, %+v", again.Decision, again.Checks)
	}
}

// A member whose second answer fails too abstains. That is no failure of its server, and it is said which check failed.
func TestFailedTwice(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	o := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "s99", "s42", "s42")+small, "f=0"), council.Ask{})
	m := o.Members[0]
	if o.Decision != "42" || m.First != nil || m.Trouble != "" || m.Unreadable == nil || o.Status == outcome.Degraded ||
		m.Calls.Of(synod.Unreadable) != 1 || m.Unreadable.Help != "failed check small: the answer is below 50" {
		t.Errorf("%s: %+v, %+v", o.Status, m, m.Unreadable)
	}
	if o.Calls.Made != 4 || o.Rereads != 1 {
		t.Errorf("%+v calls, %d second requests", o.Calls, o.Rereads)
	}
	never := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "s99", "s42", "s42")+small, "f=0",
		"reread=never"), council.Ask{})
	if never.Decision != "42" || never.Calls.Made != 3 || never.Checks[0].Failed[0] != "a0" {
		t.Errorf("without second requests: %+v, %+v", never.Calls, never.Checks)
	}
	all := decide(t, convene(t, panelOf(s.URL, "{name: majority}", "s99", "s98", "s99")+small, "f=0"), council.Ask{})
	if all.Status != outcome.Undecided || all.Checks[0].Passed || len(all.Checks[0].Failed) != 3 {
		t.Errorf("all fail: %s %q %+v", all.Status, all.Decision, all.Checks)
	}
}

// A command is run on each answer once, its verdict is in the journal, and a replay runs nothing.
func TestCommand(t *testing.T) {
	needSandbox(t)
	s := llmtest.Start(t, stubborn)
	c := convene(t, panelOf(s.URL, "{name: majority}", "s41", "s42", "s41", "s42", "s41")+even, "f=1",
		"rule.name=plurality")
	path := filepath.Join(t.TempDir(), "j")
	o := decide(t, c, council.Ask{Seed: 3, Journal: path})
	if o.Decision != "42" || o.Passed() != "even (command)" ||
		o.Members[0].Unreadable.Help != "failed check even: 41 is odd" {
		t.Errorf("%s %q: %+v", o.Status, o.Decision, o.Members[0].Unreadable)
	}
	t.Setenv("PATH", "")
	sameChecks(t, c, path, &o)
}

// A value that no member gave was not checked by the command, so it is no decision; a condition is evaluated on it.
func TestMergedValueIsChecked(t *testing.T) {
	s := llmtest.Start(t, verbatim)
	file := saying(s.URL, "majority", 0, "plurality", `{"total":2,"vendor":"A"}`, `{"total":4,"vendor":"B"}`,
		`{"total":6,"vendor":"B"}`, `{"total":4,"vendor":"A"}`, `{"total":4,"vendor":"A","note":"x"}`)
	decided := decide(t, convene(t, file), council.Ask{Question: invoice})
	if decided.Decision == synod.None {
		t.Fatalf("%s", decided.Reason)
	}
	not := fmt.Sprintf("\nchecks: [{name: other, regex: '\"vendor\":\"[^%s]'}]\n", "A")
	o := decide(t, convene(t, file+not), council.Ask{Question: invoice})
	if strings.Contains(string(o.Decision), `"A"`) || len(o.Checks[0].Failed) != 3 {
		t.Errorf("%s %q %+v", o.Status, o.Decision, o.Checks)
	}
}

// Arguments of tools are checked by tool.
func TestToolIsChecked(t *testing.T) {
	s := llmtest.Start(t, verbatim)
	tools := []synod.Tool{{Name: "pay",
		Parameters: json.RawMessage(`{"type":"object","properties":{"usd":{"type":"number"}}}`)},
		{Name: "wait"}}
	q := synod.Question{Text: "Pay the bill.", Form: synod.Action, Tools: tools}
	pay := `{"name":"pay","arguments":{"usd":%d}}`
	file := saying(s.URL, "majority", 0, "plurality", fmt.Sprintf(pay, 900), fmt.Sprintf(pay, 900), fmt.Sprintf(pay, 9))
	for check, want := range map[string]string{
		"": fmt.Sprintf(`{"arguments":{"usd":%d},"name":"pay"}`, 900),
		"\nchecks: [{name: few, tool: pay, cel: self.usd <= 100}]\n":    `{"arguments":{"usd":9},"name":"pay"}`,
		"\nchecks: [{name: none, tool: wait, cel: self.usd == 1}]\n":    `{"arguments":{"usd":900},"name":"pay"}`,
		"\nchecks: [{name: call, cel: self.arguments.usd < 10.0}]\n":    `{"arguments":{"usd":9},"name":"pay"}`,
		"\nchecks: [{name: no, schema: {required: [approved]}}]\n":      "",
		"\nchecks: [{name: s, tool: pay, schema: {required: [usd]}}]\n": `{"arguments":{"usd":900},"name":"pay"}`,
	} {
		if o := decide(t, convene(t, file+check), council.Ask{Question: q}); string(o.Decision) != want {
			t.Errorf("%s: %q (%s); want %q", check, o.Decision, o.Reason, want)
		}
	}
}

// Adversaries that forge answers in place of their models gain nothing: what fails is dropped where it is heard and
// where it is counted.
func TestForgedAnswersAreChecked(t *testing.T) {
	checks := map[string]string{"cel": small}
	if sandbox.Usable(sandbox.Command{Argv: []string{"true"}}) == nil {
		checks["command"] = even
	}
	for kind, check := range checks {
		for _, protocol := range []string{"{name: majority}", "{name: sac, rounds: 2}", "{name: debate}",
			"{name: weighted-majority}"} {
			s := llmtest.Start(t, stubborn)
			file := strings.ReplaceAll(panelOf(s.URL, protocol, "s42", "s42", "s42", "s42", "s42")+check, "model: m4}",
				"model: m4, adversary: {name: constant, answer: '99'}}")
			file = strings.ReplaceAll(file, "model: m3}", "model: m3, adversary: {name: constant, answer: '99'}}")
			path := filepath.Join(t.TempDir(), "j")
			c := convene(t, file, "f=1", "rule.name=plurality")
			o := decide(t, c, council.Ask{Journal: path})
			// Who hears an answer cannot run a command on it. Where that is taken over, there is no decision.
			want := synod.Answer("42")
			if kind == "command" && strings.Contains(protocol, "weighted") {
				want = synod.None
			}
			if o.Decision != want || o.Members[4].Final != nil && *o.Members[4].Final == "99" {
				t.Errorf("%s %s: %q, %+v", kind, protocol, o.Decision, o.Votes)
			}
			for _, v := range o.Votes {
				if v.Answer == "99" {
					t.Errorf("%s %s: a vote for 99", kind, protocol)
				}
			}
			sameChecks(t, c, path, &o)
		}
	}
}

// A command comes from the council file alone, and never from a question, a journal or nodes.
func TestForeignCommands(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	file := panelOf(s.URL, "{name: majority}", "s42", "s42", "s42")
	q := sum
	q.Checks = []synod.Check{{Name: "mine", Command: []string{"true"}}}
	if _, err := convene(t, file).Decide(t.Context(), council.Ask{Question: q}); !errors.Is(err, synod.ErrCommand) {
		t.Errorf("a question with a command: %v", err)
	}
	q.Checks[0].Name = "even"
	c := convene(t, file+even)
	if _, err := c.Decide(t.Context(), council.Ask{Question: q}); err == nil ||
		!strings.Contains(err.Error(), "another check that is called even") {
		t.Errorf("a question with another command of the same name: %v", err)
	}
	q.Checks = []synod.Check{{Name: "even", CEL: "true"}}
	if _, err := c.Decide(t.Context(), council.Ask{Question: q}); err == nil {
		t.Error("a question replaces a check of the council")
	}
	starts := c.Plan().Full().Starts()
	if len(starts) == 0 || !strings.Contains(starts[len(starts)-1], "check even runs the command") {
		t.Errorf("what the council starts: %q", starts)
	}
	if s.Count() != 0 {
		t.Errorf("%d calls were made", s.Count())
	}
}

// A question brings checks of its own, which are added to those of the council and name the run.
func TestChecksOfQuestion(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	c := convene(t, panelOf(s.URL, "{name: majority}", "s42", "s42", "s41", "s99", "s99")+small, "f=1",
		"rule.name=plurality")
	q := sum
	q.Checks = []synod.Check{{Name: "odd", Regex: "[13579]$"}}
	o := decide(t, c, council.Ask{Question: q})
	if o.Decision != "41" || o.Passed() != "small (cel), odd (regex)" {
		t.Errorf("%q, %s", o.Decision, o.Passed())
	}
	p, in := c.Plan(), plan.Instance{Question: sum}
	bare := p.InstanceID(in)
	in.Question.Checks = p.Full().Checks
	if p.InstanceID(in) != bare {
		t.Error("a question with the checks of its council is another run")
	}
	if in.Question = q; p.InstanceID(in) == bare {
		t.Error("the checks of a question do not change the run")
	}
}

// Mistakes are refused before anybody is asked.
func TestBadChecks(t *testing.T) {
	for check, want := range map[string]string{
		"{cel: 'true'}":                                   "name",
		"{name: a}":                                       "needs one of them",
		"{name: a, cel: 'true', regex: x}":                "has 2 of",
		"{name: a, cel: 'self <'}":                        "check a",
		"{name: a, cel: 'self + 1'}":                      "must be true or false",
		"{name: a, cel: 'other > 1'}":                     "other",
		"{name: a, regex: '(abcdefghij){900}'}":           "steps",
		"{name: a, regex: '('}":                           "regex",
		"{name: a, schema: {type: objekt}}":               "objekt",
		"{name: a, cel: 'true', memory: 5}":               "belong to a command",
		"{name: a, command: ['']}":                        "names no program",
		"{name: a, command: [x], seconds: -1}":            "seconds",
		"{name: a, cel: 'true'}, {name: a, cel: 'false'}": "two checks",
		"{name: a, sel: 'true'}":                          "sel",
	} {
		text := "checks: [" + check + "]\nmodels: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 3}]\n"
		spec, err := plan.Parse([]byte(text))
		if err == nil {
			_, err = plan.New(spec)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", check, err, want)
		}
	}
}

// Without bubblewrap a council with a command asks nobody and says what to do.
func TestCommandWithoutSandbox(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	t.Setenv("PATH", "")
	c := convene(t, panelOf(s.URL, "{name: majority}", "s42")+"\nchecks: [{name: mine, command: [mine]}]\n", "f=0")
	if _, err := c.Decide(t.Context(), council.Ask{Question: sum}); err == nil || s.Count() != 0 ||
		!strings.Contains(err.Error(), "check mine: bubblewrap (bwrap) is not installed") {
		t.Errorf("%v, after %d calls", err, s.Count())
	}
}

// Where every answer fails a check, tiers have no decision; that is no failure of the servers.
func TestTiersOfFailedAnswers(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	file := panelOf(s.URL, "{name: cascade, tiers: [[a0, a1], [a2]]}", "s99", "s99", "s98")
	o := decide(t, convene(t, file+small, "f=1"), council.Ask{})
	if o.Status != outcome.Undecided || !strings.Contains(o.Reason, "3 answers failed a check") ||
		!strings.Contains(o.Members[0].Lacking(), "failed check small") {
		t.Errorf("%s (%s): %s", o.Status, o.Reason, o.Members[0].Lacking())
	}
}
