package cli

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/internal/llmtest"
)

var sumOf = regexp.MustCompile(`What is (\d+) \+ 17\?`)

// erring returns models that add, and err on some of the questions, each on others.
func erring(c llmtest.Call) string {
	m := sumOf.FindStringSubmatch(c.User)
	if m == nil {
		return ""
	}
	n := 0
	fmt.Sscan(m[1], &n)
	h := fnv.New32()
	fmt.Fprint(h, c.Model, n)
	answer := n + 17
	if x := h.Sum32() % 100; x < 25 {
		answer += 1 + int(x%3)
	}
	return fmt.Sprintf(`{"reasoning":"","answer":"%d"}`, answer)
}

// The user's own copy of worth-it asks each model each question once, and the best one as often as the dearest
// recommended council costs. The same command asks nothing again; a budget ends it, and the tables are of what is done.
func TestOwnWorth(t *testing.T) {
	s := llmtest.Start(t, erring, llmtest.With(llmtest.Usage(`{"prompt_tokens":200,"completion_tokens":20}`)))
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	models := "council: own\nmodels:\n"
	for _, m := range []string{"ma", "mb", "mc", "md"} {
		models += fmt.Sprintf("  %s: {provider: openai, url: %q, model: %s, attempts: 1}\n", m, s.URL, m)
	}
	questions := "id,question,answer\n"
	for i := range 60 {
		questions += fmt.Sprintf("q%d,What is %d + 17?,%d\n", i, i, i+17)
	}
	prices := file("prices.yaml", `prices: [{server: "127.0.0.1:*", model: "m*", prompt: 1, completion: 5}]`)
	args := []string{"--home", filepath.Join(dir, "home"), "--prices", prices, "bench", "run", "worth-it", "--members",
		file("models.yaml", models), "--task", file("mine.csv", questions), "--form", "number", "-o",
		filepath.Join(dir, "own")}
	code, out, errs := run(t, args...)
	if code != 0 || !strings.Contains(out, "60 questions to which all models replied") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	b, err := os.ReadFile(filepath.Join(dir, "own", "worth.json"))
	var w display.OwnWorth
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil || len(w.Models) != 4 || w.Best == "" || w.NotAgain != "" {
		t.Fatalf("%v %s", err, b)
	}
	last := w.Councils[len(w.Councils)-1]
	times := 0
	if n, _ := fmt.Sscanf(last.Name, "best %d times", &times); n != 1 || times < 2 || times > 5 || last.N != 60 {
		t.Errorf("%+v", last)
	}
	names := ""
	for _, c := range w.Councils {
		names += c.Name + ", "
		if c.Right.Value+c.Wrong.Value > 1.0001 || c.USD <= 0 {
			t.Errorf("%+v", c)
		}
	}
	if want := "best alone, most frequent, by price, cheapest, most right, withstands one, best "; !strings.HasPrefix(
		names, want) {
		t.Errorf("%s, want %s", names, want)
	}
	calls := s.Count()
	if want := 60 * (4 + times); calls < want || calls > want+10 { // and requests that test the addresses
		t.Errorf("%d calls, want %d", calls, want)
	}
	asked := s.CountOf("ma")
	if code, again, _ := run(t, args...); code != 0 || again != out || s.CountOf("ma") > asked+2 {
		t.Errorf("again: %d, %d calls of %d, %s", code, s.CountOf("ma"), asked, again)
	}
	args[len(args)-1] = filepath.Join(dir, "poor")
	poor := append(args, "--budget-usd", "0.05")
	if code, out, errs := run(t, poor...); code != 5 || !strings.Contains(out, "the budget is used") ||
		!strings.Contains(errs, "--budget-usd 0.05") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	args[len(args)-1] = filepath.Join(dir, "poorest")
	if code, out, errs := run(t, append(args, "--budget-usd", "0.001")...); code != 5 || out != "" ||
		!strings.Contains(errs, "Go on with a larger budget") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}
