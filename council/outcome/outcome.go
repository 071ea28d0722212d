package outcome

import (
	"encoding/json"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
)

// Accusation is evidence that a member signed two values for one slot. Its signatures were
// checked: a Byzantine member cannot accuse an honest one.
type Accusation struct {
	ID     string    `json:"id"`     // the member that equivocated
	By     []string  `json:"by"`     // members whose records hold the evidence
	Values [2]string `json:"values"` // SHA-256 of the two values

	proof broadcast.Evidence
}

// Exceeded is a limit of a council that did not allow a call.
type Exceeded struct {
	Name  string // of the setting, such as limits.tokens
	Is    string // the limit that held
	Needs string // what was used until then, and what the refused call may have made of it
}

// String says it in a line.
func (e Exceeded) String() string { return fmt.Sprintf("%s is %s; %s", e.Name, e.Is, e.Needs) }

// Answered reports whether the outcome is a decision: the council agreed, or a limit, the
// deadline or a breaker ended the run after the rule was met.
func (o *Outcome) Answered() bool { return o.Decision != synod.None }

// ModelResult is what a model did in a run, in all seats that it has.
type ModelResult struct {
	Model  string   `json:"model"` // its name in the council
	Kind   llm.Kind `json:"kind"`
	Served string   `json:"served,omitempty"` // of an endpoint: its name at the server
	// Reported are the models that the server's replies named, sorted, at most eight; empty if none did.
	Reported []string  `json:"reported,omitempty"`
	Seats    []string  `json:"seats"`
	Calls    int       `json:"calls"` // requests that left, retries included
	Tokens   Tokens    `json:"tokens"`
	Cost     *llm.Cost `json:"cost"` // null: its price or its tokens are not known

	// Latency is null where no call was timed: simulated and recorded models, and replies
	// from a cache.
	Latency    *metrics.Latency `json:"latency"`
	Unreadable int              `json:"unreadable"` // replies that could not be read
	Failed     int              `json:"failed"`     // calls that brought no reply; without dropped ones
	Agree      int              `json:"agree"`      // seats that end on the decision
	Of         int              `json:"of"`         // seats that could have

	Server string `json:"-"` // its host and port; "" if it has none
}

// Name returns the model's name in the council and, where its server's replies named another
// model than the one it was asked for, those names.
func (r *ModelResult) Name() string { return llm.ReportedName(r.Model, r.Served, r.Reported) }

// Reference is what a question would have cost one model alone.
type Reference struct {
	Model string   `json:"model"`
	USD   *float64 `json:"usd"` // null: not known
	// Measured says that USD is by the tokens of its own replies to this question; else it is the mean that the council
	// file has.
	Measured bool `json:"measured"`
	// Saved is USD without the cost of the council: below 0, the council cost more; null: not known.
	Saved *float64 `json:"saved"`
}

// String says it in a line.
func (r *Reference) String() string {
	if r.USD == nil {
		return fmt.Sprintf("%s alone: what that costs is not known", r.Model)
	}
	how := "in the mean"
	if r.Measured {
		how = "by its own tokens"
	}
	text := fmt.Sprintf("%s alone: %.6f USD %s", r.Model, *r.USD, how)
	switch {
	case r.Saved == nil:
	case *r.Saved < 0:
		text += fmt.Sprintf(", %.6f less than the council", -*r.Saved)
	default:
		text += fmt.Sprintf(", so %.6f saved", *r.Saved)
	}
	return text
}

// Version is the version of the JSON shape of Outcome.
const Version = 1

