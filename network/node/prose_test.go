package node_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/protocol/grade"
)

// Texts of nearly the longest size that an answer may have pass between nodes, are graded, and come back in
// the records.
func TestLongTexts(t *testing.T) {
	s := llmtest.Start(t, func(c llmtest.Call) string {
		switch {
		case strings.Contains(c.User, "Mark the text at the end"):
			return grade.Uniform(15).Text()
		case c.Scoring() && strings.Contains(c.User, "m2 sky"):
			return "0.9"
		case c.Scoring():
			return "0.2"
		}
		return c.Model + strings.Repeat(" sky", (synod.MaxLong-64)/4)
	})
	for name, protocol := range map[string]string{"panel": "{name: panel}", "sac": "{name: sac, rounds: 2}"} {
		t.Run(name, func(t *testing.T) {
			text := "form: prose\nprotocol: " + protocol + "\nf: 1\npace: {think: 20s, within: 2s}\nmodels:\n"
			seats := "seats:\n"
			for i := range 5 {
				text += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d, timeout: 15s}\n", i, s.URL, i)
				seats += fmt.Sprintf("  - {id: a%d, model: m%d}\n", i, i)
			}
			net := convene(t, text+seats, 1)
			net.startAll()
			res, o := net.ask(synod.Question{Text: "Explain why the sky is blue.", Form: synod.Prose})
			if len(res.Missing) > 0 {
				t.Fatal(res.Missing)
			}
			if o.Status != outcome.Agreed || o.Answer == nil || len(*o.Answer) < synod.MaxLong-100 {
				t.Errorf("%s: %.300s", o.Status, o.Reason)
			}
		})
	}
}
