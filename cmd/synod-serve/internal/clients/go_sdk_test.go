//go:build sdk

package clients

import (
	"errors"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

const (
	question = "What is 17 + 25?"
	weather  = "What is the weather in Paris?"
	sunny    = "It is sunny in Paris."
	split    = "How many people answered differently?"
	red      = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

var city = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
	"required": []string{"city"}}

// TestGoSDKs plays the makers' clients for Go. With -record their requests are kept for TestRecorded.
func TestGoSDKs(t *testing.T) {
	url, _ := house(t)
	var tape *tape
	if *record {
		tape = newTape(t, url)
		url = tape.URL
	}
	one := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("any"))
	two := anthropic.NewClient(anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("any"))
	for _, c := range []struct {
		file string
		play func(t *testing.T)
	}{
		{"openai_sdk-go", func(t *testing.T) { playChat(t, one); playResponses(t, one) }},
		{"anthropic_sdk-go", func(t *testing.T) { playMessages(t, two) }},
	} {
		t.Run(c.file, c.play)
		if tape != nil {
			tape.save(t, c.file)
		}
	}
}

func playChat(t *testing.T, c openai.Client) {
	ask := func(user string, more func(*openai.ChatCompletionNewParams)) (*openai.ChatCompletion, error) {
		p := openai.ChatCompletionNewParams{Model: "seven", Messages: []openai.ChatCompletionMessageParamUnion{
			openai.UserMessage(user)}}
		if more != nil {
			more(&p)
		}
		return c.Chat.Completions.New(t.Context(), p)
	}
	got, err := ask(question, func(p *openai.ChatCompletionNewParams) { p.Seed = openai.Int(3) })
	if err != nil || got.Choices[0].Message.Content != "42" || got.Usage.TotalTokens == 0 {
		t.Fatalf("%v %+v", err, got)
	}
	stream := c.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{Model: "seven",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}})
	sum := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		sum.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil || sum.Choices[0].Message.Content != "42" || sum.Usage.TotalTokens == 0 {
		t.Errorf("%v %+v", err, sum)
	}
	got, err = ask(question, func(p *openai.ChatCompletionNewParams) {
		p.ResponseFormat.OfJSONSchema = &openai.ResponseFormatJSONSchemaParam{JSONSchema: openai.
			ResponseFormatJSONSchemaJSONSchemaParam{Name: "Sum", Schema: map[string]any{"type": "object",
			"properties": map[string]any{"sum": map[string]any{"type": "integer"}}, "required": []string{"sum"}}}}
	})
	if err != nil || strings.ReplaceAll(got.Choices[0].Message.Content, " ", "") != `{"sum":42}` {
		t.Errorf("structured output: %v %+v", err, got)
	}
	tools := []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "weather", Parameters: city})}
	got, err = ask(weather, func(p *openai.ChatCompletionNewParams) { p.Tools = tools })
	if err != nil || len(got.Choices[0].Message.ToolCalls) != 1 {
		t.Fatalf("a call: %v %+v", err, got)
	}
	call := got.Choices[0].Message
	got, err = ask(weather, func(p *openai.ChatCompletionNewParams) {
		p.Tools = tools
		p.Messages = append(p.Messages, call.ToParam(), openai.ToolMessage("sunny", call.ToolCalls[0].ID))
	})
	if err != nil || got.Choices[0].Message.Content != sunny {
		t.Errorf("a result: %v %+v", err, got)
	}
	got, err = ask("", func(p *openai.ChatCompletionNewParams) {
		p.Messages[0] = openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(
			"What colour is it?"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
			URL: "data:image/png;base64," + red})})
	})
	if err != nil || got.Choices[0].Message.Content != "red" {
		t.Errorf("an image: %v %+v", err, got)
	}
	if list, err := c.Models.List(t.Context()); err != nil || len(list.Data) == 0 {
		t.Errorf("models: %v %+v", err, list)
	}
	var bad *openai.Error
	_, err = ask(question, func(p *openai.ChatCompletionNewParams) { p.Model = "absent" })
	if !errors.As(err, &bad) || bad.StatusCode != 404 || bad.Code != "model_not_found" {
		t.Errorf("an absent model: %v", err)
	}
	_, err = ask(question, func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) })
	if !errors.As(err, &bad) || bad.StatusCode != 400 || bad.Param != "n" {
		t.Errorf("two choices: %v", err)
	}
	if _, err = ask(split, nil); !errors.As(err, &bad) || bad.StatusCode != 422 || bad.Code != "no_consensus" {
		t.Errorf("no consensus: %v", err)
	}
}

