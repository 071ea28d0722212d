package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/llmtest"
)

// mistake is a command that a user may type by mistake, and what the program says.
type mistake struct {
	args   string // words; a part in single quotes is one word
	file   string // content of c.yaml: see council
	stdin  string
	code   int
	cause  string // part of the output that names the key or the file, and the value
	remedy string // part of the output that names what is allowed or what to do
}

// pair is a council of simulated members without mistakes, to which a row adds one.
const pair = `council: pair
models: {dice: {provider: simulated, ability: 1}}
seats: [{id: a, model: dice, count: 3}, {id: m, model: dice}]
`

// council returns the content of c.yaml: a council whose only model has the settings after "model", or whose seats are
// those after "seats"; pair with the lines after a plus; else the text as it is.
func (m mistake) council() string {
	if settings, ok := strings.CutPrefix(m.file, "model "); ok {
		return "models: {m: {" + settings + "}}\nseats: [{id: a, model: m}]\n"
	}
	if seats, ok := strings.CutPrefix(m.file, "seats "); ok {
		return "models: {m: {provider: simulated}}\nseats: [" + seats + "]\n"
	}
	if lines, ok := strings.CutPrefix(m.file, "+"); ok {
		return pair + lines
	}
	return m.file
}

// TestMistakes types the commands of mistakes and demands the exit code, the cause and the remedy.
func TestMistakes(t *testing.T) {
	if len(mistakes) < 75 {
		t.Errorf("%d mistakes, not 75", len(mistakes))
	}
	stub := llmtest.Start(t, stubborn)
	t.Chdir(t.TempDir())
	for _, v := range variables {
		t.Setenv(v.name, "")
	}
	t.Setenv("SYNOD_HOME", t.TempDir())
	for name, text := range mistakeFiles {
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "$STUB", stub.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"bench run good.jsonl -c good.yaml -o run", "ask -c good.yaml --journal j.jsonl Why?"} {
		if code, out := typed(t, args, ""); code != app.ExitOK {
			t.Fatalf("synod %s: exit code %d\n%s", args, code, out)
		}
	}
	for _, m := range mistakes {
		t.Run(m.args, func(t *testing.T) {
			text := strings.ReplaceAll(m.council(), "$STUB", stub.URL)
			if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			stdin := m.stdin
			if stdin == tooLong {
				stdin = strings.Repeat("why ", 1<<21)
			}
			code, out := typed(t, m.args, stdin)
			if code != m.code || !strings.Contains(out, m.cause) || !strings.Contains(out, m.remedy) {
				t.Errorf("exit code %d, not %d; cause %q: %t; remedy %q: %t\n%s", code, m.code, m.cause,
					strings.Contains(out, m.cause), m.remedy, strings.Contains(out, m.remedy), out)
			}
			if strings.Count(out, "\n") > 12 {
				t.Errorf("the message has more than 12 lines:\n%s", out)
			}
		})
	}
	if left, _ := filepath.Glob("/no-such-folder*"); left != nil {
		t.Errorf("a mistake created %v", left)
	}
}

// typed runs a command line in this process and returns its exit code and output.
func typed(t *testing.T, args, stdin string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := Run(context.Background(), words(args), strings.NewReader(stdin), &out, &out)
	return code, out.String()
}

// words splits a command line at spaces. A part in single quotes is one word.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

var mistakeFiles = map[string]string{
	"good.yaml":   pair,
	"good.jsonl":  `{"id": "a", "question": "What is 1 + 1?", "answer": "2"}` + "\n",
	"bad.jsonl":   `{"id": "a", "question": "What is 1 + 1?", "anwser": "2"}` + "\n",
	"key.jsonl":   `{"id": "a", "question": "How many?", "answer": "many"}` + "\n",
	"empty.jsonl": "",
	"text.txt":    "no journal\n",
	"edges.json":  `{"n": 3, "edges": [[0,7]]}` + "\n",
}

// tooLong stands for a question of 8 MiB. As a variable it would be made by every command that a test starts, because
// commands are processes of the binary of the tests.
const tooLong = "a question of 8 MiB"

