package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/protocol/grade"
)

// childEnv names the file into which a process that is the program, and not its test, writes how much memory it had at
// most.
const childEnv = "SYNOD_TEST_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		code := Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		status, err := os.ReadFile("/proc/self/status")
		if err == nil {
			err = os.WriteFile(path, status, 0o600)
		}
		if err != nil && runtime.GOOS == "linux" {
			panic(err)
		}
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"synod": Main})
}

// TestScripts runs testdata/*.txt: commands and their expected output. $STUB is an
// OpenAI-compatible server on loopback whose model sN answers N; model bad-NAME
// misbehaves as the behaviour NAME of llmtest. $HOSTED and $LOCAL (HOST:PORT) are servers that
// list models. The condition [box] is true if the embedded model has been fetched.
func TestScripts(t *testing.T) {
	stub := llmtest.Start(t, stubborn, misbehaviours()...)
	hosted := llmtest.Start(t, stubborn, llmtest.Models("gpt-42", "gpt-42-2026-01-01", "o3-preview", "claude-opus-42",
		"claude-haiku-42", "gemini-flash-41", "text-embedding-3", "gpt-realtime-42", "evil\x1b[31m"))
	local := llmtest.Start(t, stubborn, llmtest.Models("qwen-42", "qwen-42-base", "nomic-embed-text:latest"))
	box := models.Store{Dir: models.DefaultDir()}
	_, absent := box.Resolve(models.Default)
	if absent != nil {
		t.Log("NEEDS THE MODEL: the box is not tried; run: synod models pull")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("STUB", stub.URL)
			e.Setenv("HOSTED", hosted.URL)
			e.Setenv("LOCAL", strings.TrimSuffix(strings.TrimPrefix(local.URL, "http://"), "/v1"))
			e.Setenv("SYNOD_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("SYNOD_MODELS", box.Dir)
			e.Setenv("GOGC", os.Getenv("GOGC"))
			e.Setenv("OPENAI_API_KEY", "sk-canary-0123456789")
			experiment := os.DirFS("../../examples/experiment")
			if err := os.CopyFS(filepath.Join(e.WorkDir, "experiment"), experiment); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "seven.yaml"),
				[]byte(strings.ReplaceAll(seven, "$STUB", stub.URL)), 0o600)
		},
		Condition: func(cond string) (bool, error) { return cond == "box" && absent == nil, nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"newest": newest, "noleak": noLeak,
			"asked": asked(stub), "exits": exits},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// seven is a council of seven at the stub, split 5 to 2.
const seven = `council: seven
protocol: {name: sac, rounds: 6}
graph: {family: complete}
f: 3
models:
  right: {provider: openai, url: "$STUB", model: s42, timeout: 2m}
  wrong: {provider: openai, url: "$STUB", model: s41, timeout: 2m}
seats:
  - {id: a, model: right, count: 5}
  - {id: w, model: wrong, count: 2}
`

func misbehaviours() (opts []llmtest.Option) {
	for _, name := range llmtest.Names() {
		if b, err := llmtest.Named(name); err == nil {
			opts = append(opts, llmtest.For("bad-"+name, b))
		}
	}
	opts = append(opts, llmtest.For("bad-missing", llmtest.Status(404)))
	return append(opts, llmtest.For("bad-hang", llmtest.Hang(30*time.Second)),
		llmtest.For("tended-hang", llmtest.Hang(30*time.Second)), // of one script, which counts its calls
		llmtest.For("picky-42", llmtest.RefuseFormat("json_schema", "json_object")),
		llmtest.For("warm-41", llmtest.RefuseParam("temperature")),
		llmtest.For("flaky-42", llmtest.First(1, llmtest.RateLimit("0.1"))),
		llmtest.For("sure-42", llmtest.Likely(likely)),
		llmtest.For("alias-42", llmtest.Reporting("large-42-2026")))
}

// likely is the log-probability of an answer: high where the question says that it is sure.
func likely(c llmtest.Call) float64 {
	if strings.Contains(c.User, "Surely") {
		return -0.01
	}
	return -1.5
}