func playResponses(t *testing.T, c openai.Client) {
	ask := func(text string) responses.ResponseNewParams {
		return responses.ResponseNewParams{Model: "seven", Input: responses.ResponseNewParamsInputUnion{
			OfString: openai.String(text)}}
	}
	first, err := c.Responses.New(t.Context(), ask(question))
	if err != nil || first.OutputText() != "42" || first.Usage.TotalTokens == 0 {
		t.Fatalf("%v %+v", err, first)
	}
	next := ask("And what is 18 + 25?")
	next.PreviousResponseID = openai.String(first.ID)
	if got, err := c.Responses.New(t.Context(), next); err != nil || got.OutputText() != "43" {
		t.Errorf("continued: %v %+v", err, got)
	}
	if got, err := c.Responses.Get(t.Context(), first.ID, responses.ResponseGetParams{}); err != nil ||
		got.OutputText() != "42" {
		t.Errorf("read again: %v %+v", err, got)
	}
	text := ""
	stream := c.Responses.NewStreaming(t.Context(), ask(question))
	for stream.Next() {
		if e := stream.Current(); e.Type == "response.output_text.delta" {
			text += e.Delta
		}
	}
	if stream.Err() != nil || text != "42" {
		t.Errorf("%v %q", stream.Err(), text)
	}
	tools := ask(weather)
	tools.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "weather",
		Parameters: city}}}
	got, err := c.Responses.New(t.Context(), tools)
	if err != nil || got.Output[0].Type != "function_call" {
		t.Fatalf("a call: %v %+v", err, got)
	}
	tools.PreviousResponseID = openai.String(got.ID)
	result := responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(got.Output[0].CallID)}
	result.Output.OfString = openai.String("sunny")
	tools.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: []responses.ResponseInputItemUnionParam{
		{OfFunctionCallOutput: &result}}}
	if got, err = c.Responses.New(t.Context(), tools); err != nil || got.OutputText() != sunny {
		t.Errorf("a result: %v %+v", err, got)
	}
	if err := c.Responses.Delete(t.Context(), first.ID); err != nil {
		t.Errorf("deleted: %v", err)
	}
}

func playMessages(t *testing.T, c anthropic.Client) {
	ask := func(user ...anthropic.ContentBlockParamUnion) anthropic.MessageNewParams {
		return anthropic.MessageNewParams{Model: "seven", MaxTokens: 100, Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(user...)}}
	}
	p := ask(anthropic.NewTextBlock(question))
	p.System = []anthropic.TextBlockParam{{Text: "Be brief."}}
	got, err := c.Messages.New(t.Context(), p)
	if err != nil || got.Content[0].Text != "42" || got.StopReason != "end_turn" {
		t.Fatalf("%v %+v", err, got)
	}
	tools := ask(anthropic.NewTextBlock(weather))
	tools.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "weather",
		InputSchema: anthropic.ToolInputSchemaParam{Properties: city["properties"], Required: []string{"city"}}}}}
	for _, p := range []anthropic.MessageNewParams{p, tools} {
		stream, whole := c.Messages.NewStreaming(t.Context(), p), anthropic.Message{}
		for stream.Next() {
			if err := whole.Accumulate(stream.Current()); err != nil {
				t.Error(err)
			}
		}
		if stream.Err() != nil || whole.Usage.OutputTokens == 0 || len(whole.Content) == 0 {
			t.Errorf("%v %+v", stream.Err(), whole)
		}
	}
	got, err = c.Messages.New(t.Context(), tools)
	if err != nil || got.StopReason != "tool_use" {
		t.Fatalf("a call: %v %+v", err, got)
	}
	tools.Messages = append(tools.Messages, got.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock(got.Content[0].ID, "sunny", false)))
	if got, err = c.Messages.New(t.Context(), tools); err != nil || got.Content[0].Text != sunny {
		t.Errorf("a result: %v %+v", err, got)
	}
	got, err = c.Messages.New(t.Context(), ask(anthropic.NewImageBlockBase64("image/png", red),
		anthropic.NewTextBlock("What colour is it?")))
	if err != nil || got.Content[0].Text != "red" {
		t.Errorf("an image: %v %+v", err, got)
	}
	if n, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "seven",
		Messages: p.Messages}); err != nil || n.InputTokens == 0 {
		t.Errorf("count: %v %+v", err, n)
	}
	var bad *anthropic.Error
	absent := p
	absent.Model = "absent"
	if _, err = c.Messages.New(t.Context(), absent); !errors.As(err, &bad) || bad.StatusCode != 404 {
		t.Errorf("an absent model: %v", err)
	}
	if _, err = c.Messages.New(t.Context(), ask(anthropic.NewTextBlock(split))); !errors.As(err, &bad) ||
		bad.StatusCode != 422 {
		t.Errorf("no consensus: %v", err)
	}
}
