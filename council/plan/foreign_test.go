package plan_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/council/plan"
)

const dice = "models: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 3}]\n"

// A recorded council reads no file and escalates to nobody.
func TestParseRecord(t *testing.T) {
	for text, want := range map[string]string{
		dice + "graph: {file: /etc/hostname}\n":              "it names a file",
		dice + "breakers: {escalate: {command: [touch, x]}}": "it names a webhook or a command",
		dice + "breakers: {escalate: {webhook: http://x/}}":  "it names a webhook or a command",
	} {
		if _, err := plan.ParseRecord([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "answer.tmpl"), []byte("{{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec, err := plan.ParseRecord([]byte(dice + "prompts: " + folder + "\n"))
	if err != nil {
		t.Errorf("the templates of a record are read: %v", err)
	}
	if _, err := plan.New(spec); err == nil {
		t.Error("the templates of a run are not read")
	}
}

func TestStarts(t *testing.T) {
	spec, err := plan.Parse([]byte(`prompts: /p
models:
  far:    {provider: openai, model: x, url: "https://user.example/v1?key=secret", key_env: MY_KEY}
  plain:  {provider: openai, model: x}
  unused: {provider: openai, model: x, url: "https://unused.example"}
  box:    {provider: embedded, path: /m.gguf, library: /lib}
  named:  {provider: embedded, model: smollm2-135m-instruct}
  tape:   {provider: recorded, path: t.jsonl, model: x}
  dice:   {provider: simulated}
checks: [{name: runs, command: [python3, /check/run.py], mount: /srv/checks}, {name: small, cel: self < 5}]
breakers: {escalate: {command: [rm, x], webhook: "https://hook.example/y?z=secret"}}
seats: [{id: a, model: far}, {id: b, model: plain}, {id: c, model: box}, {id: d, model: tape}, {id: e, model: dice},
  {id: f, model: named}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"model box reads the model file /m.gguf",
		"model box loads libraries from /lib",
		"model far sends questions to https://user.example/v1 with the key in the environment variable MY_KEY",
		"model plain sends questions to $OPENAI_BASE_URL, else https://api.openai.com/v1 with the key in the " +
			"environment variable OPENAI_API_KEY",
		"model tape reads the recording t.jsonl",
		"the prompts are those in the folder /p",
		"a breaker sends the question and the outcome to https://hook.example/…",
		`a breaker runs the command ["rm" "x"]`,
		`check runs runs the command ["python3" "/check/run.py"] in a sandbox that can read /srv/checks`,
	}
	if got := spec.Starts(); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	spec, err = plan.Parse([]byte(dice))
	if got := spec.Starts(); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}
