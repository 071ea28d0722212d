//go:build sdk

package gateway

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// recording is the whole replies of models to questions, by the text of the question and the model.
type recording struct {
	asked   []recorded
	replies map[string]map[string]string
}

// recorded is a question with its form, its key and what each model answered.
type recorded struct {
	text, form, gold string
	answers          map[string]string
}

// votesFolder has the recorded answers; without it the test is skipped.
const votesFolder = "../../../../../shared/data/votes/"

// each calls a function for each line of a file.
func each[T any](t *testing.T, name string, line func(T)) {
	t.Helper()
	file, err := os.Open(votesFolder + name)
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: no recorded replies:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		line(one)
	}
}

// readRecording reads the questions of three sets of which whole replies are recorded, 100 of each.
func readRecording(t *testing.T) *recording {
	r := &recording{replies: map[string]map[string]string{}}
	for set, form := range map[string]string{"gsm8k": "number", "math-l5": "number", "crux": "text"} {
		texts := map[string]string{}
		each(t, set+".jsonl.gz", func(q struct{ ID, Question string }) { texts[q.ID] = q.Question })
		at := map[string]int{}
		each(t, set+"-replies.jsonl.gz", func(x struct{ ID, Model, Gold, Answer, Reply string }) {
			text := strings.TrimSpace(texts[x.ID])
			i, known := at[x.ID]
			if !known {
				i, at[x.ID] = len(r.asked), len(r.asked)
				r.asked = append(r.asked, recorded{text, form, x.Gold, map[string]string{}})
				r.replies[text] = map[string]string{}
			}
			r.asked[i].answers[x.Model], r.replies[text][x.Model] = x.Answer, x.Reply
		})
	}
	return r
}

// tokensPerSecond is how fast the stub writes.
const tokensPerSecond = 40

// ServeHTTP replies with what the model replied to the question that the prompt contains, after the time that writing
// it takes.
func (r *recording) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	prompt := ""
	for _, m := range asked.Messages {
		prompt += m.Content + "\n"
	}
	seen := strings.Join(strings.Fields(prompt), " ")
	for _, q := range r.asked {
		reply, known := r.replies[q.text][asked.Model]
		if !known || !strings.Contains(seen, strings.Join(strings.Fields(q.text), " ")) {
			continue
		}
		tokens := len(reply)/4 + 1
		select {
		case <-time.After(time.Duration(tokens) * time.Second / tokensPerSecond):
		case <-req.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "r", "object": "chat.completion", "model": asked.Model,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
				"message": map[string]any{"role": "assistant", "content": reply}}},
			"usage": map[string]int{"prompt_tokens": len(prompt)/4 + 1, "completion_tokens": tokens}})
		return
	}
	http.Error(w, "this question was not recorded", http.StatusNotFound)
}

// plainly compares answers without spaces, quotes and the form of numbers.
func plainly(a string) string {
	a = strings.ToLower(strings.NewReplacer(" ", "", "\n", "", `"`, "", "'", "", ",", "").Replace(a))
	if x, err := strconv.ParseFloat(a, 64); err == nil {
		return fmt.Sprint(x)
	}
	return a
}

// Recorded replies of real models through the gateway, asked by OpenAI's client: three cheap models first and a strong
// one where they do not agree, also as a race, against the strong one alone. The table is from the gateway's own
// accounting. Tiers cost less, and are about as right; a race decides the same.
func TestOpenAITiersOfRecordedModels(t *testing.T) {
	r := readRecording(t)
	stub := httptest.NewServer(r)
	t.Cleanup(stub.Close)
	before := prices
	t.Cleanup(func() { prices = before })
	models, council := "", map[string]string{"mini": "gpt-4o-mini-2024-07-18", "flash": "gemini-1.5-flash",
		"deepseek": "deepseek-v2.5-0908", "strong": "gpt-4o-2024-08-06"}
	usd := map[string][2]float64{"mini": {0.15, 0.6}, "flash": {0.075, 0.3}, "deepseek": {0.14, 0.28},
		"strong": {2.5, 10}}
	for name, model := range council {
		models += fmt.Sprintf("  %s: {provider: openai, url: %q, model: %s, max_tokens: 2000}\n", name, stub.URL+"/v1",
			model)
		prices = append(slices.Clip(prices), llm.Prices{{Server: "*", Model: model,
			Price: llm.Price{Prompt: usd[name][0], Completion: usd[name][1]}}}...)
	}
	tiers := "tiers: [[mini, flash, deepseek], [strong]]}\ngraph: {family: complete}\nf: 1\nrule: {name: protocol}\n" +
		"models:\n" + models + "seats:\n  - {id: mini, model: mini}\n  - {id: flash, model: flash}\n" +
		"  - {id: deepseek, model: deepseek}\n  - {id: strong, model: strong}\n"
	h := open(t, map[string]string{"tiers": "protocol: {name: cascade, " + tiers,
		"race": "protocol: {name: cascade, race: true, " + tiers})
	fmt.Printf("%-24s %6s %6s %9s %6s %8s %6s %6s\n", "300 recorded questions", "right", "wrong", "undecided", "calls",
		"USD", "p50 s", "p95 s")
	right := map[string]int{}
	spent := map[string]float64{}
	calls := map[string]int{}
	for _, model := range []string{"tiers", "race", "solo:strong"} {
		answers, undecided := r.askAll(t, h, model)
		for i, a := range answers {
			said := a
			if model == "solo:strong" { // a whole reply, whose answer the recording has
				said = r.asked[i].answers[council["strong"]]
			}
			if plainly(said) == plainly(r.asked[i].gold) {
				right[model]++
			}
		}
		var seconds []float64
		rows, err := h.store.Search(t.Context(), store.Filter{Model: model}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		status := map[string]int{}
		for _, row := range rows {
			status[row.Status]++
			calls[model] += row.Calls
			seconds, spent[model] = append(seconds, row.Ended.Sub(row.Begun).Seconds()), spent[model]+row.Spent.USD()
		}
		slices.Sort(seconds)
		fmt.Printf("%-24s %6d %6d %9d %6d %8.4f %6.1f %6.1f\n", model, right[model],
			len(r.asked)-right[model]-undecided, undecided, calls[model], spent[model], seconds[len(seconds)/2],
			seconds[len(seconds)*95/100])
		t.Logf("%s: requests by status: %v", model, status)
	}
	if spent["tiers"] > 0.8*spent["solo:strong"] || right["tiers"] < right["solo:strong"]-15 ||
		right["race"] != right["tiers"] || calls["race"] < calls["tiers"] {
		t.Errorf("right %v, spent %v, calls %v", right, spent, calls)
	}
}

// askAll asks all questions, 24 at once.
func (r *recording) askAll(t *testing.T, h *house, model string) (answers []string, undecided int) {
	client, _ := clients(h)
	answers = make([]string, len(r.asked))
	var wait sync.WaitGroup
	var mu sync.Mutex
	places := make(chan struct{}, 24)
	for i, q := range r.asked {
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			got, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
				Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(q.text)}},
				option.WithJSONSet("synod.form", q.form))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				undecided++
				var bad *openai.Error
				if errors.As(err, &bad) {
					t.Logf("%s, question %d: %s %s", model, i, bad.Code, bad.Message)
				}
				return
			}
			answers[i] = got.Choices[0].Message.Content
		})
	}
	wait.Wait()
	return answers, undecided
}
