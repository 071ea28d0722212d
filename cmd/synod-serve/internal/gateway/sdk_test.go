//go:build sdk

package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	openairesponses "github.com/openai/openai-go/v3/responses"

	"synod.dev/synod/internal/llmtest"
)

// clients are the makers' own clients, with the number of repeated requests that they have by default.
func clients(h *house) (openai.Client, anthropic.Client) {
	return openai.NewClient(option.WithBaseURL(h.url+"/v1"), option.WithAPIKey("any")),
		anthropic.NewClient(anthropicoption.WithBaseURL(h.url), anthropicoption.WithAPIKey("any"))
}

// OpenAI's client chats, streams, and reads errors.
func TestOpenAIChat(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	client, _ := clients(h)
	ask := openai.ChatCompletionNewParams{Model: "seven", Seed: openai.Int(3),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(sum)}}
	got, err := client.Chat.Completions.New(t.Context(), ask)
	if err != nil || got.Choices[0].Message.Content != "42" || got.Usage.TotalTokens == 0 || got.Model != "seven" {
		t.Fatalf("%v %+v", err, got)
	}
	ask.StreamOptions.IncludeUsage = openai.Bool(true)
	stream, sum := client.Chat.Completions.NewStreaming(t.Context(), ask), openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			t.Errorf("a chunk does not belong to the stream: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil || sum.Choices[0].Message.Content != "42" || sum.Usage.TotalTokens == 0 ||
		sum.Choices[0].FinishReason != "stop" {
		t.Errorf("%v %+v", err, sum)
	}
	models, err := client.Models.List(t.Context())
	if err != nil || len(models.Data) != 2 || models.Data[0].ID != "seven" {
		t.Errorf("%v %+v", err, models)
	}
	_, err = client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "absent",
		Messages: ask.Messages})
	var bad *openai.Error
	if !errors.As(err, &bad) || bad.StatusCode != 404 || bad.Code != "model_not_found" || bad.Param != "model" {
		t.Errorf("%v", err)
	}
}

// Clients repeat no request that would only cost more: a council that does not decide is asked once.
func TestRetriesAreNotMultiplied(t *testing.T) {
	stub := watch(t, splitVote())
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: supermajority}")})
	one, two := clients(h)
	_, err := one.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "seven",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(sum)}})
	var bad *openai.Error
	if !errors.As(err, &bad) || bad.StatusCode != 422 || bad.Code != "no_consensus" {
		t.Errorf("%v", err)
	}
	_, err = two.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "seven", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(sum))}})
	var worse *anthropic.Error
	if !errors.As(err, &worse) || worse.StatusCode != 422 {
		t.Errorf("%v", err)
	}
	rows := h.rows(t)["no_consensus"]
	calls := 0
	for _, r := range rows {
		calls += r.Calls
	}
	if len(rows) != 2 || int(stub.total.Load()) != calls {
		t.Errorf("%d requests, %d calls in the store, %d at the server", len(rows), calls, stub.total.Load())
	}
}

