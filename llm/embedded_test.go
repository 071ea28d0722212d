package llm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
)

// lines is an engine that takes the likelihood of a line from a table and always
// writes the same line.
type lines struct {
	likely  map[string]float64 // mean log-probability; others -9
	written engine.Result
	asked   []engine.Request
	prefix  string
}

func (l *lines) Generate(_ context.Context, r engine.Request) (engine.Result, error) {
	l.asked = append(l.asked, r)
	return l.written, nil
}

func (l *lines) Weigh(
	_ context.Context, prefix string, list []string, want *engine.Capture,
) ([]engine.LogProb, []*engine.States, engine.Usage, error) {
	l.prefix = prefix
	scores := make([]engine.LogProb, len(list))
	for i, s := range list {
		mean, known := l.likely[strings.TrimSuffix(s, "\n")]
		if !known {
			mean = -9
		}
		scores[i] = engine.LogProb{Mean: mean, Sum: mean * float64(len(s)), Tokens: len(s)}
	}
	return scores, l.states(list, want), engine.Usage{PromptTokens: 10}, nil
}

func boxTemplates(t *testing.T) *prompt.Templates {
	t.Helper()
	template := func(completion string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{{define "system"}}Be brief.{{end}}{{define "user"}}` +
			"{{.Question.Text}}" + `{{end}}` + completion)}
	}
	b, err := prompt.NewTemplates("box", fstest.MapFS{
		"answer.tmpl": template(`{{define "completion"}}{{.Completion}}{{end}}`),
		"plain.tmpl":  template(""),
		"weigh.tmpl":  {Data: []byte(`{{define "system"}}{{end}}{{define "user"}}{{.Completion}}{{end}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func replyOf(t *testing.T, c embeddedConfig, e completer, p synod.Prompt) (synod.Reply, error) {
	t.Helper()
	if p.Template == "" {
		p.Template = "box/answer"
	}
	chat, err := boxTemplates(t).Render(&p)
	if err != nil {
		t.Fatal(err)
	}
	m := &embedded{cfg: c.Speech, host: &sharedEngine{}}
	return m.reply(t.Context(), &exchange{completer: e, prompt: &p}, chat)
}

var (
	capital = &synod.Question{Text: "What is the capital of France?", Form: synod.Text}
	twoTwo  = &synod.Question{Text: "What is 2 + 2?", Form: synod.Number}
	wet     = &synod.Question{Text: "Is water wet?", Form: synod.Bool}
	fruit   = &synod.Question{Text: "Which is a fruit?", Form: synod.Choice,
		Options: []synod.Option{{Label: "A", Text: "hammer"}, {Label: "B", Text: "apple"}}}
)

func TestEmbeddedAnswersByALine(t *testing.T) {
	cold := embeddedDefaults()
	cold.Temperature = 0
	for _, c := range []struct {
		name   string
		q      *synod.Question
		engine lines
		want   string // "" is unreadable
	}{
		{"text", capital, lines{written: engine.Result{Text: " Paris\n", Finish: "stop"}}, "Paris"},
		{"number", twoTwo, lines{written: engine.Result{Text: " 4", Finish: "stop"}}, "4"},
		{"cut", capital, lines{written: engine.Result{Text: " It is Paris. Once there was", Finish: "length"}},
			"It is Paris."},
		{"cut in its first sentence", capital, lines{written: engine.Result{Text: " Once there was", Finish: "length"}},
			""},
		{"choice", fruit, lines{likely: map[string]float64{" apple": -1}}, "B"},
		{"bool", wet, lines{likely: map[string]float64{" false": -1}}, "false"},
	} {
		r, err := replyOf(t, cold, &c.engine, synod.Prompt{Purpose: synod.Answering, Question: c.q})
		if string(r.Answer) != c.want || (err != nil) != (c.want == "") || err == nil && !r.Typed {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		for _, q := range c.engine.asked {
			if q.Messages != nil || !strings.HasSuffix(q.Prompt, "Question: "+c.q.Text+"\nAnswer:") ||
				q.MaxTokens > lineTokens {
				t.Errorf("%s: asked %+v", c.name, q)
			}
		}
	}
}

// Temperature spreads the picks; greedy members all pick the likeliest.
func TestEmbeddedSamplesOptions(t *testing.T) {
	c, seen := embeddedDefaults(), map[synod.Answer]int{}
	for seed := range uint64(200) {
		r, err := replyOf(t, c, &lines{likely: map[string]float64{" apple": -1, " hammer": -1.3}},
			synod.Prompt{Purpose: synod.Answering, Question: fruit, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Answer]++
	}
	if seen["B"] < 100 || seen["A"] < 50 { // exp(0.3/0.6) to 1: 125 and 75 expected
		t.Errorf("picks: %v", seen)
	}
}

func TestEmbeddedRefinesByChoosing(t *testing.T) {
	likely := map[string]float64{" Paris": -0.1, " London": -2, " it is paris": -0.06}
	for _, c := range []struct {
		own, want string
		peers     []synod.Answer
	}{
		{"london", "paris", []synod.Answer{"paris", "london"}},
		{"paris", "paris", []synod.Answer{"london", "london", "london"}},
		{"london", "london", []synod.Answer{"rome"}},
		{"oslo", "oslo", []synod.Answer{"rome"}},          // a tie keeps its own
		{"paris", "paris", []synod.Answer{"it is paris"}}, // likelier by the token, not as a line
		{"london", "london", []synod.Answer{"london"}},
	} {
		p := synod.Prompt{Purpose: synod.Refining, Question: capital, Own: synod.Answer(c.own),
			Spelling: map[synod.Answer]string{"paris": "Paris", "london": "London"}}
		for _, a := range c.peers {
			p.Peers = append(p.Peers, synod.Rated{Answer: a, Score: 0.5})
		}
		r, err := replyOf(t, embeddedDefaults(), &lines{likely: likely}, p)
		if err != nil || string(r.Answer) != c.want {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
		if a, surface, ok := read.Answer(capital, &synod.Reply{Status: synod.OK, Typed: true, Answer: r.Answer,
			Text: r.Text}, false); !ok || a != r.Answer || surface != p.Spelled(a) {
			t.Errorf("%+v: read as %q, shown as %q", c, a, surface)
		}
	}
}

// A prompt of the paper's protocol, a template without a completion and the setting
// written make the model reply to the whole prompt.
func TestEmbeddedWrites(t *testing.T) {
	w := embeddedDefaults()
	w.Answers, w.Refine = written, written
	reply := engine.Result{Text: `{"reasoning":"","answer":"4"}`, Finish: "stop"}
	for name, c := range map[string]struct {
		cfg embeddedConfig
		p   synod.Prompt
	}{
		"exact": {embeddedDefaults(), synod.Prompt{Purpose: synod.Answering, Question: twoTwo, Exact: true}},
		"page": {embeddedDefaults(), synod.Prompt{Purpose: synod.Answering, Question: twoTwo,
			Template: "box/plain"}},
		"answers": {w, synod.Prompt{Purpose: synod.Answering, Question: fruit}},
		"refine": {w, synod.Prompt{Purpose: synod.Refining, Question: twoTwo, Own: "3",
			Peers: []synod.Rated{{Answer: "4"}}}},
	} {
		e := lines{written: reply}
		r, err := replyOf(t, c.cfg, &e, c.p)
		if err != nil || r.Typed || r.Text != reply.Text || len(e.asked) != 1 || e.asked[0].Messages == nil ||
			(e.asked[0].Grammar == "") != c.p.Exact {
			t.Errorf("%s: %+v, %v, asked %+v", name, r, err, e.asked)
		}
	}
	_, err := replyOf(t, w, &lines{written: engine.Result{Text: `{"rea`, Finish: "length"}},
		synod.Prompt{Purpose: synod.Answering, Question: twoTwo})
	var f *Failure
	if !errors.As(err, &f) || f.Status != synod.Unreadable {
		t.Errorf("a cut reply: %v", err)
	}
}

// An option is weighed by its text, after the question without its options.
func TestEmbeddedWeighs(t *testing.T) {
	e := lines{likely: map[string]float64{" apple": -0.5}}
	r, err := replyOf(t, embeddedDefaults(), &e, synod.Prompt{Template: "box/weigh", Purpose: synod.Weighing,
		Question: fruit, Candidate: "B"})
	if err != nil || !r.Typed || r.Value != -0.5 ||
		!strings.HasSuffix(e.prefix, "\n\nQuestion: Which is a fruit?\nAnswer:") {
		t.Errorf("%+v, %v after %q", r, err, e.prefix)
	}
}

func TestEmbeddedSettings(t *testing.T) {
	for _, c := range []struct{ key, want string }{{"answers", "short or written"}, {"refine", "choose or written"}} {
		cfg := embeddedDefaults()
		cfg.Model = "m"
		if err := cfg.validate(); err != nil {
			t.Fatal(err)
		}
		*map[string]*string{"answers": &cfg.Answers, "refine": &cfg.Refine}[c.key] = "loud"
		if err := cfg.validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.key, err)
		}
	}
	if got := possibleAnswers(fruit); !slices.Equal(got, []synod.Answer{"A", "B"}) || possibleAnswers(capital) != nil {
		t.Errorf("answers: %v", got)
	}
}

// twice writes one line for an answer and another for a confidence.
type twice struct {
	lines
	sure string
}

func (e *twice) Generate(ctx context.Context, r engine.Request) (engine.Result, error) {
	out, err := e.lines.Generate(ctx, r)
	if strings.HasSuffix(r.Prompt, confidenceLabel) {
		out = engine.Result{Text: e.sure, Finish: "stop", Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 2}}
	}
	return out, err
}

// [CP-1] A small model states a confidence in one more line after its answer. Text
// that is not a number in [0,1] is none, and nothing is generated if none is wanted.
func TestEmbeddedStatesItsConfidence(t *testing.T) {
	for _, c := range []struct {
		name  string
		q     *synod.Question
		mode  synod.ConfidenceMode
		sure  string
		want  float64 // -1: none
		after string
	}{
		{"free", twoTwo, synod.StatedConfidence, " 0.85\n", .85, "Answer: 4" + confidenceLabel},
		{"options", fruit, synod.StatedConfidence, " 1.0", 1, "Answer: apple" + confidenceLabel},
		{"garbled", twoTwo, synod.StatedConfidence, " 0.", 0, ""},
		{"nothing", twoTwo, synod.StatedConfidence, "", -1, ""},
		{"not asked", twoTwo, synod.NoConfidence, " 0.85", -1, ""},
	} {
		e := &twice{lines{likely: map[string]float64{" apple": -1},
			written: engine.Result{Text: " 4\n", Finish: "stop"}}, c.sure}
		cold := embeddedDefaults()
		cold.Temperature = 0
		r, err := replyOf(t, cold, e, synod.Prompt{Purpose: synod.Answering, Question: c.q, ConfidenceMode: c.mode})
		sure := -1.0
		if r.Confidence != nil {
			sure = *r.Confidence
		}
		if err != nil || sure != c.want || r.Answer == "" {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		last := ""
		if len(e.asked) > 0 {
			last = e.asked[len(e.asked)-1].Prompt
		}
		if c.after != "" && !strings.HasSuffix(last, c.after) || c.mode == synod.NoConfidence &&
			strings.HasSuffix(last, confidenceLabel) {
			t.Errorf("%s: asked %q", c.name, last)
		}
	}
}

// A reply to a user's schema follows a grammar; where none can be made, the prompt has the schema, and the run says
// why.
func TestSchemaWithoutGrammar(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":["string","null"],"pattern":"^a+$"}`:                 "",
		`{"type":"array","items":{"type":"null"},"uniqueItems":true}`: "uniqueItems",
	} {
		e := &lines{written: engine.Result{Text: `"a"`, Finish: "stop"}}
		m := &embedded{cfg: Speech{MaxTokens: 9}, host: &sharedEngine{}}
		p := synod.Prompt{Question: &synod.Question{Form: synod.JSON}}
		if _, err := m.write(t.Context(), &exchange{completer: e, prompt: &p}, prompt.Chat{System: "x", User: "y",
			Schema: json.RawMessage(schema)}); err != nil {
			t.Fatal(err)
		}
		said := strings.Join(m.Adapted(), " ")
		if (e.asked[0].Grammar != "") != (want == "") || (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: grammar %q, adapted %q", schema, e.asked[0].Grammar, said)
		}
	}
}