// stubborn answers and refines with the number in the name of its model. It scores this
// number 0.9 and others 0.2.
func stubborn(c llmtest.Call) string {
	mine := strings.TrimLeft(c.Model, "abcdefghijklmnopqrstuvwxyz-")
	if strings.Contains(string(c.Body), grade.Criteria()[0]) {
		return marked(c, mine)
	}
	switch how, _, _ := strings.Cut(c.Model, "-"); { // what cannot be read, an invoice, or a tool call with the number
	case how == "mumble", how == "vague" && c.Said == "":
		return "Hard to say: 40 or 41, or some other number"
	case how == "prose":
		return "It is " + mine + ".\nAnswer: " + mine
	case how == "invoice":
		vendor := "Acme"
		if len(mine) > 3 {
			vendor = "Mallory"
		}
		return `{"reasoning":"","answer":{"total":` + mine + `,"vendor":"` + vendor + `","tags":["b","a"]}}`
	case how == "city": // one of three, which it calls the same if they begin with the same letter
		if reply, ok := llmtest.Compare(c, func(a, b string) bool { return a[:1] == b[:1] }); ok {
			return reply
		}
		cities := map[string]string{"1": "NYC", "2": "New York City", "3": "Boston"}
		return `{"reasoning":"","answer":"` + cities[mine] + `"}`
	case how == "call":
		return `{"reasoning":"","answer":{"name":"pay","arguments":{"amount":` + mine + `}}}`
	}
	switch { // a player of the game
	case strings.Contains(string(c.Body), "internal_strategy"):
		return `{"internal_strategy":"stay","value":` + mine + `,"public_reasoning":"it is as good as any"}`
	case strings.Contains(string(c.Body), "decision"):
		return `{"decision":"stop"}`
	}
	if strings.HasPrefix(c.Model, "talk-") && !c.Scoring() {
		return `{"reasoning":"because \u001b[31m ` + mine + ` <b>is</b> it","answer":"` + mine + `"}`
	}
	if !c.Scoring() {
		return `{"reasoning":"","answer":"` + mine + `"}`
	}
	if strings.Contains(c.User[strings.LastIndex(c.User, "roposed answer:"):], mine) {
		return `{"reasoning":"","score":0.9}`
	}
	return `{"reasoning":"","score":0.2}`
}

// newest VAR sets a variable to the path of the newest journal.
func newest(ts *testscript.TestScript, neg bool, args []string) {
	paths, _ := filepath.Glob(ts.MkAbs("home/state/journals/*.jsonl"))
	if neg || len(args) != 1 || len(paths) == 0 {
		ts.Fatalf("newest VAR: there is no journal")
	}
	slices.SortFunc(paths, func(a, b string) int {
		return modified(ts,
			a).Compare(modified(ts, b))
	}) // names have a resolution of seconds
	ts.Setenv(args[0], paths[len(paths)-1])
}

// asked MODEL N fails unless the stub was asked N times for a model.
func asked(stub *llmtest.Server) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: asked MODEL N")
		}
		if n := strconv.Itoa(stub.CountOf(args[0])); n != args[1] {
			ts.Fatalf("%s was asked %s times, not %s", args[0], n, args[1])
		}
	}
}

func modified(ts *testscript.TestScript, path string) time.Time {
	info, err := os.Stat(path)
	ts.Check(err)
	return info.ModTime()
}

// noleak fails if the API key occurs in any file or output (SC-31).
func noLeak(ts *testscript.TestScript, _ bool, _ []string) {
	key := []byte(ts.Getenv("OPENAI_API_KEY"))
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), string(key)) {
			ts.Fatalf("the key is in %s", stream)
		}
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("home"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, 64<<20))
		if bytes.Contains(b, key) {
			ts.Fatalf("the key is in %s", path)
		}
		return err
	}))
}

// exits CODE COMMAND… fails unless the command ends with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// marked returns the grades of the stub: 18 by every criterion for the number in the
// name of the model, 4 for others. The prefix of the name selects an invalid form.
func marked(c llmtest.Call, mine string) string {
	how, _, _ := strings.Cut(c.Model, "-")
	if how == "prose" {
		return "I would give it 18 of 20."
	}
	if _, all, is := strings.Cut(c.User, "\nProposed answers:"); is {
		reply := `{"reasoning": ""`
		for i := 1; strings.Contains(all, fmt.Sprintf("answer_%d:", i)); i++ {
			_, line, _ := strings.Cut(all, fmt.Sprintf("answer_%d:", i))
			line, _, _ = strings.Cut(line, "\n")
			reply += fmt.Sprintf(`, "answer_%d": {%s}`, i, marksOf(line, mine, how))
		}
		return reply + "}"
	}
	return `{"reasoning": "", ` + marksOf(c.User[strings.LastIndex(c.User, "roposed answer:"):], mine, how) + "}"
}

func marksOf(shown, mine, how string) string {
	mark := "4"
	if strings.Contains(shown, mine) {
		mark = "18"
	}
	var pairs []string
	for _, name := range grade.Criteria() {
		pairs = append(pairs, fmt.Sprintf("%q: %s", name, mark))
	}
	switch how {
	case "above":
		pairs[1] = `"factual_fabrication": 20.5`
	case "below":
		pairs[0] = `"factual_contradiction": -1`
	case "missing":
		pairs = pairs[:4]
	case "extra":
		pairs = append(pairs, `"style": 7`)
	case "twice":
		pairs = append(pairs, pairs[0])
	case "nan":
		pairs[2] = `"instruction_inconsistency": NaN`
	}
	return strings.Join(pairs, ", ")
}

// Scripts run side by side against one server, so a model whose requests a script counts stands in no other script.
func TestCountedModelsAreOwn(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, len(paths))
	}
	texts, counts := map[string]string{}, regexp.MustCompile(`(?m)^asked (\S+) \d+`)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	for path, text := range texts {
		for _, found := range counts.FindAllStringSubmatch(text, -1) {
			uses := regexp.MustCompile(`(model: |:)` + regexp.QuoteMeta(found[1]) + `\b`)
			for other, text := range texts {
				if other != path && uses.MatchString(text) {
					t.Errorf("%s counts requests to %s, which %s uses too", path, found[1], other)
				}
			}
		}
	}
}
