package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"synod.dev/synod"
)

// form is the way in which a JSON reply is asked for, from the strongest to the
// weakest.
type form int

const (
	formStrict form = iota // json_schema, strict, with the lengths of the schema
	formBare               // the same without lengths, because some servers refuse maxLength in a schema
	formObject             // json_object, the schema in the system message
	formText               // no response_format, the schema in the system message
)

// write appends the response_format to a request's body.
func (f form) write(b *bytes.Buffer, schema json.RawMessage) {
	switch f {
	case formBare:
		schema = withoutBounds(schema)
		fallthrough
	case formStrict:
		b.WriteString(`,"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":`)
		b.WriteString(strconv.FormatBool(strictable(schema)))
		b.WriteString(`,"schema":`)
		b.Write(schema)
		b.WriteString("}}")
	case formObject:
		b.WriteString(`,"response_format":{"type":"json_object"}`)
	}
}

// strictable reports whether servers take a schema as strict: every object has a closed list of members, all
// of them required. The schema of a user's JSON question may be another one, which is then asked for without
// strict, and what members reply is checked in any case.
func strictable(schema json.RawMessage) bool {
	if known, ok := strictSchemas.Load(string(schema)); ok {
		return known.(bool)
	}
	var v any
	strict := json.Unmarshal(schema, &v) != nil || closed(v)
	if len(schema) <= 1<<10 && strictCount.Add(1) <= 256 { // those of users may be long and many
		strictSchemas.Store(string(schema), strict)
	}
	return strict
}

// strictSchemas is whether the first schemas that were asked for are strictable: the same few are sent with every call.
var (
	strictSchemas sync.Map
	strictCount   atomic.Int32
)

// closed reports whether all objects in a schema have a closed list of required members.
func closed(v any) bool {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	case map[string]any:
		if v["type"] == "object" {
			properties, _ := v["properties"].(map[string]any)
			required, _ := v["required"].([]any)
			if v["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		for _, x := range v {
			if !closed(x) {
				return false
			}
		}
	}
	return true
}

// dialect is what a server refuses. It only grows, and it is remembered once a
// request without the refused fields has been accepted.
type dialect struct {
	form             form
	noTemperature    bool
	noTopP           bool
	noSeed           bool
	noLogprobs       bool
	noThinking       bool
	completionTokens bool // max_completion_tokens in place of max_tokens
}

// encoder encodes requests in a dialect.
type encoder struct {
	dialect
	preamble  []byte                   // with which every body begins
	preambles map[synod.Purpose][]byte // of prompts with another temperature
}

func (m *OpenAI) encoder(d dialect) (*encoder, error) {
	preamble, err := d.preamble(m.cfg)
	enc := &encoder{dialect: d, preamble: preamble}
	for purpose, temperature := range m.cfg.Temperatures {
		c := m.cfg
		c.Temperature = &temperature
		of, failed := d.preamble(c)
		if enc.preambles == nil {
			enc.preambles = map[synod.Purpose][]byte{}
		}
		enc.preambles[purpose], err = of, errors.Join(err, failed)
	}
	return enc, err
}

// optional are the fields of a request that can be left out.
type optional struct{ schema, temperature, topP, seed, logprobs, maxTokens, thinking bool }

// sent returns which optional fields a request had.
func (m *OpenAI) sent(d dialect, c seededChat) optional {
	return optional{
		schema:      c.Schema != nil && d.form < formText,
		temperature: (m.cfg.Temperature != nil || m.cfg.Temperatures != nil) && !d.noTemperature,
		topP:        m.cfg.TopP != nil && !d.noTopP,
		seed:        c.seed != nil && !d.noSeed,
		logprobs:    m.cfg.Logprobs && !d.noLogprobs,
		maxTokens:   m.cfg.MaxTokens > 0 && !d.completionTokens,
	}
}

// after reads the body of a 400 or 422 and returns the dialect to try next, if the
// error names something that can be left out. Each step removes one thing, so it
// ends.
func (d dialect) after(body []byte, s optional) (dialect, bool) {
	text := strings.ToLower(string(body))
	if c := parseError(body); c.message+c.param != "" { // not the whole body: some servers echo the request
		text = strings.ToLower(c.param + " " + c.code + " " + c.message)
	}
	return d.without(text, s)
}

// without returns the dialect without what an error's text in lower case names, and false
// if it names nothing that was sent.
func (d dialect) without(text string, s optional) (dialect, bool) {
	names := func(terms ...string) bool {
		for _, t := range terms {
			if strings.Contains(text, t) {
				return true
			}
		}
		return false
	}
	switch {
	case s.maxTokens && names("max_completion_tokens"):
		d.completionTokens = true
	case s.logprobs && names("logprob"):
		d.noLogprobs = true
	case s.thinking && names("thinking"):
		d.noThinking = true
	case s.topP && names("top_p", "topp"):
		d.noTopP = true
	case s.temperature && names("temperature"):
		d.noTemperature = true
	case s.schema && names("response_format", "schema", "json_object", "json mode",
		"structured output", "output_config", "output_format", "responsemimetype", "grammar", "guided"):
		d.form = d.form.weaker(names("maxlength", "not permitted", "invalid schema", "keyword"))
	case s.seed && names("seed"):
		d.noSeed = true
	default:
		return d, false
	}
	return d, true
}

// weaker returns the next form to try. Leaving out lengths is tried only if the
// error is about the content of the schema.
func (f form) weaker(inSchema bool) form {
	if f == formStrict && !inSchema {
		return formObject
	}
	return f + 1
}

// withoutBounds removes maxLength from a schema and keeps the order of fields.
func withoutBounds(s json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	for len(s) > 0 {
		i := bytes.Index(s, []byte(`"maxLength":`))
		if i < 0 {
			break
		}
		end := i + len(`"maxLength":`)
		from := end
		for end < len(s) && (s[end] == ' ' || s[end] >= '0' && s[end] <= '9') {
			end++
		}
		if len(bytes.TrimSpace(s[from:end])) == 0 { // a member called maxLength
			out.Write(s[:end])
			s = s[end:]
			continue
		}
		before := bytes.TrimRight(s[:i], " ")
		if n := len(before); n > 0 && before[n-1] == ',' {
			before = before[:n-1]
		} else if end < len(s) && s[end] == ',' {
			end++
		}
		out.Write(before)
		s = s[end:]
	}
	out.Write(s)
	return out.Bytes()
}

// Adapted returns what the server refused and what is sent instead, for people.
func (m *OpenAI) Adapted() []string { return m.known.Load().adapted() }

func (d dialect) adapted() []string {
	var all []string
	for _, x := range []struct {
		is   bool
		text string
	}{
		{d.form == formBare, "structured output without lengths in the schema"},
		{d.form == formObject, "JSON mode in place of structured output"},
		{d.form == formText, "the JSON schema in the prompt in place of structured output"},
		{d.noTemperature, "no temperature"},
		{d.noTopP, "no top_p"},
		{d.noSeed, "no seed"},
		{d.noThinking, "no setting for thinking"},
		{d.noLogprobs, "no token log-probabilities"},
		{d.completionTokens, "max_completion_tokens in place of max_tokens"},
	} {
		if x.is {
			all = append(all, x.text)
		}
	}
	return all
}
