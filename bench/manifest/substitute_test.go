package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench/report"
)

// models is a council file with a strong and a weak model of a server.
func models(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.yaml")
	text := "models:\n"
	for _, name := range []string{"strong", "weak"} {
		text += "  " + name + `: {provider: openai, url: "http://127.0.0.1:9/v1", model: m}` + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Real models are asked the paper's questions or, if that is wanted, others; then nothing is compared. Simulated
// members may be asked any.
func TestSubstitutes(t *testing.T) {
	for name, want := range map[string]string{
		"sac-table1":    "synod data pull sac-math",
		"cpwbft-table2": "synod data pull traces/cp-wbft",
		"cpwbft-table1": "synod data pull traces/cp-wbft",
	} {
		p, err := Presets().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Members: models(t), N: 1}
		_, err = p.Manifest.Draft(o)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--substitute") {
			t.Errorf("%s: %v; it must name %q", name, err, want)
		}
		o.Substitute = true
		g, err := p.Manifest.Draft(o)
		if err != nil {
			t.Fatal(err)
		}
		if g.NoVerdict == "" || !strings.Contains(g.Note, "substitutes") {
			t.Errorf("%s: substitutes were asked, and verdicts are %q, note %q", name, g.NoVerdict, g.Note)
		}
		if g, err = p.Manifest.Draft(Options{N: 1}); err != nil || g.NoVerdict != "" {
			t.Errorf("%s, simulated: %v, %q", name, err, g.NoVerdict)
		}
	}
}

// Where nothing can be compared there is no verdict, neither on a claim nor on a figure.
func TestNoVerdictWithSubstitutes(t *testing.T) {
	g := draft(t, "sac-table1", Options{N: 1, Only: "*-complete-*-replay"})
	g.NoVerdict = "other questions"
	r := play(t, "sac-table1", g)
	for _, c := range r.Cells {
		if len(c.Verdict) != 0 || len(c.Paper) == 0 {
			t.Errorf("%s has verdicts %v on %d figures", c.Cell, c.Verdict, len(c.Paper))
		}
	}
	whole := report.Grid{NoVerdict: "other questions", Cells: r.Cells}
	whole.Judge([]report.PaperClaim{{Name: "a", Figure: "iaa", Against: "iaa", Times: 1, Is: report.AtLeast,
		Comparisons: []report.Sides{{Of: []string{r.Cells[0].Cell}}}}})
	if c := whole.Claims[0]; c.Verdict != "" || c.Why != "other questions" || c.State != report.Holds {
		t.Errorf("%+v", c)
	}
}

// Models of a file are asked the ten questions of the paper on CP-WBFT, and not the first ten of the task.
func TestThePapersOwnQuestions(t *testing.T) {
	p, err := Presets().Find("cpwbft-table2")
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Manifest.Draft(Options{Members: models(t), Data: sharedData(t), Only: "gsm8k-pcp-chain"})
	if err != nil {
		t.Fatal(err)
	}
	recorded := draft(t, "cpwbft-table2", Options{Members: "recorded", Data: sharedData(t), Only: "gsm8k-hcp-chain"})
	simulated := draft(t, "cpwbft-table2", Options{Data: sharedData(t), Only: "gsm8k-pcp-chain"})
	same := 0
	for i, it := range g.Runs[0].Items {
		if paper := recorded.Runs[0].Items[i].Question.ID; it.Question.ID != paper {
			t.Errorf("question %d is %s, and the paper's is %s", i, it.Question.ID, paper)
		}
		if it.Question.ID == simulated.Runs[0].Items[i].Question.ID {
			same++
		}
	}
	if g.Runs[0].N != 10 || same == 10 {
		t.Errorf("%d questions, of which %d are the first of the task", g.Runs[0].N, same)
	}
}

// MMLU-Pro begins with business and law; a sample by category has all fourteen, and -n makes it smaller.
func TestSampledPreset(t *testing.T) {
	for n, want := range map[int]int{0: 100, 14: 14} {
		g := draft(t, "decentllms-fig6", Options{Data: sharedData(t), Only: "decentllms", N: n})
		topics := map[string]int{}
		for _, it := range g.Runs[0].Items {
			topics[it.Topic]++
		}
		if g.Runs[0].N != want || len(topics) < 10 {
			t.Errorf("-n %d: %d questions of %d topics: %v", n, g.Runs[0].N, len(topics), topics)
		}
	}
}
