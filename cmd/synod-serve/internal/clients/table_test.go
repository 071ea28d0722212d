package clients

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the table of clients into docs/operate/gateway.md")

// client is a client whose requests are recorded: the file with them, its names, and where its version is pinned.
type client struct {
	file, name string
	pins       string // a file in testdata, or go.mod
	packages   []string
}

var known = []client{
	{"openai_sdk-py", "openai for Python", "sdk.txt", []string{"openai"}},
	{"openai_sdk-mjs", "openai for JavaScript", "js.json", []string{"openai"}},
	{"openai_sdk-go", "openai-go", "../../../go.mod", []string{"github.com/openai/openai-go/v3"}},
	{"anthropic_sdk-py", "anthropic for Python", "sdk.txt", []string{"anthropic"}},
	{"anthropic_sdk-go", "anthropic-sdk-go", "../../../go.mod", []string{"github.com/anthropics/anthropic-sdk-go"}},
	{"litellm_sdk-py", "litellm (SDK)", "agents.txt", []string{"litellm"}},
	{"openai_agents-py", "openai-agents", "agents.txt", []string{"openai-agents"}},
	{"langchain_app-py", "langchain-openai, langchain-anthropic", "apps.txt",
		[]string{"langchain-openai", "langchain-anthropic"}},
	{"instructor_app-py", "instructor", "apps.txt", []string{"instructor"}},
	{"pydantic_app-py", "pydantic-ai", "apps.txt", []string{"pydantic-ai-slim[openai,anthropic]"}},
	{"editor_assistant-sh", "Claude Code", "editor.json", []string{"@anthropic-ai/claude-code"}},
}

const versionFile = "testdata/recorded/versions.json"

// versions are those of the clients when they were recorded, by file.
func versions(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(versionFile)
	all := map[string]string{}
	if err != nil || json.Unmarshal(b, &all) != nil {
		t.Fatal(err, "the versions of recorded clients cannot be read")
	}
	return all
}

// pinned is the version that make clients installs.
func (c client) pinned(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", c.pins))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range c.packages {
		found := regexp.MustCompile(`(?m)^\s*"?` + regexp.QuoteMeta(p) + `"?(?:==|: "| v)([0-9][^"\s]*)`).FindSubmatch(b)
		if found == nil {
			t.Fatalf("%s does not pin %s", c.pins, p)
		}
		all = append(all, string(found[1]))
	}
	return strings.Join(all, ", ")
}

// tried is what a client has tried, as the replay of its requests shows.
type tried struct{ worked, refused []string }

// note adds a request and how it was answered now.
func (x *tried) note(r recorded, got []byte) {
	add := func(to *[]string, what string) {
		if !slices.Contains(*to, what) {
			*to = append(*to, what)
		}
	}
	if r.Status < 400 {
		for _, what := range features(r) {
			add(&x.worked, what)
		}
		return
	}
	var e struct {
		Error struct{ Code, Param string }
	}
	_ = json.Unmarshal(got, &e) // the replay has checked the shape
	why := fmt.Sprintf("%d `%s`", r.Status, e.Error.Code)
	if e.Error.Param != "" && e.Error.Param != "model" {
		why += " (" + e.Error.Param + ")"
	}
	add(&x.refused, why)
}

// features are what a request uses.
func features(r recorded) (all []string) {
	var b map[string]any
	_ = json.Unmarshal([]byte(r.Body), &b) // a GET has no body
	api := map[string]string{"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages",
		"/v1/models": "list of models", "/v1/messages/count_tokens": "count of tokens"}[r.Path]
	if api == "" {
		api = "reading of a response"
		if r.Method == http.MethodDelete {
			api = "deletion of a response"
		}
	}
	if b["stream"] == true {
		api += " streamed"
	}
	all = append(all, api)
	format, _ := b["text"].(map[string]any)
	output, _ := b["output_config"].(map[string]any)
	for _, f := range []struct {
		used bool
		name string
	}{
		{b["previous_response_id"] != nil, "continued responses"},
		{b["tools"] != nil, "tools"},
		{strings.Contains(r.Body, `"role":"tool"`) || strings.Contains(r.Body, `"type":"tool_result"`) ||
			strings.Contains(r.Body, `"type":"function_call_output"`), "results of tools"},
		{b["response_format"] != nil || format["format"] != nil || output["format"] != nil, "structured output"},
		{strings.Contains(r.Body, "image"), "images"},
	} {
		if f.used {
			all = append(all, f.name)
		}
	}
	return all
}

// table is the table of clients in the docs.
func table(t *testing.T, by map[string]*tried) string {
	t.Helper()
	was := versions(t)
	text := "| client | version | worked | refused, and why |\n|---|---|---|---|\n"
	for _, c := range known {
		x := by[c.file]
		if x == nil {
			t.Errorf("%s is not recorded", c.name)
			continue
		}
		if now := c.pinned(t); was[c.file] != now {
			t.Errorf("%s: %s was recorded, and make clients installs %s; record it again", c.name, was[c.file], now)
		}
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", c.name, was[c.file], strings.Join(x.worked, ", "),
			cmp.Or(strings.Join(x.refused, ", "), "–"))
	}
	for _, file := range slices.Sorted(maps.Keys(by)) {
		if !slices.ContainsFunc(known, func(c client) bool { return c.file == file }) {
			t.Errorf("%s is recorded and in no table", file)
		}
	}
	return text
}

// The marks around the table in the docs.
const begins, ends = "<!-- TestRecorded writes this table with -rewrite -->\n", "<!-- end of the table -->\n"

// checkTable compares the docs with what was replayed.
func checkTable(t *testing.T, by map[string]*tried) {
	t.Helper()
	const path = "../../../../docs/operate/gateway.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begins)
	was, after, ok2 := strings.Cut(rest, ends)
	if !ok || !ok2 {
		t.Fatal("docs/operate/gateway.md has no table of clients")
	}
	now := table(t, by)
	switch {
	case now == was:
	case *rewrite:
		if err := os.WriteFile(path, []byte(before+begins+now+ends+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of clients in %s is not what was replayed; run the test with -rewrite:\n%s", path, now)
	}
}
