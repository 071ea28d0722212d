package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// Answer is a reply in no particular API's shape.
type Answer struct {
	ID          string
	Created     time.Time
	Model       string
	Fingerprint string
	Choices     []Choice // the first is the decision
	Refusal     string   // in place of a text, where the council did not decide and the client wants that
	Usage       Usage
	Cost        *llm.Cost // nil: not known
	Synod       *Report
	told        []*block // the parts that a stream has told; nil: those of the choice
}

// Choice is an answer: a text, or calls of tools. A council decides one call; one model may make several, and say
// something beside them.
type Choice struct {
	Text   string
	Calls  []synod.Call // none: Text is the answer
	Finish string       // why the server of one model says that it ended; "": the request's limits decide
	Stop   string       // the stop sequence that ended it, where the server says which; "": none
}

// Usage counts the tokens of all calls.
type Usage struct{ Prompt, Completion int }

// Report is the object synod of a response.
type Report struct {
	Version  int            `json:"version"`
	Status   string         `json:"status"` // agreed, degraded or undecided
	Reason   string         `json:"reason"`
	Summary  string         `json:"summary"` // by how many of how many, in plain words
	Council  string         `json:"council"`
	Protocol string         `json:"protocol"`
	Form     synod.Form     `json:"form"`
	Answer   *synod.Answer  `json:"answer"` // canonical
	Text     string         `json:"text"`   // the answer as it is shown
	Rule     plan.Rule      `json:"rule"`
	Votes    []outcome.Vote `json:"votes"`
	Bound    plan.Bound     `json:"bound"`
	Voices   int            `json:"voices"` // models that gave the decision before they heard others
	// Value and Fields are the decision of the forms json and action; Value is also that of a form that was guessed,
	// beside the words of a member, which are the text of the response. Claims are those of prose.
	Value      json.RawMessage    `json:"value,omitempty"`
	Fields     []structured.Field `json:"fields,omitempty"`
	Words      *outcome.Words     `json:"words,omitempty"`
	Claims     []outcome.Claim    `json:"claims,omitempty"`
	Withstands *robust.Withstood  `json:"withstands"` // null: see Fragile
	Fragile    string             `json:"withstands_null,omitempty"`
	Asked      []string           `json:"asked,omitempty"` // seats in the order in which stages asked them
	// Checks are those of the council file and of the request, in code, and whether the answer passes them.
	Checks []outcome.Checked `json:"checks,omitempty"`
	// Probability is how likely the answer is right, by graded questions; null: nothing is known of that.
	Probability *protocol.Probability `json:"probability"`

	Evidence []outcome.Accusation `json:"evidence"`
	Members  []outcome.Member     `json:"members"`
	Dissent  []outcome.Vote       `json:"dissent"` // the answers that are not the decision
	Late     []string             `json:"late"`
	Calls    outcome.Calls        `json:"calls"`
	Tokens   outcome.Tokens       `json:"tokens"`
	Cost     *llm.Cost            `json:"cost"`
	Money    llm.Money            `json:"money"`
	// Reference is what the question would have cost the model that the council file names; absent: it names none.
	Reference *outcome.Reference `json:"reference,omitempty"`
	Seconds   float64            `json:"seconds"`
	Stopped   string             `json:"stopped"`
	Journal   string             `json:"journal"` // id; "": none was kept
	Seed      uint64             `json:"seed"`
	Ignored   []string           `json:"ignored"` // keys of the request that had no effect
	Joined    bool               `json:"joined"`  // the answer to an identical request that was in flight

	// Certificate is the file that synod verify reads, where the request wants it and there is a decision.
	Certificate string `json:"certificate,omitempty"`
	Uncertified string `json:"certificate_null,omitempty"` // why there is none
}

