package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// read reads the body for a council.
func (g *Gateway) read(j *job, d dialect, body []byte) *wire.Error {
	if e := g.readFor(j, d, body); e != nil {
		return e
	}
	if e := j.vary(); e != nil {
		return e
	}
	j.question.Checks = j.req.Synod.Checks
	if err := plan.Put(j.council().Plan(), &j.question); err != nil {
		return wire.Invalid("synod.checks", "synod.%v", err)
	}
	if err := read.CompileChecks(j.question.Checks); err != nil {
		return wire.Invalid("synod.checks", "synod.checks: %v", err)
	}
	if err := j.council().Plan().Accepts(&j.question); err != nil {
		return wire.Invalid("messages", "the council %s does not take the question: %v", j.served.ID, err)
	}
	return nil
}

// vary opens the council as the request wants it: with its protocol, with its temperature, and for a question that is
// guessed to want prose with a protocol that decides it, as "synod ask" does.
func (j *job) vary() *wire.Error {
	params, e := j.req.Synod.Params()
	if e != nil {
		return e
	}
	v := councils.Variation{Protocol: params, Sampling: j.req.Sampling, AtLeast: j.req.Synod.AtLeast}
	if j.guessed {
		v.Prose = j.suit(params)
	}
	if v.None() {
		return nil
	}
	var err error
	j.own, j.print, err = j.served.With(v)
	if errors.Is(err, councils.ErrNoProse) {
		council.Briefly(&j.question)
		if v.Prose = false; v.None() {
			return nil
		}
		j.own, j.print, err = j.served.With(v)
	}
	if errors.Is(err, councils.ErrSampling) && j.req.Synod.Drops(j.policy.DropParams) {
		j.req.Ignored = append(j.req.Ignored, slices.Sorted(maps.Keys(j.req.Sampling))...)
		j.req.Sampling = nil
		return j.vary()
	}
	return refusal(j, err)
}

// suit fits the guessed form to the council, and reports whether a council that decides prose is to be opened. Members
// in the box and those of nodes are asked for the short answer alone. own is the protocol that the request names, nil
// if it names none: if that cannot decide prose, it is asked for a short answer.
func (j *job) suit(own plan.Params) bool {
	prose := j.question.Form == synod.Prose
	q := j.question
	switch c := j.council(); {
	case inBox(c), j.served.Spec.Runner.Capabilities().Roster:
		council.Briefly(&j.question)
		if prose && !inBox(c) && c.Plan().Accepts(&q) == nil {
			j.question.Form = synod.Prose
		}
	case prose && own != nil:
		if name, _ := own["name"].(string); !plan.DecidesProse(name) {
			council.Briefly(&j.question)
		}
	default:
		return prose
	}
	return false
}

// refusal is the error of a variation that the council does not allow.
func refusal(j *job, err error) *wire.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, councils.ErrSampling):
		key := slices.Sorted(maps.Keys(j.req.Sampling))[0]
		return wire.Unsupported(key, "the members of %s sample as its council file says, and cannot take %s from a "+
			`request; remove it, or send "synod": {"drop_params": true}`, j.served.ID, key)
	case errors.Is(err, councils.ErrAtLeast):
		return wire.Invalid("synod.at_least", "synod.at_least: %v", err)
	case len(j.req.Sampling) > 0 && len(j.req.Synod.Protocol) == 0:
		return wire.Invalid(slices.Sorted(maps.Keys(j.req.Sampling))[0], "a member does not take it: %v", err)
	}
	return wire.Invalid("synod.protocol", "synod.protocol: %v", err)
}