// OpenAI's client uses responses, whole and streamed, and goes on from a stored one.
func TestOpenAIResponses(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	client, _ := clients(h)
	ask := openairesponses.ResponseNewParams{Model: "seven", Instructions: openai.String("Be brief."),
		Input: openairesponses.ResponseNewParamsInputUnion{OfString: openai.String(sum)}}
	got, err := client.Responses.New(t.Context(), ask)
	if err != nil || got.OutputText() != "42" || got.Status != "completed" || got.Usage.TotalTokens == 0 {
		t.Fatalf("%v %+v", err, got)
	}
	stream := client.Responses.NewStreaming(t.Context(), ask)
	var kinds []string
	text, last := "", int64(-1)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != last+1 {
			t.Errorf("event %d follows %d", e.SequenceNumber, last)
		}
		last = e.SequenceNumber
		kinds = append(kinds, strings.TrimPrefix(e.Type, "response."))
		if e.Type == "response.output_text.delta" {
			text += e.Delta
		}
		if e.Type == "response.completed" && e.Response.OutputText() != "42" {
			t.Errorf("%s", e.RawJSON())
		}
	}
	want := "created in_progress output_item.added content_part.added output_text.delta output_text.done " +
		"content_part.done output_item.done completed"
	if stream.Err() != nil || text != "42" || strings.Join(kinds, " ") != want {
		t.Errorf("%v %q %v", stream.Err(), text, kinds)
	}
	ask.PreviousResponseID, ask.Instructions = openai.String(got.ID), openai.String("Be long.")
	ask.Input.OfString = openai.String("And what is 18 + 25?")
	if again, err := client.Responses.New(t.Context(), ask); err != nil || again.PreviousResponseID != got.ID {
		t.Errorf("%v %+v", err, again)
	}
	if calls := stub.inner.Calls(); !strings.Contains(string(calls[len(calls)-1].Body), "17 + 25") {
		t.Errorf("the members did not see what came before: %s", calls[len(calls)-1].Body)
	}
	ask.PreviousResponseID = openai.String("resp_absent")
	_, err = client.Responses.New(t.Context(), ask)
	var bad *openai.Error
	if !errors.As(err, &bad) || bad.StatusCode != 404 || bad.Code != "previous_response_not_found" {
		t.Errorf("%v", err)
	}
	ask.PreviousResponseID, ask.Store = openai.String(""), openai.Bool(false)
	ask.PreviousResponseID.Value = ""
	secret := openairesponses.ResponseNewParams{Model: "seven", Store: openai.Bool(false), Input: ask.Input}
	if got, err = client.Responses.New(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if b, err := h.store.Response(got.ID, ""); err != nil || b != nil {
		t.Errorf("store: false was kept: %s, %v", b, err)
	}
}

// Functions of responses, and a stream that fails.
func TestResponsesEnds(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	body := `{"model": "dice", "input": "What is the weather in Paris?", "tool_choice": "required", "tools": [{"type":
		"function", "name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string", "enum":
		["Paris", "Rome"]}}, "required": ["city"]}}], "synod": {"on_no_consensus": "best-effort"}`
	var got openairesponses.Response
	r := h.post(t, "/v1/responses", body+"}")
	if err := json.Unmarshal(r.body, &got); err != nil || got.Output[0].Type != "function_call" ||
		got.Output[0].Name != "weather" || got.Output[0].CallID == "" {
		t.Errorf("%v %s", err, r.body)
	}
	r = h.post(t, "/v1/responses", body+`, "stream": true}`)
	for _, event := range []string{"response.function_call_arguments.delta", "response.function_call_arguments.done",
		"response.completed"} {
		if !strings.Contains(string(r.body), "event: "+event+"\n") {
			t.Errorf("no %s: %s", event, r.body)
		}
	}
	call := got.Output[0]
	again, _ := json.Marshal(map[string]any{"model": "dice", "previous_response_id": got.ID, "input": []any{
		map[string]any{"type": "function_call_output", "call_id": call.CallID, "output": "sunny"}}})
	if r := h.post(t, "/v1/responses", string(again)); r.StatusCode != 200 && r.StatusCode != 422 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}

	stub := watch(t, nil, llmtest.With(llmtest.Status(500)))
	h.file(t, "down", stubbed(stub.URL))
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	defer stub.stop()()
	for path, end := range map[string]string{"/v1/responses": "event: response.failed\n",
		"/v1/messages": "event: error\n"} {
		body := `{"model": "down", "input": "hi", "stream": true, "synod": {"deadline": "400ms"}}`
		if path == "/v1/messages" {
			body = strings.Replace(body, `"input": "hi"`, `"max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]`, 1)
		}
		r := h.post(t, path, body)
		if text := string(r.body); r.StatusCode != http.StatusOK || strings.Count(text, end) != 1 ||
			!strings.HasSuffix(strings.TrimSpace(text[:strings.LastIndex(text, "event:")]), "calls") &&
				strings.Contains(text, "completed") {
			t.Errorf("%s: %d %s", path, r.StatusCode, text)
		}
	}
}

