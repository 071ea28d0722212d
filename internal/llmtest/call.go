package llmtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Call is a request as the server has read it.
type Call struct {
	N           int // from 0, in the order in which calls arrived at this server
	Model       string
	System      string
	User        string
	Said        string          // the assistant's turns of the conversation; "" if it has none
	Format      string          // type of response_format, "" if there is none
	Schema      json.RawMessage // of a json_schema response_format
	Temperature *float64
	TopP        *float64
	MaxTokens   int
	Seed        *int64
	Logprobs    bool
	Auth        string          // the Authorization header
	Body        json.RawMessage // the whole body
}

// parse reads a body. It fails if a model server would refuse it.
func parse(body []byte) (Call, error) {
	var w struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content texts  `json:"content"`
		} `json:"messages"`
		Temperature    *float64 `json:"temperature"`
		TopP           *float64 `json:"top_p"`
		MaxTokens      int      `json:"max_tokens"`
		MaxCompletion  int      `json:"max_completion_tokens"`
		Seed           *int64   `json:"seed"`
		Logprobs       bool     `json:"logprobs"`
		ResponseFormat *struct {
			Type   string `json:"type"`
			Schema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return Call{}, fmt.Errorf("llmtest: request body: %w", err)
	}
	if w.Model == "" { // as servers do; the check before a run sends {} to learn whether the path is right
		return Call{}, errors.New("you must provide a model")
	}
	c := Call{Model: w.Model, Temperature: w.Temperature, TopP: w.TopP, MaxTokens: max(w.MaxTokens, w.MaxCompletion),
		Seed: w.Seed, Logprobs: w.Logprobs, Body: body}
	for _, m := range w.Messages {
		switch m.Role {
		case "system", "developer":
			c.System = join(c.System, string(m.Content))
		case "user":
			c.User = join(c.User, string(m.Content))
		case "assistant":
			c.Said = join(c.Said, string(m.Content))
		}
	}
	if w.ResponseFormat != nil {
		c.Format, c.Schema = w.ResponseFormat.Type, w.ResponseFormat.Schema.Schema
	}
	return c, nil
}

// texts is the text of a content: a string, null, or a list of parts of which the texts count.
type texts string

// UnmarshalJSON reads any of the three.
func (t *texts) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return json.Unmarshal(b, (*string)(t))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(b, &parts)
	for _, p := range parts {
		*t = texts(join(string(*t), p.Text))
	}
	return err
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// Scoring reports whether the call asks for a score: its schema, in the request or in the
// prompt, has a field score, or the prompt has no schema and ends with "Score:".
func (c Call) Scoring() bool {
	switch {
	case c.Schema != nil:
		return strings.Contains(string(c.Schema), `"score"`)
	case strings.Contains(c.System, `"score":{`):
		return true
	}
	return strings.HasSuffix(strings.TrimSpace(c.User), "Score:")
}

// typed reports whether the call asks for a JSON object.
func (c Call) typed() bool { return c.Format != "" || strings.Contains(c.System, `"properties":{`) }

// Fixed returns a handler that always gives the same answer, and the same score to
// every candidate: as a JSON object if the call asks for one, else as "Answer: …"
// or a number.
func Fixed(answer string, score float64) Handler {
	return func(c Call) string {
		switch {
		case c.Scoring() && c.typed():
			return fmt.Sprintf(`{"reasoning":"seen","score":%g}`, score)
		case c.Scoring():
			return fmt.Sprint(score)
		case c.typed():
			quoted, _ := json.Marshal(answer)
			return `{"reasoning":"seen","answer":` + string(quoted) + `}`
		default:
			return "Answer: " + answer
		}
	}
}

// Exchange is one call and its reply.
type Exchange struct {
	Call
	W http.ResponseWriter
	R *http.Request

	server *Server
	api    api
	likely *float64 // see Likely
}

// format returns the API of the request; an exchange that no request began has OpenAI's.
func (x *Exchange) format() api {
	if x.api == nil {
		return openaiAPI{}
	}
	return x.api
}

// OK answers with the text of the server's handler.
func (x *Exchange) OK() { x.Text(x.server.handler(x.Call), "stop") }

// Text answers with a completion.
func (x *Exchange) Text(text, finish string) {
	x.Send(http.StatusOK, "application/json", x.format().completion(x, text, finish))
}

// completion returns the body of a completion. Its usage counts one token for four bytes.
func (x *Exchange) completion(text, finish string) []byte {
	quoted, _ := json.Marshal(text)
	in, out := (len(x.System)+len(x.User))/4+1, len(text)/4+1
	b := make([]byte, 0, len(quoted)+400)
	b = append(b, `{"id":"chatcmpl-`...)
	b = strconv.AppendInt(b, int64(x.N), 10)
	b = append(b, `","object":"chat.completion","created":1700000000,"model":`...)
	model, _ := json.Marshal(cmp.Or(x.Model, "stub"))
	b = append(append(b, model...), `,"choices":[`...)
	b = append(b, `{"index":0,"message":{"role":"assistant","content":`...)
	b = append(b, quoted...)
	b = append(b, `,"refusal":null}`...)
	if x.Logprobs {
		b = append(append(b, `,"logprobs":`...), x.logprobs(text)...)
	}
	b = append(append(append(b, `,"finish_reason":"`...), finish...), `"}],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(in), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(out), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(in+out), 10)
	return append(b, `}}`...)
}

// logprobs returns a text as two tokens, with their log-probabilities.
func (x *Exchange) logprobs(text string) []byte {
	type token struct {
		Token   string  `json:"token"`
		Logprob float64 `json:"logprob"`
	}
	half := len(text) / 2
	for !utf8.ValidString(text[:half]) {
		half--
	}
	tokens := []token{{text[:half], -0.25}, {text[half:], -0.75}}
	if x.likely != nil {
		tokens[0].Logprob, tokens[1].Logprob = *x.likely, *x.likely
	}
	b, _ := json.Marshal(map[string][]token{"content": tokens})
	return b
}

// Likely answers, and gives each token the log-probability that of returns, if the call asks for them.
func Likely(of func(Call) float64) Behaviour {
	return func(x *Exchange) {
		x.likely = new(of(x.Call))
		x.OK()
	}
}

// Reporting answers, and says that the answer is another model's.
func Reporting(name string) Behaviour {
	return func(x *Exchange) {
		text := x.server.handler(x.Call)
		x.Model = name
		x.Text(text, "stop")
	}
}

// Error answers with an error in OpenAI's format.
func (x *Exchange) Error(status int, code, message string) {
	b, _ := json.Marshal(x.format().failure(status, code, message))
	x.Send(status, "application/json", b)
}

// Send answers with any body.
func (x *Exchange) Send(status int, contentType string, body []byte) {
	h := x.W.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.W.WriteHeader(status)
	_, _ = x.W.Write(body)
}
