package campaign

import (
	"fmt"
	"slices"
	"strings"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

var textTrials = []ClaimTrial{
	{Claim: claimOf("TX-1"), try: scoresRead},
	{Claim: claimOf("TX-2"), try: canonicalTwice},
	{Claim: claimOf("TX-3"), try: staysFenced},
	{Claim: claimOf("TX-4"), try: shownClean},
	{Claim: claimOf("TX-7"), try: withoutMeta},
}

// scraps are what hostile texts are made of.
var scraps = []string{"Step 1", "Score: 1.0", "8/10", "\n", " ", "0.9", "-", "{\"score\": 1}", "\"", "\\", "<|im_end|>",
	"<|im_start|>system", "[INST]", ">>", "<<", "0000000000000>>", "\u202e", "\u200b", "\U000e0041", "\x1b[2J",
	"\x1b]52;c;YQ==\a", "\r", "４２", "٤٢", "½", "\\boxed{42}", "\\frac{1}{2}", "42", "1,234", "(B)", "true", "Answer:",
	"é", "ﷺ", "\xff", "```", "%", "$", "x^2", "Paris"}

// text draws a hostile text.
func (t *ClaimTried) text() string {
	var s strings.Builder
	for range t.Rand.IntN(12) {
		s.WriteString(scraps[t.Rand.IntN(len(scraps))])
		if t.Rand.IntN(8) == 0 {
			s.WriteByte(byte(t.Rand.Uint32()))
		}
	}
	return s.String()
}

func scoresRead(t *ClaimTried) {
	for range 50 {
		before := strings.NewReplacer("{", "", "`", "", "<", "").Replace(t.text())
		want := float64(t.Rand.IntN(1001)) / 1000
		got, ok := read.ScoreIn(fmt.Sprintf("%s\nScore: %v", before, want))
		t.Check(ok && got == synod.Score(want), "%q and a line with the score %v: %v, %v", before, want, got, ok)
	}
}

func canonicalTwice(t *ClaimTried) {
	for _, form := range synod.Forms() {
		q := &synod.Question{Text: "?", Form: form, Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B",
			Text: "y"}}}
		if form == synod.JSON || form == synod.Action {
			continue // their canonical forms depend on a schema and on tools
		}
		for range 10 {
			raw := t.text()
			a, ok := read.Canonical(q, raw)
			if !ok {
				t.Executions++
				continue
			}
			again, ok := read.Canonical(q, string(a))
			t.Check(ok && again == a, "form %s: %q is %q, which is %q, %v", form, raw, a, again, ok)
		}
	}
}

// page shows the text of a member in all ways that prompts have.
var page = fstest.MapFS{"page.tmpl": {Data: []byte(`{{define "system"}}{{end}}{{define "user"}}{{.Quote .Candidate}}
{{.Fence .Rationale}}
{{.Passage .Rationale}}
end{{end}}`)}}

func staysFenced(t *ClaimTried) {
	all, err := prompt.NewTemplates("claims", page)
	if !t.Need(err) {
		return
	}
	for range 20 {
		text := t.text()
		c, err := all.Render(&synod.Prompt{Template: "claims/page", Candidate: synod.Answer(text), Rationale: text,
			Nonce: t.Rand.Uint64(), Question: &synod.Question{Text: "Who?", Form: synod.Text}})
		if !t.Need(err) {
			return
		}
		lines := strings.Split(c.User, "\n")
		border := strings.TrimPrefix(lines[min(1, len(lines)-1)], "<<")
		fenced := len(border) == 13 && strings.Count(c.User, border) == 4 && strings.HasSuffix(c.User, border+">>\nend")
		first := lines[0]
		quoted := len(first) > 1 && first[0] == '"' && first[len(first)-1] == '"' &&
			!strings.Contains(strings.NewReplacer(`\\`, "", `\"`, "").Replace(first[1:len(first)-1]), `"`)
		t.Check(fenced && quoted && len(lines) > 3 && lines[3] == border+">>", "%q is shown as %q", text, c.User)
	}
}

func shownClean(t *ClaimTried) {
	for range 50 {
		text := t.text()
		shown := clean.Escape(text)
		line := clean.Line(text, 200)
		t.Check(!strings.ContainsFunc(shown, clean.Hidden) && !strings.ContainsAny(shown, "\x1b\r\a") &&
			!strings.ContainsAny(line, "\n\r\x1b") && len(line) <= 200, "%q is shown as %q, and as a line %q", text,
			shown, line)
	}
}

// withoutMeta has a member show reasoning whose sentences name members, judges and instructions, of which the question
// names some.
func withoutMeta(t *ClaimTried) {
	words := []string{"Judges", "votes", "PROMPT", "byzantine", "peer", "graders", "verdict", "ignore", "answers"}
	question := "How many"
	for _, w := range words {
		if t.Rand.IntN(3) == 0 {
			question += " " + strings.ToLower(w)
		}
	}
	var said, kept []string
	for k := range 1 + t.Rand.IntN(6) {
		sentence, fine := fmt.Sprintf("Step %d has a judgeship", k), true
		for range t.Rand.IntN(4) {
			w := words[t.Rand.IntN(len(words))]
			sentence, fine = sentence+" and "+w, fine && strings.Contains(question, strings.ToLower(w))
		}
		sentence += check.Among(&t.Tried, ". ", "! ", "?\n", ";\n", ".\" ")
		if said = append(said, sentence); fine {
			kept = append(kept, sentence)
		}
	}
	seat := synod.Seat{Question: &synod.Question{Text: question, Form: synod.Text}}
	for _, drops := range []bool{true, false} {
		if seat.Guards.DropMeta = drops; !drops {
			kept = said
		}
		got, want := answer.Shown(&seat, strings.Join(said, ""), 1000), strings.Join(kept, "")
		t.Check(slices.Equal(strings.Fields(got), strings.Fields(want)), "of %q to the question %q is shown %q, want "+
			"%q", said, question, got, want)
	}
}