// Anthropic's client sends messages, streams them, and calls tools.
func TestAnthropic(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL), "dice": dice})
	_, client := clients(h)
	ask := anthropic.MessageNewParams{Model: "seven", MaxTokens: 100, System: []anthropic.TextBlockParam{{Text: "Be " +
		"brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(sum))}}
	got, err := client.Messages.New(t.Context(), ask)
	if err != nil || got.Content[0].Text != "42" || got.StopReason != "end_turn" || got.Usage.InputTokens == 0 {
		t.Fatalf("%v %+v", err, got)
	}
	stream, whole := client.Messages.NewStreaming(t.Context(), ask), anthropic.Message{}
	var kinds []string
	for stream.Next() {
		kinds = append(kinds, stream.Current().Type)
		if err := whole.Accumulate(stream.Current()); err != nil {
			t.Error(err)
		}
	}
	want := "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"
	if stream.Err() != nil || strings.Join(kinds, " ") != want || whole.Content[0].Text != "42" ||
		whole.StopReason != "end_turn" || whole.Usage.OutputTokens == 0 {
		t.Errorf("%v %v %+v", stream.Err(), kinds, whole)
	}
	tools := anthropic.MessageNewParams{Model: "dice", MaxTokens: 100, ToolChoice: anthropic.ToolChoiceUnionParam{
		OfAny: &anthropic.ToolChoiceAnyParam{}}, Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "weather", InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{
			"city": map[string]any{"type": "string", "enum": []string{"Paris", "Rome"}}},
			Required: []string{"city"}}}}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("The weather in Paris?"))}}
	got, err = client.Messages.New(t.Context(), tools, anthropicoption.WithJSONSet("synod",
		map[string]any{"on_no_consensus": "best-effort"}))
	if err != nil || got.StopReason != "tool_use" || got.Content[0].Type != "tool_use" ||
		got.Content[0].Name != "weather" {
		t.Fatalf("%v %+v", err, got)
	}
	tools.Messages = append(tools.Messages, got.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock(got.Content[0].ID, "sunny", false)))
	tools.ToolChoice = anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
	_, err = client.Messages.New(t.Context(), tools)
	var bad *anthropic.Error
	if err != nil && (!errors.As(err, &bad) || bad.StatusCode != 422) {
		t.Error(err)
	}
	_, err = client.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "absent", MaxTokens: 1,
		Messages: ask.Messages})
	if !errors.As(err, &bad) || bad.StatusCode != 404 || bad.RequestID == "" {
		t.Errorf("%v", err)
	}
}

// The makers' clients put together streams of one model whose server has another API, as they come.
func TestOpenAIAndAnthropicHearSolo(t *testing.T) {
	up := newUpstream(t)
	up.chunk = func(w io.Writer, flush func()) {
		for _, piece := range []string{delta("I lo", ""), delta("ok.", ""), callOf("0", "c1", "f", `{"a":`),
			callOf("0", "", "", `1}`), callOf("1", "c2", "f", ""), chunkOf("{}", "tool_calls"), usageChunk, endOfStream} {
			io.WriteString(w, piece)
			flush()
		}
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	one, two := clients(h)
	look := anthropic.MessageNewParams{Model: "solo:stub", MaxTokens: 50, Messages: []anthropic.MessageParam{
		anthropic.NewUserMessage(anthropic.NewTextBlock("Look."))}}
	stream, whole := two.Messages.NewStreaming(t.Context(), look), anthropic.Message{}
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			t.Error(err)
		}
	}
	if stream.Err() != nil || len(whole.Content) != 3 || whole.Content[0].Text != "I look." ||
		string(whole.Content[1].Input) != `{"a":1}` || string(whole.Content[2].Input) != "{}" ||
		whole.StopReason != "tool_use" || whole.Usage.InputTokens != 7 || whole.Usage.OutputTokens != 3 {
		t.Errorf("%v %+v", stream.Err(), whole)
	}
	ask := openairesponses.ResponseNewParams{Model: "solo:stub", Input: openairesponses.ResponseNewParamsInputUnion{
		OfString: openai.String("Look.")}}
	events, text := one.Responses.NewStreaming(t.Context(), ask), ""
	var last openairesponses.Response
	for events.Next() {
		e := events.Current()
		if e.Type == "response.output_text.delta" {
			text += e.Delta
		}
		last = e.Response
	}
	if events.Err() != nil || text != "I look." || last.OutputText() != text || len(last.Output) != 3 ||
		last.Output[1].Arguments.OfString != `{"a":1}` || last.Usage.TotalTokens != 10 {
		t.Errorf("%v %q %+v", events.Err(), text, last)
	}
	up.chunk = func(w io.Writer, _ func()) { io.WriteString(w, delta("I lo", "")) }
	stream = two.Messages.NewStreaming(t.Context(), look)
	for stream.Next() {
	}
	if stream.Err() == nil || !strings.Contains(stream.Err().Error(), "upstream_cut") {
		t.Errorf("a stream that was cut: %v", stream.Err())
	}
}
