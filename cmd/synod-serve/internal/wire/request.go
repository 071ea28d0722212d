package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
)

// Request is a request of any of the APIs.
type Request struct {
	Model     string
	Turns     []synod.Turn
	Schema    json.RawMessage // the answer is a JSON value that follows it; nil: the client did not ask for one
	Tools     []synod.Tool
	Choice    Choice // which tools may be called
	Stream    bool
	Usage     bool           // of a stream: the client wants a chunk with the usage
	Sampling  map[string]any // temperature and top_p, where the client sets them
	Stop      []string
	MaxTokens int // of the final answer; 0: no limit
	Seed      *uint64
	N         int
	Synod     Options
	Ignored   []string // keys that have no effect, which the response names
	Store     bool     // the response is kept for previous_response_id
	Previous  string   // the response that this conversation goes on from
	Prefill   string   // how the reply begins, as the client says; Turns then end with a request to go on
	Body      []byte   // as it came
	Caller    string   // the id of the key; "": none
}

// Choice is which tools may be called.
type Choice string

// The choices. Any other is the name of the only tool that may be called.
const (
	ChoiceAuto     Choice = ""         // one of them, or none
	ChoiceRequired Choice = "required" // one of them
	ChoiceNone     Choice = "none"
)

// Options are what a client may say about the council beside the standard keys.
type Options struct {
	Form          string          `json:"form"`
	OnNoConsensus string          `json:"on_no_consensus"` // error | refuse | best-effort
	Progress      bool            `json:"progress"`        // chunks with the progress in a stream
	DropParams    *bool           `json:"drop_params"`     // ignore keys that cannot be honoured, and say which
	Deadline      Duration        `json:"deadline"`
	Budget        Budget          `json:"budget"`
	Protocol      json.RawMessage `json:"protocol"` // a name, or an object as in a council file; see Params
	Certificate   bool            `json:"certificate"`
	Checks        []synod.Check   `json:"checks"`   // without commands, which only a council file may have
	AtLeast       *float64        `json:"at_least"` // a less probable answer is no decision; nil: the request does not say
}

// Params returns the protocol as the parameters of a council file; nil if the request names none.
func (o *Options) Params() (map[string]any, *Error) {
	if len(o.Protocol) == 0 || string(o.Protocol) == "null" {
		return nil, nil
	}
	var name string
	if json.Unmarshal(o.Protocol, &name) == nil {
		return map[string]any{"name": name}, nil
	}
	var params map[string]any
	if err := yaml.Unmarshal(o.Protocol, &params); err != nil || params["name"] == nil { // keeps whole numbers whole
		return nil, Invalid("synod.protocol", `synod.protocol must be a name or an object such as {"name": "sac", `+
			`"rounds": 3}`)
	}
	return params, nil
}

// Budget bounds what one request costs. 0 is no bound.
type Budget struct {
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd"`
}

// Duration is written "30s", or as a number of seconds.
type Duration time.Duration

// UnmarshalJSON reads both.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		return nil
	case float64:
		*d = Duration(v * float64(time.Second))
	case string:
		t, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("%q is no duration such as 30s", v)
		}
		*d = Duration(t)
	default:
		return errors.New("it is neither a duration such as 30s nor a number of seconds")
	}
	if *d < 0 {
		return errors.New("it is negative")
	}
	return nil
}

// The ways to answer where the council does not decide.
const (
	Fail       = "error"
	Refuse     = "refuse"
	BestEffort = "best-effort"
)

func (o *Options) check() *Error {
	forms := synod.Forms()
	if slices.ContainsFunc(o.Checks, func(c synod.Check) bool { return len(c.Command) > 0 }) {
		return Invalid("synod.checks", "synod.checks: %v", synod.ErrCommand)
	}
	if err := synod.ValidateChecks(o.Checks); err != nil {
		return Invalid("synod.checks", "synod.checks: %v", err)
	}
	switch {
	case o.Form != "" && !slices.Contains(forms, synod.Form(o.Form)):
		return Invalid("synod.form", "synod.form is %q; it must be one of %v", o.Form, forms)
	case o.OnNoConsensus != "" && !slices.Contains([]string{Fail, Refuse, BestEffort}, o.OnNoConsensus):
		return Invalid("synod.on_no_consensus", "synod.on_no_consensus is %q; it must be %s, %s or %s",
			o.OnNoConsensus, Fail, Refuse, BestEffort)
	case o.AtLeast != nil && !(*o.AtLeast > 0 && *o.AtLeast <= 1):
		return Invalid("synod.at_least", "synod.at_least is %v; it must be above 0 and at most 1 (example: 0.9)",
			*o.AtLeast)
	case o.Budget.Calls < 0 || o.Budget.Tokens < 0 || !(o.Budget.USD >= 0 && o.Budget.USD <= 1e9):
		return Invalid("synod.budget", "synod.budget has a number that is out of range; example: "+
			`{"calls": 100, "tokens": 200000, "usd": 0.5}`)
	}
	return nil
}

