//go:build sdk

package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// everyday are prompts as people send them, with a word that a sensible answer has, and the form that is wanted.
var everyday = []struct {
	prompt, word string
	form         synod.Form
}{
	{"What is the difference between TCP and UDP?", "TCP", synod.Prose},
	{"Hi!", "Hello", synod.Prose},
	{"The blue one. It leaks.", "blue", synod.Prose},
	{"Write a haiku about the sea.", "sea", synod.Prose},
	{"Translate into French: The shop is closed today.", "fermé", synod.Prose},
	{"Fix this code:\nfor i in range(3)\n    print(i)", "range(3):", synod.Prose},
	{"Write an SQL query for the ten customers with the highest revenue.", "SELECT", synod.Prose},
	{"Write a privacy policy for a small web shop.", "privacy", synod.Prose},
	{"Explain recursion to a child.", "recursion", synod.Prose},
	{"Give me three ideas for dinner.", "soup", synod.Prose},
	{"How do I boil an egg?", "egg", synod.Prose},
	{"Should I learn Go or Rust?", "Rust", synod.Prose},
	{"Thanks, that worked!", "welcome", synod.Prose},
	{"Summarise: The meeting was moved to Friday because the room is taken.", "Friday", synod.Prose},
	{"My landlord does not repair the heating. What can I do?", "landlord", synod.Prose},
	{"Was ist der Unterschied zwischen Brutto und Netto?", "Netto", synod.Prose},
	{"¿Por qué el cielo es azul?", "azul", synod.Prose},
	{"TCP和UDP有什么区别？", "UDP", synod.Prose},
	{"How much water should I drink a day?", "water", synod.Prose},
	{"What is 17 + 25?", "42", synod.Number},
	{"Is Paris in France?", "Paris", synod.Bool},
	{"Who wrote Emma?", "Austen", synod.Text},
}

// inSentences answers everyday prompts in two sentences, and grades nothing: asked for marks or a score it writes a
// sentence too. It puts a value on a last line where that is asked for.
func inSentences(c llmtest.Call) string {
	values := map[string]string{"What is 17": "42", "Is Paris": "true", "Who wrote": "Jane Austen"}
	for _, x := range everyday {
		if !strings.HasPrefix(c.User, x.prompt) {
			continue
		}
		text := fmt.Sprintf("This is what I know of it: %s. I hope that this helps, says %s.", x.word, c.Model)
		for begins, value := range values {
			if strings.HasPrefix(x.prompt, begins) && strings.Contains(c.User, "Answer: <value>") {
				text += "\n\nAnswer: " + value
			}
		}
		return text
	}
	return "That is a good text."
}

// OpenAI's client gets a sensible answer to every everyday prompt: a whole text of a member. So it does from councils
// of every size at the default F, whatever protocol they name.
func TestEverydayPrompts(t *testing.T) {
	stub := watch(t, inSentences)
	seats := func(n int, more string) string {
		file, list := more+"models:\n", "seats:\n"
		for i := range n {
			file += fmt.Sprintf("  m%d: {provider: openai, url: %q, model: m%d, attempts: 1}\n", i, stub.URL, i)
			list += fmt.Sprintf("  - {id: s%d, model: m%d}\n", i, i)
		}
		return file + list
	}
	h := open(t, map[string]string{"one": seats(1, ""), "two": seats(2, ""), "three": seats(3, ""),
		"seven": seats(7, "f: 3\n"), "votes": seats(3, "protocol: {name: majority}\n"),
		"sac": seats(4, "protocol: {name: sac, rounds: 2}\n")})
	client, _ := clients(h)
	for _, council := range []string{"one", "two", "three", "seven", "votes", "sac"} {
		sensible := 0
		for _, x := range everyday {
			got, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: council,
				Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(x.prompt)}})
			if err != nil {
				t.Errorf("%s: %q: %v", council, x.prompt, err)
				continue
			}
			text := got.Choices[0].Message.Content
			if !strings.Contains(text, x.word) || !strings.Contains(text, "I hope that this helps, says m") ||
				strings.Contains(text, "Answer:") || !strings.Contains(got.RawJSON(), `"form":"`+string(x.form)+`"`) {
				t.Errorf("%s: %q: %q", council, x.prompt, text)
				continue
			}
			sensible++
		}
		if sensible != len(everyday) || sensible != 22 {
			t.Errorf("%s: %d of %d sensible answers", council, sensible, len(everyday))
		}
	}
}
