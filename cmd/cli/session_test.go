package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"synod.dev/synod/internal/llmtest"
)

const sessionPage = "../../docs/use/ask.md"

// firstSession returns the section of the first session.
func firstSession(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(sessionPage)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## A first session\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatalf("%s has no first session", sessionPage)
	}
	return section
}

// The commands of the page about init and calibrate work as they stand, one after the other, at a server that knows the
// answers to the questions of the first session.
func TestCalibratePage(t *testing.T) {
	session := firstSession(t)
	page, err := os.ReadFile("../../docs/use/models.md")
	if err != nil {
		t.Fatal(err)
	}
	script, commands := scriptOf(string(page))
	if commands < 5 {
		t.Fatalf("%d commands on the page", commands)
	}
	script = strings.ReplaceAll(script, "synod init", "synod init --server=")
	script = strings.ReplaceAll(script, "exec grep -c 'third' report.html\n", "stdout worst\n")
	_, questions, _ := strings.Cut(session, "file=questions.jsonl\n")
	questions, _, _ = strings.Cut(questions, "```")
	script += "-- questions.jsonl --\n" + questions
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "calibrate.txt"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s := llmtest.Start(t, knowing(itemsOf(session), false), llmtest.Models("llama-3", "qwen-2.5", "gpt-oss", "phi-4"))
	testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
		e.Setenv("SYNOD_HOME", filepath.Join(e.WorkDir, "home"))
		e.Setenv("OPENAI_BASE_URL", s.URL)
		e.Setenv("OLLAMA_HOST", "127.0.0.1:1")
		return nil
	}})
}

// maxCommands is how many commands the first session may have.
const maxCommands = 10

// The page of the first session works as it stands: its files are written and its commands are run, against three
// servers on loopback that know the answers. The third one is wrong on every second question.
func TestFirstSession(t *testing.T) {
	text := firstSession(t)
	answers := itemsOf(text)
	if len(answers) != 10 {
		t.Fatalf("%d questions, want ten", len(answers))
	}
	var servers []*llmtest.Server
	for i, url := range []string{"https://one.example/v1", "https://two.example/v1", "http://127.0.0.1:8000/v1"} {
		s := llmtest.Start(t, knowing(answers, i == 2))
		if !strings.Contains(text, url) {
			t.Fatalf("the page does not have %s", url)
		}
		text = strings.ReplaceAll(text, url, s.URL)
		servers = append(servers, s)
	}
	script, commands := scriptOf(text)
	if commands > maxCommands {
		t.Errorf("%d commands; at most %d", commands, maxCommands)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session.txt"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := false                       // -run may select no script
	t.Run("page", func(t *testing.T) { // returns when the script has ended
		testscript.Run(t, testscript.Params{Dir: dir, Setup: func(e *testscript.Env) error {
			ran = true
			e.Setenv("SYNOD_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("FIRST_KEY", "key-of-the-first")
			e.Setenv("SECOND_KEY", "key-of-the-second")
			return nil
		}})
	})
	for i, s := range servers {
		if ran && s.Count() < 30 {
			t.Errorf("server %d answered %d calls; three runs have ten questions each", i, s.Count())
		}
	}
}

var (
	fileBlock = regexp.MustCompile("(?s)```[a-z]+ file=(\\S+)\n(.*?)```")
	command   = regexp.MustCompile(`(?m)^\$ (.*)$`)
	ownItem   = regexp.MustCompile(`"question": "([^"]+)", "answer": "([^"]+)"`)
)

// itemsOf returns the answers of the page's questions.
func itemsOf(page string) map[string]string {
	answers := map[string]string{}
	for _, m := range ownItem.FindAllStringSubmatch(page, -1) {
		answers[m[1]] = m[2]
	}
	return answers
}

// scriptOf makes a script of the page's commands and files, and counts the commands. The script leaves out those that
// install the program and set keys.
func scriptOf(page string) (script string, commands int) {
	var b strings.Builder
	for _, m := range command.FindAllStringSubmatch(page, -1) {
		commands++
		if !strings.HasPrefix(m[1], "synod ") {
			continue
		}
		fmt.Fprintln(&b, strings.ReplaceAll(m[1], `"`, "'"))
		switch {
		case strings.HasPrefix(m[1], "synod ask"):
			fmt.Fprintln(&b, `stdout '^42$'`)
		case strings.HasPrefix(m[1], "synod bench compare"):
			fmt.Fprintln(&b, `stdout '3 runs on the 10 questions'`)
		}
	}
	b.WriteString("exec grep -c 'third' report.html\n")
	for _, m := range fileBlock.FindAllStringSubmatch(page, -1) {
		fmt.Fprintf(&b, "-- %s --\n%s", m[1], m[2])
	}
	return b.String(), commands
}

// knowing returns a model that answers the page's questions, on every second one wrongly if it is weak.
func knowing(answers map[string]string, weak bool) llmtest.Handler {
	return func(c llmtest.Call) string {
		for question, answer := range answers {
			if !strings.Contains(c.User, question) {
				continue
			}
			if weak && len(question)%2 == 0 {
				answer += "7"
			}
			if !c.Scoring() {
				return `{"reasoning":"","answer":"` + answer + `"}`
			}
			if strings.Contains(c.User[strings.LastIndex(c.User, "roposed answer:"):], answer) {
				return `{"reasoning":"","score":0.9}`
			}
			return `{"reasoning":"","score":0.2}`
		}
		return `{"reasoning":"","answer":"unknown"}`
	}
}
