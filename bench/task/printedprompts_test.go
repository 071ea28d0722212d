package task

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// paper returns the path of the text of a paper beside the public data. It skips the test if there is none.
func paper(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(dataDir(t)), "papers", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("SKIPPED: there is no text of the paper at " + path)
	}
	return path
}

// printed makes a set of the text of its paper.
func printed(t *testing.T, set PromptSet, name string) map[string]string {
	t.Helper()
	files, _, err := set.Make([]string{paper(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for file, text := range files {
		texts[file] = string(text)
	}
	return texts
}

var (
	templateAction = regexp.MustCompile(`\{\{.*?\}\}`)
	escapedBrace   = regexp.MustCompile(`\{\{"\{"\}\}`)
	printedField   = regexp.MustCompile(`\{[^{}"\n]*(?:\{[^{}]*\}[^{}]*)*\}`)
)

// onlyWords returns the words of a text without fields and punctuation of its own.
func onlyWords(text string) string { return strings.Join(strings.Fields(text), " ") }

// ofTemplate returns the words of a template without its actions.
func ofTemplate(text string) string {
	return onlyWords(templateAction.ReplaceAllString(escapedBrace.ReplaceAllString(text, "\x01"), " "))
}

// ofListing returns the words of a listing without its fields.
func ofListing(text string) string {
	text = printedField.ReplaceAllString(text, " ")
	return onlyWords(strings.ReplaceAll(text, "{", "\x01"))
}

// filledIn has, for the fields of listings that choose between texts, all these texts.
var filledIn = strings.NewReplacer("{agent_id}", "player ", "{self.agent_id}", "player ",
	`{f"Your current value: {int(self.my_value)}" if self.my_value is not None else `+
		`"You have not proposed a value yet"}`, "Your current value: You have not proposed a value yet",
	`{previous_strategies if previous_strategies else "(No notes yet)"}`, "(No notes yet)",
	`{previous_strategies if previous_strategies else "(No notes)"}`, "(No notes)",
	`{history_summary if history_summary and "(No history)" not in history_summary else `+
		`"(This is round 1 - no previous history)"}`, pastInWords,
	`{history_summary if history_summary and "(No history" not in history_summary else `+
		`"(This is round 1 - no previous history)"}`, pastInWords,
	"{history_summary}", "Round : (No history)")

const pastInWords = "Round : (No history) (This is round 1 - no previous history)"

// The prompts of the game have every word of Figures 5 to 14, and the right figure for every kind of player.
func TestPrintedGame(t *testing.T) {
	lines, err := os.ReadFile(paper(t, "a2a-sim.txt"))
	if err != nil {
		t.Fatal(err)
	}
	made := printed(t, gamePrinted, "a2a-sim.txt")
	listing := regexp.MustCompile("(?s)\n```\n((?:[^`]|`[^`])*?)\n```\n\\s*Figure (\\d+):")
	found := listing.FindAllStringSubmatch(string(lines), -1)
	if len(found) != 10 {
		t.Fatalf("the paper has %d listings, want 10", len(found))
	}
	all := ofTemplate(made["game/propose.tmpl"]) + ofTemplate(made["game/vote.tmpl"])
	for _, f := range found {
		if want := ofListing(filledIn.Replace(onlyWords(f[1]))); !strings.Contains(all, want) {
			t.Errorf("Figure %s: no template has the words\n%s", f[2], want)
		}
	}
	// Figure 13 asks about honest agents, which decides whether a game with a Byzantine player can end.
	before, _, _ := strings.Cut(made["game/vote.tmpl"], `"no-adversary"`)
	if !strings.Contains(before, `"stop" if all honest agents appear to be proposing`) {
		t.Error("the vote of players who are warned is not that of Figure 13")
	}
	if strings.Contains(printed(t, gameAllAgents, "a2a-sim.txt")["game/vote.tmpl"], "all honest agents appear") {
		t.Error("the vote that asks about all agents still asks about honest ones")
	}
}

// The prompts of SAC are those of Appendix B, for mathematics and for other questions.
func TestPrintedSAC(t *testing.T) {
	made := printed(t, sacPrinted, "sac.txt")
	score, refine := ofTemplate(made["sac/score.tmpl"]), ofTemplate(made["sac/refine.tmpl"])
	for _, want := range []string{
		"You are an expert evaluator. Respond using only a single number.",
		"You are evaluating the correctness of a proposed answer to a mathematical reasoning problem. Assume that up " +
			"to responses may be malicious or unreliable. Reason carefully before producing the final score. " +
			"Problem: Proposed answer: Step 1: Solve the problem independently step by step. Step 2: Evaluate the " +
			"proposed answer. Step 3: Output ONLY a single decimal number between 0.0 and 1.0. 0.0 = clearly " +
			"incorrect, 0.5 = uncertain, 1.0 = clearly correct. Score:",
		"the correctness of a proposed answer to a question. Assume",
	} {
		if !strings.Contains(score, want) {
			t.Errorf("score has not\n%s\nbut\n%s", want, score)
		}
	}
	for _, want := range []string{
		"You are a helpful assistant. Follow the required output format exactly.",
		"You are solving a mathematical reasoning problem. Review the information below and provide your best " +
			"answer. Assume that up to responses may be malicious or unreliable. Reason carefully before producing " +
			"the final answer. Problem: Your current answer: Other agents’ answers with reliability scores (higher " +
			"indicates greater reliability): - Answer: (reliability score: ) Prefer answers with higher reliability " +
			"scores, but retain your current answer if you believe it is correct. Respond using the format: " +
			"Answer: [your numerical answer]",
		"You are solving a question. Review",
		"Respond strictly using the answer format specified in the question. Answer: [your answer]",
	} {
		if !strings.Contains(refine, want) {
			t.Errorf("refine has not\n%s\nbut\n%s", want, refine)
		}
	}
	for _, field := range []string{"{{.F}}", "{{.Spelled .Own}}", "{{$p.Score}}", `{{template "question" .}}`} {
		if !strings.Contains(made["sac/refine.tmpl"], field) {
			t.Error("refine lacks", field)
		}
	}
}

// CP-WBFT's paper prints one prompt; other forms of answers fail instead of being asked in other words.
func TestPrintedCPWBFT(t *testing.T) {
	made := printed(t, cpwbftPrinted, "cp-wbft.txt")["cp-wbft/answer.tmpl"]
	want := "following format: Answer: [your numerical answer], Confidence: [0.00-1.00]."
	if !strings.Contains(made, want) {
		t.Errorf("it has not %q: %s", want, made)
	}
}

// A text that is another paper, or none, is refused with what it lacks.
func TestPrintedElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "paper.txt")
	for text, set := range map[string]PromptSet{
		"```\nA listing\n```\n\nSome words.\nFigure 5: caption\n":             gamePrinted,
		"B.1 Scoring\nSystem: x\nUser:\nProblem: {x}\n\nB.2 Refine\n":         sacPrinted,
		"“Please answer in the following format: Confidence: [0.00-1.00].”\n": cpwbftPrinted,
	} {
		write(t, path, text)
		if _, _, err := set.Make([]string{path}); err == nil || !strings.Contains(err.Error(), "it has no text") {
			t.Errorf("%s: %v", set.Name, err)
		}
	}
	write(t, path, "\xff")
	if _, _, err := gamePrinted.Make([]string{path}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
}