// Outcome is what a council made of a question, in the shape that programs print as JSON.
type Outcome struct {
	Version  int           `json:"version"`
	Question string        `json:"question"`
	Form     synod.Form    `json:"form"`
	Status   string        `json:"status"` // agreed | degraded | undecided
	Reason   string        `json:"reason"`
	Answer   *synod.Answer `json:"answer"` // canonical; null unless agreed
	// Answer as it is printed: as most of those who agree wrote it; "": no answer
	Text     string     `json:"text"`
	Council  string     `json:"council"`
	Protocol string     `json:"protocol"`
	Exact    string     `json:"exact"`
	Rule     plan.Rule  `json:"rule"`
	Defences []string   `json:"defences"` // the names of those that the council has
	Votes    []Vote     `json:"votes"`
	Joined   []Joined   `json:"joined,omitempty"` // answers that members call the same, with same: members
	Bound    plan.Bound `json:"bound"`
	// Words is the text of a member that gave the answer before it heard others, where the form of the question was
	// guessed; null: there is none. The answer is the council's, these words are one member's, and nobody checked them.
	// Where the members do not agree, they are those of a member that gave the leading answer, and no decision.
	Words *Words `json:"words,omitempty"`
	// Value is the decided JSON value or call of the forms json and action.
	Value  json.RawMessage    `json:"value,omitempty"`
	Fields []structured.Field `json:"fields,omitempty"` // of a JSON value that is merged, undecided ones too
	// Composed is true if no member gave the whole value, and false if one did; null without a merged value.
	Composed *bool `json:"composed,omitempty"`
	// Voices is how many voices gave the decision before they heard others: see Spec.Voices.
	Voices int `json:"voices"`
	// Withstands is how many voices the decision does not depend on; null without a decision, and where
	// it is not a count of independent answers. Fragile says why it is null.
	Withstands *robust.Withstood `json:"withstands"`
	Fragile    string            `json:"withstands_null,omitempty"`
	// Checks are those of the question, in code.
	Checks []Checked `json:"checks,omitempty"`
	// Probability is how likely the decision is right, by graded questions, or the leading answer where it was too
	// little for a decision; null: nothing is known of that.
	Probability *protocol.Probability `json:"probability"`
	Late        []string              `json:"late"`            // ids of seats that patience cut off
	Asked       []string              `json:"asked,omitempty"` // seats in the order in which a protocol in stages asked them
	Members     []Member              `json:"members"`
	Evidence    []Accusation          `json:"evidence"`         // that members equivocated; [] if there is none
	Models      []ModelResult         `json:"models"`           // the members of each model together
	Claims      []Claim               `json:"claims,omitempty"` // of the answer, as the members judged them
	Rounds      Rounds                `json:"rounds"`
	Calls       Calls                 `json:"calls"`
	Rereads     int                   `json:"rereads"` // unreadable replies that were followed by a second request
	Tokens      Tokens                `json:"tokens"`
	Cost        *llm.Cost             `json:"cost"` // null: not all prices are known
	Money       llm.Money             `json:"money"`
	// Reference compares Cost with that of the model that the council file names; nil: it names none.
	Reference *Reference `json:"reference,omitempty"`
	// Charged is what the limits of the question have counted: also what replies without a usage, and calls that were
	// cut off, can have cost. Zero for a council of nodes, and where nothing was limited.
	Charged llm.Spent  `json:"-"`
	Seconds float64    `json:"seconds"`
	Ticks   synod.Tick `json:"ticks"` // virtual time in milliseconds; by the clock with runner: {name: clock}
	// Stopped is why the run ended: rounds, early, stalled, budget, deadline, interrupted, breaker,
	// unwritten or preflight.
	Stopped string `json:"stopped"`
	Trip    *Trip  `json:"trip"`    // the breaker that stopped the run; null if none did
	Journal string `json:"journal"` // path; "" if none was kept
	Digest  string `json:"digest"`
	Seed    uint64 `json:"seed"`

	// Presented is what the protocol adds; nil: nothing. Its Value is in the JSON under
	// its Key.
	Presented *protocol.Presentation `json:"-"`

	// Decision is Answer; None unless agreed.
	Decision synod.Answer `json:"-"`

	// Proof is what the members have signed; nil: one process played all seats, or the outcome comes from a journal.
	Proof Proof `json:"-"`

	nodes bool // nodes have played the seats
	// Exceeded has the limits that did not allow a call, and so ended the run; nil for another end, and in outcomes
	// that come from a journal.
	Exceeded []Exceeded             `json:"-"`
	Given    map[string]plan.Params `json:"-"` // the models as the council has them; nil: not known
	// Resumable is true if the run was cut off and its journal, if there is one, can be resumed; false in outcomes that
	// come from a journal.
	Resumable bool `json:"-"`
	// Past are the settings, as KEY=VALUE of council files, with which a resumed run gets past the breaker or the
	// limits that stopped it.
	Past []string `json:"-"`
}

