package llmtest

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Exchange is one call being answered.
type Exchange struct {
	Call
	W http.ResponseWriter
	R *http.Request

	server *Server
}

// OK answers as the server's handler says.
func (x *Exchange) OK() { x.Text(x.server.handler(x.Call), "stop") }

// Text answers with a completion.
func (x *Exchange) Text(text, finish string) {
	x.Send(http.StatusOK, "application/json", x.completion(text, finish))
}

// completion is the body of a completion. Its usage counts four bytes a token.
func (x *Exchange) completion(text, finish string) []byte {
	quoted, _ := json.Marshal(text)
	in, out := (len(x.System)+len(x.User))/4+1, len(text)/4+1
	b := make([]byte, 0, len(quoted)+400)
	b = append(b, `{"id":"chatcmpl-`...)
	b = strconv.AppendInt(b, int64(x.N), 10)
	b = append(b, `","object":"chat.completion","created":1700000000,"model":"stub","choices":[{"index":0,"message":{"role":"assistant","content":`...)
	b = append(b, quoted...)
	b = append(b, `,"refusal":null}`...)
	if x.Logprobs {
		b = append(b, `,"logprobs":{"content":[{"token":"a","logprob":-0.25},{"token":"b","logprob":-0.75}]}`...)
	}
	b = append(append(append(b, `,"finish_reason":"`...), finish...), `"}],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(in), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(out), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(in+out), 10)
	return append(b, `}}`...)
}

// Error answers with an error in OpenAI's shape.
func (x *Exchange) Error(status int, code, message string) {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code, "param": nil}})
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