// object is a JSON object whose keys are read one by one, so that the rest can be refused.
type object struct {
	keys Members
	path string
	err  *Error
}

// maxDepth bounds how deep a body may be nested.
const maxDepth = 64

// readObject reads the body of a request.
func readObject(body []byte) (*object, *Error) {
	bad := func(format string, args ...any) *Error {
		return &Error{HTTP: 400, Code: "invalid_json", Message: fmt.Sprintf(format, args...)}
	}
	if !utf8.Valid(body) {
		return nil, bad("the body is not UTF-8 text")
	}
	var o object
	var twice string
	var deep bool
	if o.keys, twice, deep = splitTo(body, maxDepth); deep {
		return nil, bad("the body is nested more than %d levels deep", maxDepth)
	}
	if o.keys == nil {
		return nil, bad(`the body is not one JSON object; example: {"model": "synod", "messages": [{"role": "user", ` +
			`"content": "Is 91 prime?"}]}`)
	}
	if twice != "" {
		return nil, bad("the key %q is there twice", printed(twice))
	}
	return &o, o.clear()
}

// take reads a key, if it is there and not null, and reports whether it was.
func (o *object) take(key string, into any) bool {
	raw, there := o.keys[key]
	delete(o.keys, key)
	if !there || o.err != nil || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		o.err = Invalid(o.path+key, "%s cannot be read: %s", o.path+key, plain(err))
		return false
	}
	return true
}

// plain says what is wrong without names of Go.
func plain(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind := map[string]string{"int": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number",
			"string": "a text", "bool": "true or false"}[t.Type.String()]
		if kind == "" {
			kind = "an object or list as in the API's reference"
		}
		where := ""
		if t.Field != "" {
			where = t.Field + ": "
		}
		return where + "it is a JSON " + t.Value + " and must be " + kind
	}
	return err.Error()
}

// options reads the key synod strictly.
func (o *object) options(r *Request) {
	raw, there := o.keys["synod"]
	delete(o.keys, "synod")
	if !there || o.err != nil || string(raw) == "null" {
		return
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.Synod); err != nil {
		o.err = Invalid("synod", "synod cannot be read: %s (known keys: form, on_no_consensus, progress, drop_params, "+
			"deadline, budget, protocol, certificate, checks, at_least)", strings.TrimPrefix(plain(err), "json: "))
		return
	}
	o.err = r.Synod.check()
}

// settle sorts the keys that are left. Those of harmless have no effect on an answer, and those of members
// belong to the members of a council, whose file sets them: both are named in the response. Others are an
// error, unless drop says that they may be ignored.
func (o *object) settle(r *Request, drop bool, harmless, members []string) *Error {
	if o.err != nil {
		return o.err
	}
	left := make([]string, 0, len(o.keys))
	for key, raw := range o.keys {
		if string(raw) != "null" && !slices.Contains(harmless, key) && !saysNothing(key, raw) {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	for _, key := range left {
		if !slices.Contains(members, key) && !drop {
			return &Error{HTTP: 400, Code: "unsupported_parameter", Param: key, Message: fmt.Sprintf(
				"a council cannot honour the key %q; remove it, or send \"synod\": {\"drop_params\": true} to have "+
					"such keys ignored and named in the response", key)}
		}
		r.Ignored = append(r.Ignored, key)
	}
	return nil
}

// saysNothing reports whether the value of a key is its default, which clients send too.
func saysNothing(key string, raw json.RawMessage) bool {
	defaults := map[string]string{"presence_penalty": "0", "frequency_penalty": "0", "repetition_penalty": "1",
		"logit_bias": "{}", "modalities": `["text"]`, "best_of": "1", "top_logprobs": "0", "background": "false",
		"echo": "false"}
	written, err := Rewrite(raw)
	return err == nil && defaults[key] != "" && string(written) == defaults[key]
}

// Drops reports whether keys that cannot be honoured are ignored: by the request, else by the gateway.
func (o Options) Drops(gateway bool) bool {
	if o.DropParams != nil {
		return *o.DropParams
	}
	return gateway
}