// Claim is a sentence of the answer and what the members say of it.
type Claim struct {
	ID         string                `json:"id"` // c1, c2, … in the order of the answer
	Text       string                `json:"text"`
	Verdict    protocol.ClaimVerdict `json:"verdict"`
	Unchecked  bool                  `json:"unchecked,omitempty"` // no member judged it; the verdict is open
	Supporters []string              `json:"supporters"`          // ids of seats; the author of the answer is neither
	Critics    []string              `json:"critics"`
	Start      int                   `json:"start"` // its bytes in the answer: from start
	End        int                   `json:"end"`   // to before end
}

// Words are what a member wrote around the answer. They are untrusted.
type Words struct {
	Member string `json:"member"` // its id
	Text   string `json:"text"`
}

// Tokens are the tokens of all calls of a question, retries included.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// Calls counts model calls: requests that left, prompts answered from memory, and
// what the protocol would have made without either reuse or early stop.
type Calls struct {
	Made    int `json:"made"`
	Reused  int `json:"reused"`
	Planned int `json:"planned"`
	// Needless are those of Made that began early (race) for members that were then not asked.
	Needless int `json:"needless,omitempty"`
}

// Member is one seat and how its calls ended.
type Member struct {
	ID        string        `json:"id"`
	Model     string        `json:"model"`
	Kind      llm.Kind      `json:"kind"`
	Voice     int           `json:"-"`                 // the same for seats of one voice; see Spec.Voices
	Fooling   string        `json:"fooling,omitempty"` // what is assumed of it, if it is simulated (llm.Fooling)
	Role      string        `json:"role"`
	Adversary *string       `json:"adversary"` // null: the experimenter put none there
	First     *synod.Answer `json:"first"`     // null: no answer
	Final     *synod.Answer `json:"final"`
	// Likelihood is how likely the member's model said that First is, in [0, 1]; nil: it did not, or was not asked to.
	Likelihood *float64 `json:"likelihood,omitempty"`
	// Uncommitted is true if it noted a first answer to which too few members say that it had committed in time. The
	// answer may be a copy, and is neither First nor counted.
	Uncommitted bool        `json:"uncommitted,omitempty"`
	Written     string      `json:"written,omitempty"` // Final as the member spelled it, if that differs; untrusted
	Calls       StatusCount `json:"calls"`
	Trouble     string      `json:"trouble,omitempty"`    // why its first failed call failed
	Unreadable  *Unread     `json:"unreadable,omitempty"` // what it wrote that could not be read
	Misreports  Misreports  `json:"misreports,omitzero"`  // replies whose usage cannot be true
	Adapted     []string    `json:"adapted,omitempty"`    // settings that its server refused, and what was sent instead
	Conduct     Conduct     `json:"conduct"`
}

// Conduct counts what a member did not do. A network or a provider can be the cause, so none
// of it is guilt: only Outcome.Evidence is.
type Conduct struct {
	Silent  int `json:"silent"`  // rounds of other members in which nothing came from it
	Late    int `json:"late"`    // rounds in which patience cut off its model's call
	Refused int `json:"refused"` // calls that its model refused
}

// MarshalJSON adds what the protocol presents.
func (o Outcome) MarshalJSON() ([]byte, error) {
	type plain Outcome
	if o.Presented == nil {
		return json.Marshal(plain(o))
	}
	return marshalWith(plain(o), map[string]any{o.Presented.Key: o.Presented.Value})
}

// Joined is an answer of the form text and others that are counted as it.
type Joined struct {
	Answer synod.Answer   `json:"answer"` // the one with the most supporters; of equals the first by its bytes
	Same   []synod.Answer `json:"same"`   // the others, ascending by their bytes
}