// report returns the object synod of an outcome.
func report(o *outcome.Outcome, ignored []string) *Report {
	r := &Report{Version: outcome.Version, Status: o.Status, Reason: o.Reason,
		Summary: o.Summary(), Council: o.Council,
		Protocol: o.Protocol, Form: o.Form, Answer: o.Answer, Text: o.Text, Rule: o.Rule, Votes: o.Votes,
		Bound: o.Bound, Voices: o.Voices, Members: o.Members, Dissent: []outcome.Vote{}, Late: o.Late, Calls: o.Calls,
		Tokens: o.Tokens, Cost: o.Cost,
		Money: o.Money, Reference: o.Reference,
		Seconds: o.Seconds, Stopped: o.Stopped, Journal: journalID(o.Journal), Seed: o.Seed,
		Ignored: append([]string{}, ignored...), Value: o.Value, Words: o.Words, Fields: o.Fields, Claims: o.Claims,
		Withstands: o.Withstands, Fragile: o.Fragile, Asked: o.Asked, Probability: o.Probability, Checks: o.Checks,
		Evidence: o.Evidence}
	if r.Words != nil && o.Answer != nil {
		r.Value = value(o)
	}
	for _, v := range o.Votes {
		if o.Answer == nil || v.Answer != *o.Answer {
			r.Dissent = append(r.Dissent, v)
		}
	}
	return r
}

// value is the decision of a short form as JSON: a number, true or false, or the text as a member spelled it.
func value(o *outcome.Outcome) json.RawMessage {
	a := string(*o.Answer)
	if (o.Form == synod.Number || o.Form == synod.Bool) && json.Valid([]byte(a)) {
		return json.RawMessage(a)
	}
	b, err := json.Marshal(o.Text)
	if err != nil {
		return nil
	}
	return b
}

// journalID is the name of a journal, without the folders of this machine.
func journalID(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), ".jsonl")
}

// choices returns the decision, or the leading answer where there is none, and after it the other answers of
// members, the most common first.
func choices(o *outcome.Outcome, id string, n int) (all []Choice) {
	add := func(a synod.Answer, shown string) {
		if len(all) >= n {
			return
		}
		if o.Answer != nil && a == *o.Answer && o.Words != nil {
			all = append(all, Choice{Text: o.Words.Text})
			return
		}
		if o.Form != synod.Action {
			all = append(all, Choice{Text: shown})
			return
		}
		call, text := called(a)
		c := Choice{Text: text}
		if call != nil {
			call.ID = fmt.Sprintf("call_%s_%d", strings.TrimPrefix(id, "req-"), len(all))
			c.Calls = []synod.Call{*call}
		}
		all = append(all, c)
	}
	if o.Answer != nil {
		add(*o.Answer, o.Text)
	}
	for _, v := range o.Votes {
		if o.Answer == nil || v.Answer != *o.Answer {
			add(v.Answer, v.Text)
		}
	}
	return all
}

// failure returns the error of an outcome that is no decision. drained: the key that asks had nothing left.
func failure(o *outcome.Outcome, r *Report, drained bool) *wire.Error {
	e := &wire.Error{HTTP: 422, Code: "no_consensus", Final: true, Synod: r, Message: o.Problem()}
	switch {
	case o.Stopped == outcome.OverBudget: // members of which no call was allowed have not failed
		overLimit(e, o, drained)
	case dead(o):
		*e = wire.Error{HTTP: 503, Code: "all_members_failed", RetryAfter: 30 * time.Second, Synod: r,
			Message: "no member of the council could be reached: " + reasons(o)}
	case o.Stopped == outcome.PastTime:
		e.Code = "deadline_exceeded"
	case o.Stopped == outcome.Unwritten:
		e.HTTP, e.Code, e.Message = 503, "journal_unwritten", "the run was stopped because its journal could not be "+
			"written; the gateway's disk may be full"
	case o.Stopped == outcome.Interrupted:
		e.HTTP, e.Code, e.Message = 503, "shutting_down", "the gateway is shutting down and has stopped the council"
	case o.Status == outcome.Degraded:
		e.Code, e.Type = "degraded", "server_error" // the request is fine: members have failed
		if why := reasons(o); why != "" {
			e.Message += "; " + why
		}
	}
	return e
}