// readFor reads the body and makes the question.
func (g *Gateway) readFor(j *job, d dialect, body []byte) (e *wire.Error) {
	j.req, e = d.read(body, wire.Rules{Drop: j.policy.DropParams, Many: j.policy.N})
	if e != nil {
		return e
	}
	if j.policy.Tools == "reject" && len(j.req.Tools) > 0 && j.served.Council != nil {
		return wire.Unsupported("tools", "the owner of the gateway does not let the council %s call tools", j.served.ID)
	}
	if j.req.Synod.Certificate && (g.o.Owner == nil || j.served.Spec.Runner.Capabilities().Certifies) {
		return wire.Unsupported("synod.certificate", "the gateway signs no certificates for the council %s; the nodes "+
			"of a council of several owners sign them: synod ask --certificate FILE", j.served.ID)
	}
	if j.key != nil {
		j.req.Caller = j.key.ID
	}
	if e := (responses{g}).recall(j.req); e != nil {
		return e
	}
	if j.req.Synod.OnNoConsensus != "" {
		j.policy.OnNoConsensus = j.req.Synod.OnNoConsensus
	}
	form := cmp.Or(synod.Form(j.req.Synod.Form), synod.Form(j.policy.Form), j.served.Spec.Form)
	if form == synod.JSON && len(j.req.Schema) == 0 {
		shape, err := council.ShapeOf(&j.served.Spec, council.Shaped{Form: string(form)})
		if err != nil {
			return wire.Invalid("synod.form", "%v; or send response_format with a schema", err)
		}
		j.req.Schema = shape.Schema
	}
	j.guessed = form == ""
	j.question, e = question(j.req, form)
	return e
}

// inBox reports whether all members are small models in the box, which write no long text that is worth
// reading.
func inBox(c *council.Council) bool {
	return !slices.ContainsFunc(c.Plan().Seats(), func(s plan.Seat) bool { return s.Kind != llm.Embedded })
}

// question makes a question of a request. Its form follows from tools and response_format, else it is the
// form that somebody has set, else it is guessed from the last text of the user and what was said before.
func question(r *wire.Request, form synod.Form) (q synod.Question, e *wire.Error) {
	if err := council.Converse(&q, slices.Clone(r.Turns)); err != nil {
		return q, wire.Invalid("messages", "%v", err)
	}
	switch {
	case len(r.Tools) > 0 && r.Choice != wire.ChoiceNone:
		q.Form = synod.Action
		q.Tools, e = callable(r)
	case len(r.Schema) > 0:
		q.Form, q.Schema = synod.JSON, r.Schema
	case form == synod.JSON || form == synod.Action:
		return q, wire.Invalid("synod.form", "the form %s is taken from response_format or tools", form)
	default:
		given, err := council.ReadQuestion(q.Text, form)
		if err != nil {
			return q, wire.Invalid("messages", "%v", err)
		}
		q.Form, q.Text, q.Options = given.Form, given.Text, given.Options
		if form == "" {
			council.Guess(&q)
		}
	}
	return q, e
}

// sayParameters are the parameters of sayTool: a text, or a value that follows the schema of the request. What the
// schema defines is named from the root, so it stays there.
func sayParameters(schema json.RawMessage) json.RawMessage {
	all := map[string]any{"type": "object", "required": []string{"text"}, "additionalProperties": false}
	text := map[string]any{"type": "string"}
	if len(schema) > 0 && json.Unmarshal(schema, &text) == nil {
		for _, key := range []string{"$defs", "definitions"} {
			if text[key] != nil {
				all[key] = text[key]
				delete(text, key)
			}
		}
	}
	all["properties"] = map[string]any{"text": text}
	b, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return b
}

// callable returns the tools that may be called.
func callable(r *wire.Request) ([]synod.Tool, *wire.Error) {
	tools := slices.Clone(r.Tools)
	switch r.Choice {
	case wire.ChoiceRequired:
	case wire.ChoiceAuto:
		tools = append(tools, synod.Tool{Name: sayTool, Description: "Answers the user in words. Call it when no " +
			"other " +
			"tool is needed, for example because the conversation has what is needed for the answer.",
			Parameters: sayParameters(r.Schema)})
	default:
		tools = slices.DeleteFunc(tools, func(t synod.Tool) bool { return t.Name != string(r.Choice) })
		if len(tools) == 0 {
			return nil, wire.Invalid("tool_choice", "tool_choice names %.60q, and no tool is called that", r.Choice)
		}
	}
	return tools, nil
}
