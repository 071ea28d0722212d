package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"synod.dev/synod/internal/llmtest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/twolines.golden")

// outcomes are questions that end in the ways that people see most often.
var outcomes = []struct{ name, council, flags, question string }{
	{"seven models agree", voters("s42", "t42", "u42", "v42", "w42", "x42", "y42"), "", adding},
	{"five of seven models agree", voters("s42", "t42", "u42", "v42", "w42", "x41", "y41"), "", adding},
	{"a price that is not known", voters("gpt-42", "claude-42", "gemini-42"), "", adding},
	{"one model on all seats", oneModel, "", adding},
	{"two models on seven seats", majority + "models:\n  a: {provider: openai, url: $STUB, model: s42}\n" +
		"  b: {provider: openai, url: $STUB, model: s41}\n" +
		"seats: [{id: a, model: a, count: 4}, {id: b, model: b, count: 3}]", "", adding},
	{"a name, as the members wrote it", voters("city-2", "city-2", "city-2"), "--form text", "Which city is it?"},
	{"one member down", voters("s42", "t42", "bad-missing"), "--no-preflight", adding},
	{"no consensus", voters("s42", "t41", "u40"), "", adding},
	{"no consensus, best effort", voters("s42", "t41", "u40"), "--on-no-consensus best-effort", adding},
	{"most members down", voters("s42", "bad-missing", "bad-empty"), "--no-preflight", adding},
	{"few are asked", "protocol: {name: cascade}\n" + voters("s42", "t42", "u42", "v42", "w42")[len(majority):], "",
		adding},
	{"a text, chosen by grades", "f: 2\nmodels: {d: {provider: simulated, ability: 0.6}}\n" +
		"seats: [{id: a, model: d, count: 7}]",
		"--seed 3", "Explain why the sky is blue."},
	{"a JSON value", voters("invoice-12", "invoice-12", "invoice-9999"), "--schema invoice.json", "Read the invoice."},
	{"a model on two seats that cannot be read", majority +
		"models:\n  a: {provider: openai, url: $STUB, model: s42}\n" +
		"  b: {provider: openai, url: $STUB, model: bad-empty}\n" +
		"seats: [{id: a, model: a, count: 3}, {id: b, model: b, count: 2}]", "--no-preflight", adding},
	{"a model alone", voters("s42"), "", adding},
	{"simulated", "models: {d: {provider: simulated, ability: 1}}\nseats: [{id: a, model: d, count: 5}]", "",
		adding},
	{"hostile members", "f: 1\nmodels: {d: {provider: simulated, ability: 1, skill: 1, primacy: 0, shared: 0}}\n" +
		"seats: [{id: a, model: d, count: 4}, {id: m, model: d, adversary: {name: replay}}]", "", adding},
}

const (
	adding   = "What is 17 + 25?"
	majority = "protocol: {name: majority}\n"
	oneModel = majority + "models: {a: {provider: openai, url: $STUB, model: s42}}\n" +
		"seats: [{id: a, model: a, count: 7}]"
)

// voters is a council of a vote of different models at the stub.
func voters(names ...string) string {
	all, seats := majority+"models:\n", "seats:\n"
	for i, name := range names {
		all += fmt.Sprintf("  m%d: {provider: openai, url: $STUB, model: %s}\n", i, name)
		seats += fmt.Sprintf("  - {id: m%d, model: m%d}\n", i, i)
	}
	return all + seats
}

// TestTwoLines is the transcript of the default output at 80 columns: the answer, by how many of how many, and what it
// cost. It has no symbol, and no word of the papers.
func TestTwoLines(t *testing.T) {
	const golden = "testdata/twolines.golden"
	golden0, err := filepath.Abs(golden)
	if err != nil {
		t.Fatal(err)
	}
	stub := llmtest.Start(t, stubborn, misbehaviours()...)
	t.Chdir(t.TempDir())
	t.Setenv("COLUMNS", "80")
	t.Setenv("OPENAI_API_KEY", "sk-canary-0123456789")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("invoice.json", `{"type": "object", "properties": {"total": {"type": "number"}, "vendor": {"type": "string"}}}`)
	var all strings.Builder
	for _, x := range outcomes {
		write("c.yaml", strings.ReplaceAll(x.council, "$STUB", `"`+stub.URL+`"`))
		args := append([]string{"--home", ".", "ask", "-c", "c.yaml", "--no-journal"}, strings.Fields(x.flags)...)
		var both bytes.Buffer
		code := Run(context.Background(), append(args, x.question), strings.NewReader(""), &both, &both)
		fmt.Fprintf(&all, "%s (exit %d)\n%s\n", x.name, code, both.String())
	}
	got := regexp.MustCompile(`(?m)\b\d+\.\d s,`).ReplaceAllString(all.String(), "0.1 s,")
	got = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(got, "127.0.0.1:9000")
	got = regexp.MustCompile(`\S+/config/`).ReplaceAllString(got, "HOME/config/")
	got = strings.ReplaceAll(got, strings.TrimPrefix(stub.URL, "http://"), "STUB")
	plainOutput(t, got)
	if *rewrite {
		if err := os.WriteFile(golden0, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden0); err != nil || string(want) != got {
		t.Errorf("%v; -rewrite renews %s; now:\n%s", err, golden, got)
	}
}

// jargon is what nobody reads who does not know the papers.
var jargon = regexp.MustCompile(`[^\x00-\x7f“”’…–]|[$=<>±]|\b(r|F|n)=|Byzantine|robust|SAC|claim [0-9]|withstands|bound`)

// plainOutput fails for lines of a transcript that are too wide or no plain words.
func plainOutput(t *testing.T, transcript string) {
	failed := false // what follows is an error with commands
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		failed = line != "" && (failed || strings.HasPrefix(line, "synod:"))
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
		if found := jargon.FindString(line); found != "" && !failed {
			t.Errorf("%q is no plain word in: %s", found, line)
		}
	}
}