var mistakes = []mistake{
	// A council file that cannot be read.
	{"ask -c c.yaml Why?", "", "", 2, "c.yaml", "seats"},
	{"ask -c nowhere.yaml Why?", "", "", 2, "nowhere.yaml", "check the path"},
	{"ask -c . Why?", "", "", 2, "is a folder", "a council file"},
	{"ask -c c.yaml Why?", "council: [a\n", "", 2, "c.yaml: line 1", "docs/use/council-file.md"},
	{"ask -c c.yaml Why?", "just a text\n", "", 2, "c.yaml: line 1", "example"},
	{"ask -c c.yaml Why?", "\tf: 1\n", "", 2, "c.yaml: line 1", "tab"},
	{"ask -c c.yaml Why?", "council: \xff\xfe\n", "", 2, "c.yaml", "UTF-8"},
	// Keys of a council file, with their paths.
	{"ask -c c.yaml Why?", "+limits: {deadline: -1s}\n", "", 2, "line 4: limits.deadline is -1s; ", "such as 90s"},
	{"ask -c c.yaml Why?", "+limits: {usd: -1}\n", "", 2, "line 4: limits.usd is -1; ", "such as 0.50"},
	{"ask -c c.yaml Why?", "+limits: {tokens: 1.5}\n", "", 2, "limits.tokens is 1.5; ", "a whole number"},
	{"ask -c c.yaml Why?", "+limits: {dedline: 9s}\n", "", 2,
		`line 4: limits: unknown key "dedline"`, `"deadline"`},
	{"ask -c c.yaml Why?", "+support: 2\n", "", 2, `unknown key "support"`, `did you mean "rule.support"?`},
	{"ask -c c.yaml Why?", "+protocol: {name: sac, rounds: -1}\n", "", 2,
		"line 4: protocol.rounds is -1; ", "0 and 1000"},
	{"ask -c c.yaml Why?", "+protocol: {name: sac, rounds: x}\n", "", 2, `protocol.rounds: "x" is not`, "example: 3"},
	{"ask -c c.yaml Why?", "+pace: {think: -1s}\n", "", 2, "pace.think is -1s; ", "between 1ms and 24h"},
	{"ask -c c.yaml Why?", "+faults: {delay: {min: 3s, max: 1s}}\n", "", 2,
		"faults.delay.min is 3s; ", "delay.max, 1s (example: {min: 10ms, max: 50ms})"},
	{"ask -c c.yaml Why?", "+faults: {crashes: [{node: 9, at: 1s}]}\n", "", 2,
		"faults.crashes[0].node is 9; ", "0 to 3"},
	{"ask -c c.yaml Why?", "+graph: {family: er, p: 2}\n", "", 2,
		"graph.p is 2; ", "between 0 and 1 (example: p: 0.5)"},
	{"ask -c c.yaml Why?", "+graph: {family: regular, degree: 9}\n", "", 2, "graph.degree is 9; ", "between 0 and 3"},
	{"ask -c c.yaml Why?", "+faults: {loss: 2}\n", "", 2, "faults.loss is 2; ", "between 0 and 1"},
	{"ask -c c.yaml Why?", "+rule: {name: majority, support: -1}\n", "", 2,
		"line 4: rule.support is -1; ", "between 0"},
	{"ask -c c.yaml Why?", "model provider: simulated, ability: 2", "", 2,
		"models.m.ability is 2; ", "between 0 and 1"},
	{"ask -c c.yaml Why?", "model provider: simulated, ability: x", "", 2,
		`models.m.ability: "x" is not`, "example: 0.5"},
	{"ask -c good.yaml Why? --set limits.deadline=10", "", "", 2, `--set: limits.deadline: "10" is not a duration`,
		"example: 90s"},
	{"ask -c good.yaml Why? --set limits.deadline=-1s", "", "", 2, "--set: limits.deadline is -1s; ", "such as 90s"},
	{"ask -c good.yaml Why? --set limits.tokens=1.5", "", "", 2, "--set: limits.tokens is 1.5; ", "a whole number"},
	{"ask -c good.yaml Why? --set protocol.name=sac --set protocol.rounds=-1", "", "", 2,
		"--set: protocol.rounds is -1; ", "0 and 1000"},
	{"ask -c good.yaml Why? --set models.dice.ability=2", "", "", 2, "--set: models.dice.ability is 2; ", "0 and 1"},
	{"ask -c good.yaml Why? --set seats.a.count=x", "", "", 2, `--set: seats.a.count: "x" is not`, "example: 3"},
	{"ask -c good.yaml Why? --set seats.a.modle=x", "", "", 2, `--set: seats.a: unknown key "modle"`, `"model"`},
	// Other mistakes in a council file.
	{"ask -c c.yaml Why?", "+protocl: {name: sac}\n", "", 2, `line 4: unknown key "protocl"`,
		`did you mean "protocol"?`},
	{"ask -c c.yaml Why?", "+protocol: {name: sac, roundz: 3}\n", "", 2, `unknown key "roundz"`, `"rounds"`},
	{"ask -c c.yaml Why?", "+protocol: {name: sca}\n", "", 2, `"sca"`, `did you mean "sac"?`},
	{"ask -c c.yaml Why?", "+protocol: sac\n", "", 2, "line 4", "{name: sac"},
	{"ask -c c.yaml Why?", "+protocol: {name: sac, rounds: many}\n", "", 2, `"many"`, "a whole number"},
	{"ask -c c.yaml Why?", "+graph: {family: mergg}\n", "", 2, `"mergg"`, `did you mean "merg"?`},
	{"ask -c c.yaml Why?", "+graph: {file: g.graphml}\n", "", 2, "g.graphml", "check the path"},
	{"ask -c c.yaml Why?", "+graph: {edges: [[0,9]]}\n", "", 2, "9", "0 to 3"},
	{"ask -c c.yaml Why?", "+f: -1\n", "", 2, "f is -1", "0"},
	{"ask -c c.yaml Why?", "+f: many\n", "", 2, `f: "many"`, "a whole number"},
	{"ask -c c.yaml Why?", "+rule: {name: most}\n", "", 2, `"most"`, "plurality"},
	{"ask -c c.yaml Why?", "+rule: {name: majority, support: 9}\n", "", 2, "support is 9", "between"},
	{"ask -c c.yaml Why?", "+exact: papers\n", "", 2, `exact is "papers"`, `"paper"`},
	{"ask -c c.yaml Why?", "+prompts: nowhere\n", "", 2, "prompts: ", "nowhere"},
	{"ask -c c.yaml Why?", "+hedge: 95\n", "", 2, "hedge", "p95"},
	{"ask -c c.yaml Why?", "+patience: {spare: 3}\n", "", 2, "spare is 3", "f"},
	{"ask -c c.yaml Why?", "+patience: {after: soon}\n", "", 2, `"soon"`, "2x"},
	{"ask -c c.yaml Why?", "+pace: {think: 5}\n", "", 2, `pace.think: "5" is not a duration`, "example: 2m"},
	{"ask -c c.yaml Why?", "+limits: {deadline: \"10\"}\n", "", 2,
		`limits.deadline: "10" is not a duration`, "example: 90s"},
	{"ask -c c.yaml Why?", "+limits: {calls: -1}\n", "", 2, "calls is -1", "0"},
	{"ask -c c.yaml Why?", "+limits: {calls: ten}\n", "", 2, `limits.calls: "ten"`, "a whole number"},
	{"ask -c c.yaml Why?", "+breakers: {no_progress: -2}\n", "", 2, "no_progress is -2", "0"},
	{"ask -c c.yaml Why?", "+faults: {delay: {max: 3}}\n", "", 2,
		`faults.delay.max: "3" is not`, "50ms"},
	// Models.
	{"ask -c c.yaml Why?", "model provider: openai, model: x, api_key: sk-1", "", 2,
		`unknown key "api_key"`, "key_env"},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, temprature: 1", "", 2,
		`unknown key "temprature"`, `did you mean "temperature"?`},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, temperature: -1", "", 2,
		"temperature is -1", "between 0 and 100, such as 0.2"},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, timeout: 60", "", 2,
		`models.m.timeout: "60" is not a duration`, "example: 30s"},
	{"ask -c c.yaml Why?", "model provider: opnai, model: x", "", 2, `"opnai"`, `did you mean "openai"?`},
	{"ask -c c.yaml Why?", "model model: x", "", 2, "models.m", "provider: openai"},
	{"ask -c c.yaml Why?", "model provider: openai", "", 2, "models.m", "model: "},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, url: \"localhost:8000\"", "",
		2, "models.m: openai: llm: url", "http://127.0.0.1:8000/v1"},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, url: \"http://u:p@h/v1\"", "",
		2, "password", "key_env"},
	{"ask -c c.yaml Why?", "model provider: openai, model: x, url: \"$STUB\", key_env: NO_KEY",
		"", 4, "NO_KEY is not set", "set the variable"},
	{"ask -c c.yaml Why?", "model provider: recorded, path: t.jsonl, model: x", "", 2,
		"t.jsonl", "check the path"},
	{"ask -c c.yaml Why?", "model provider: simulated, ability: 2", "", 2,
		"ability is 2", "between 0 and 1"},
	{"ask -c c.yaml Why?", "model provider: embedded, model: smol", "", 1, `"smol"`,
		"synod models list"},
	// Seats.
	{"ask -c c.yaml Why?", "models: {m: {provider: simulated}}\n", "", 2, "no seats", "seats: ["},
	{"ask -c c.yaml Why?", "seats {model: m}", "", 2, "seat 1 of the list has no id",
		"id: a"},
	{"ask -c c.yaml Why?", "seats {id: a, model: n}", "", 2,
		`no model is called "n"`, `did you mean "m"?`},
	{"ask -c c.yaml Why?", "seats {id: a, model: m}, {id: a, model: m}", "", 2,
		`two seats are called "a"`, "count"},
	{"ask -c c.yaml Why?", "seats {id: a, model: m, count: -1}", "", 2,
		"seats.a.count is -1; ", "between 0 and 16384 (example: count: 3)"},
	{"ask -c c.yaml Why?", "seats {id: a, model: m, group: good}", "", 2,
		`seats.a.group is "good"; `, "weak or strong"},
	{"ask -c c.yaml Why?", "seats {id: a, model: m, role: boss}", "", 2, `"boss"`,
		"role"},
	{"ask -c c.yaml Why?", "seats {id: a, model: m, adversary: replay}", "", 2,
		"adversary", "{name: replay}"},
	{"ask -c c.yaml Why?", "seats {id: a, model: m, adversary: {name: replai}}", "",
		2, `"replai"`, `did you mean "replay"?`},
	// --set and --model.
	{"ask -c good.yaml --set f Why?", "", "", 2, `"f" is not key=value`, "f=1"},
	{"ask -c good.yaml --set protocl.name=sac Why?", "", "", 2, `unknown key "protocl"`, `did you mean "protocol"?`},
	{"ask -c good.yaml --set limits.deadline=10 Why?", "", "", 2, `--set: limits.deadline: "10" is not a duration`, "90s"},
	{"ask -c c.yaml --set limits.usd=0.01 Why?", "model provider: openai, model: gpt-9, url: \"$STUB\"", "",
		2, "limits: usd needs the price", "--prices"},
	{"ask -c good.yaml --set seats.x.adversary.name=replay Why?", "", "", 2, `no seat is called "x"`, "a, m"},
	{"ask -c good.yaml --set seats.m.adversry.name=replay Why?", "", "", 2, `unknown key "adversry"`,
		`did you mean "adversary"?`},
	{"ask -c good.yaml --set models.dise.ability=0.5 Why?", "", "", 2, "models.dise", `did you mean "dice"?`},
	{"ask --model gpt-4o Why?", "", "", 2, `--model is "gpt-4o"`, "PROVIDER:MODEL, such as"},
	{"ask --model gpt:4o Why?", "", "", 2, `"gpt"`, "openai"},
	{"ask --model openai:x@0 Why?", "", "", 2, `"openai:x@0"`, "between 1 and 1000"},
	// Questions and flags of ask.
	{"ask", "", "", 2, "there is no question", "synod ask"},
	{"ask -c good.yaml -", "", " \n", 2, "the question is empty", "synod ask"},
	{"ask -c good.yaml -", "", tooLong, 2, "8388607 bytes", "4096 KB) are accepted: shorten"},
	{"ask -c good.yaml -", "", "caf\xe9?", 2, "not UTF-8", "iconv"},
	{"ask -c good.yaml --form poem Why?", "", "", 2, `--form is "poem"`, "number"},
	{"ask -c good.yaml --seed -1 Why?", "", "", 2, `"-1"`, "0 or more"},
	{"ask -c good.yaml --journal /no-such-folder/a/j.jsonl Why?", "", "", 2,
		"/no-such-folder/a does not exist", "mkdir -p"},
	{"ask -c good.yaml --journal a --no-journal Why?", "", "", 2, "journal no-journal", "one of"},
	{"ask --home /no-such-folder/a -c good.yaml Why?", "", "", 2, "/no-such-folder", "mkdir"},
	{"ask --resume nowhere.jsonl", "", "", 1, "nowhere.jsonl", "synod journals list"},
	{"ask --resume text.txt", "", "", 1, "text.txt", "journal"},
	{"ask --resume j.jsonl Why?", "", "", 2, "--resume takes the question", "give no question"},
	{"ask --resume j.jsonl --set f=1", "", "", 2, "--set f=1", "only limits"},
	{"ask -c good.yaml --on-no-consensus maybe Why?", "", "", 2, `"maybe"`, "fail or best-effort"},
	{"ask -c good.yaml --prices nowhere.yaml Why?", "", "", 2, "nowhere.yaml", "prices:"},
	{"ask -c good.yaml --modle x Why?", "", "", 2, "--modle", "--model"},
	// Other commands.
	{"aks Why?", "", "", 2, `"aks"`, `"ask"`},
	{"help nosuch", "", "", 2, `"nosuch"`, "synod --help"},
	{"list protocol", "", "", 2, `"protocol"`, `"protocols"`},
	{"explain sca", "", "", 2, `"sca"`, `did you mean "sac"?`},
	{"explain nosuch", "", "", 2, `no catalogue has an entry "nosuch"`, "synod list"},
	{"config shw", "", "", 2, `"shw"`, `"show"`},
	{"models pull nosuch", "", "", 1, `"nosuch"`, "synod models list"},
	{"models rm nosuch", "", "", 1, "not pulled: nosuch", "synod models list"},
	{"data pull nosuch", "", "", 2, `"nosuch"`, "synod data list"},
	{"journals prune --older 30", "", "", 2, `"30"`, "30d"},
	{"journals show nosuch", "", "", 1, "nosuch", "synod journals list"},
	{"replay nowhere.jsonl", "", "", 1, "nowhere.jsonl", "synod journals list"},
	{"replay text.txt", "", "", 1, "text.txt", "journal"},
	{"verify nowhere.jsonl", "", "", 7, "nowhere.jsonl", "synod journals list"},
	{"grade --form poem 1 2", "", "", 2, `"poem"`, "number"},
	{"grade 1 2", "", "", 2, "--form is missing", "number"},
	{"grade --form number 1", "", "", 2, "not 1", "synod grade --help"},
	{"game -n 1", "", "", 2, "-n is 1", "between 2 and 1000"},
	{"game -b 9", "", "", 2, "-b is 9", "between 0 and 3"},
	{"game --journal /no-such-folder/g.jsonl", "", "", 2, "/no-such-folder does not exist", "mkdir -p"},
	{"game --range 5", "", "", 2, `--range is "5"`, "0:50"},
	{"game --strategy nosuch", "", "", 2, `"nosuch"`, "there are: abstain, adaptive-persuader, advertiser"},
	{"game --rule nosuch", "", "", 2, `"nosuch"`, "mode"},
	{"graph check nowhere.json", "", "", 2, "nowhere.json", "check the path"},
	{"graph check edges.json", "", "", 2, "edges.json", "0 to 2"},
	{"graph check --family mergg -n 7", "", "", 2, `"mergg"`, `"merg"`},
	{"graph check --family merg", "", "", 2, "-n", "-n 7"},
	{"graph check --format pdf --family merg -n 7", "", "", 2, `"pdf"`, "text, json"},
	// Benches.
	{"bench run nosuch -o new", "", "", 2, `"nosuch"`, "synod list tasks"},
	{"bench run good.jsonl -c good.yaml", "", "", 2, "-o is missing", "-o runs/"},
	{"bench run good.jsonl -c good.yaml --seed 7 -o run", "", "", 2, "already contains a run with other settings",
		"choose another folder with -o"},
	{"bench run nowhere.jsonl -c good.yaml -o new", "", "", 2, "nowhere.jsonl", "check the path"},
	{"bench run bad.jsonl -c good.yaml -o new", "", "", 2, `bad.jsonl:1: unknown key "anwser"`, `did you mean "answer"?`},
	{"bench run key.jsonl --form number -c good.yaml -o new", "", "", 2, `key.jsonl:1: the answer "many"`, "a number"},
	{"bench run empty.jsonl -c good.yaml -o new", "", "", 2, "empty.jsonl contains no question", `{"id"`},
	{"bench run good.jsonl -n 9 -c good.yaml -o new", "", "", 2, "-n is 9", "1 question"},
	{"bench run builtin -n 3 -o new", "", "", 2, "embedded model", "synod models pull"},
	{"bench run gsm8k -c good.yaml -o new", "", "", 2, "gsm8k", "synod data pull gsm8k"},
	{"bench run good.jsonl --parallel 0 -c good.yaml -o new", "", "", 2, "--parallel is 0", "between 1 and"},
	{"bench run sac-table1 -c good.yaml -o new", "", "", 2, "--council", "--members"},
	{"bench run sac-table1 --members nowhere.yaml -o new", "", "", 2, "nowhere.yaml", "simulated"},
	{"bench run sac-table1 --cell nosuch -o new", "", "", 2, `"nosuch"`, "cells"},
	{"bench report nowhere", "", "", 1, "nowhere does not exist", "check the path"},
	{"bench report .", "", "", 1, "contains no run", "synod bench run"},
	{"bench report run --format pdf", "", "", 2, `"pdf"`, "text, json"},
	{"bench report run --vs papers", "", "", 2, `--vs is "papers"`, "paper"},
	{"bench resume nowhere", "", "", 1, "nowhere does not exist", "check the path"},
	{"bench resume run --set f=3", "", "", 2, "council, now:   f: 3", "start a new run"},
}