// overLimit makes e the error of a run that a limit has ended, which says which limit and what to do.
func overLimit(e *wire.Error, o *outcome.Outcome, drained bool) {
	e.Code = "budget_exceeded"
	if drained {
		e.Message = "what is left of the key's limit for today does not allow the next call of a member; it begins " +
			"anew at midnight UTC, and the owner of the gateway can raise it"
		return
	}
	var limits []string
	for _, l := range o.Exceeded {
		limits = append(limits, l.String())
		if l.Name == "limits.tokens" && o.Calls.Made == 0 { // not one member can be asked
			e.HTTP, e.Code = http.StatusRequestEntityTooLarge, "question_too_long"
		}
	}
	if len(limits) > 0 {
		e.Message = "a limit of the council does not allow the next call of a member: " + strings.Join(limits, "; ") +
			". Ask a shorter question, or raise the limit: in synod.budget where the request has set it, else in the " +
			"council's file"
	}
	if why := reasons(o); dead(o) && why != "" {
		e.Message += "; members that were asked have failed: " + why
	}
}

// dead reports whether no call of any member has brought a reply.
func dead(o *outcome.Outcome) bool {
	failed := 0
	for i := range o.Members {
		c := &o.Members[i].Calls
		if c.Of(synod.OK)+c.Of(synod.Unreadable)+c.Of(synod.Refused) > 0 {
			return false
		}
		failed += c.Failed()
	}
	return failed > 0
}

// reasons says for each member without an answer what was wrong; members with the same trouble share a line.
func reasons(o *outcome.Outcome) string {
	var order []string
	ids := map[string][]string{}
	for i := range o.Members {
		m := &o.Members[i]
		if m.Final != nil || m.Trouble == "" {
			continue
		}
		why := fmt.Sprintf("(%s): %s", m.Model, m.Trouble)
		if ids[why] == nil {
			order = append(order, why)
		}
		ids[why] = append(ids[why], m.ID)
	}
	for i, why := range order {
		order[i] = strings.Join(ids[why], ", ") + " " + why
	}
	return strings.Join(order, "; ")
}

// The reasons why a text ends.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishTools  = "tool_calls"
	finishFilter = "content_filter"
)

// end returns the text of a choice as the client wants it, why it ends, and the stop sequence that ended it.
func (c Choice) end(r *wire.Request) (text, finish, stop string) {
	text = strings.TrimPrefix(c.Text, r.Prefill)
	switch {
	case len(c.Calls) > 0 && c.Finish != finishLength && c.Finish != finishFilter: // a call that was cut off is none
		return text, finishTools, ""
	case c.Finish != "":
		return text, c.Finish, c.Stop
	}
	return cut(text, r.Stop, r.MaxTokens)
}

// cut applies stop and max_tokens to a final answer.
func cut(text string, stops []string, maxTokens int) (out, finish, stop string) {
	for _, s := range stops {
		if i := strings.Index(text, s); s != "" && i >= 0 {
			text, stop = text[:i], s
		}
	}
	if most := maxTokens * wire.BytesPerToken; maxTokens > 0 && len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		return text[:most], finishLength, ""
	}
	return text, finishStop, stop
}

// block is a part of an answer in the APIs that have parts.
type block struct {
	kind   blockKind
	id     string // of a call
	name   string // of the tool that is called
	text   []byte // the text, or the arguments of the call
	cut    bool   // the answer ended in it, before its end
	opened bool   // of a stream: its beginning was sent
	closed bool   // of a stream: its end was sent
	sent   int    // of a stream: how many bytes of the text were sent
}

type blockKind int

const (
	saidText blockKind = iota
	saidRefusal
	saidCall
)

// sayTool is the tool by which a member answers in words where no tool has to be called.
const sayTool = "answer_in_words"

// called reads a decision of the form action: a call, or a text for the user.
func called(answer synod.Answer) (call *synod.Call, text string) {
	var c synod.Call
	if json.Unmarshal([]byte(answer), &c) != nil || c.Name == "" {
		return nil, string(answer)
	}
	if c.Name == sayTool {
		var said struct {
			Text json.RawMessage `json:"text"`
		}
		if json.Unmarshal(c.Arguments, &said) == nil && len(said.Text) > 0 {
			if json.Unmarshal(said.Text, &text) != nil {
				text = string(said.Text) // a value that follows a schema
			}
			return nil, strings.TrimSpace(text)
		}
	}
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	return &c, ""
}
