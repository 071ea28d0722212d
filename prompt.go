package synod

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// Purpose says what a prompt asks for. Members that do not read prose act on it.
type Purpose string

// The purposes that several protocols share. A protocol with another purpose
// defines it itself and describes it with a Detail.
const (
	Answering Purpose = "answer" // an Answer to Question
	Scoring   Purpose = "score"  // a number in [0,1] for Candidate
	Weighing  Purpose = "weigh"  // the mean log-probability of Candidate after Question (SAC-12)
	Refining  Purpose = "refine" // an Answer to Question in view of Own and Peers
)

// Rated is a neighbour's answer with the score that one's own model gave it.
type Rated struct {
	Answer    Answer `json:"answer"`
	Score     Score  `json:"score"`
	Rationale string `json:"rationale,omitempty"` // untrusted; only in protocols that exchange rationales
	Name      string `json:"name,omitempty"`      // the member's id; only with Guards.Named
}

// Caution says what a prompt tells a member about hostile neighbours (SAC-11).
type Caution string

// The values of Caution.
const (
	CautionNone     Caution = "none"
	CautionMayExist Caution = "may-exist"
	CautionBound    Caution = "bound" // names F

	CautionNoAdversary Caution = "no-adversary" // says that there are none
)

// ConfidenceMode tells whether and how a member gives a confidence in its answer (CP-1, CP-2).
type ConfidenceMode string

// The ways to get a confidence in [0,1].
const (
	NoConfidence     ConfidenceMode = ""
	StatedConfidence ConfidenceMode = "stated" // the model writes it beside its answer
	HiddenConfidence ConfidenceMode = "hidden" // a probe reads it off the model's hidden states
	// LikelihoodConfidence is the probability that the model gives to its answer.
	LikelihoodConfidence ConfidenceMode = "likelihood"
)

// Goal is what an adversary wants of its own model beside what its protocol asks.
type Goal string

// The goals of adversaries.
const (
	// Persuade asks for a wrong answer with a convincing solution. Only prompts with the
	// purpose Answering have it.
	Persuade Goal = "persuade"
	// Adapt asks for a better one. Only prompts with the purpose Refining have it. The first of
	// Peers is what the adversary sent last, with the score that its own model gave it.
	Adapt Goal = "adapt"
)

// Prompt is a typed request to a member. Package prompt renders it for a model that
// reads text; recorded and simulated members act on the fields.
type Prompt struct {
	Template       string         `json:"template"` // "protocol/name" of the template that renders it
	Purpose        Purpose        `json:"purpose"`
	Question       *Question      `json:"-"` // the same for a whole run, so a journal stores it once
	Own            Answer         `json:"own,omitempty"`
	Candidate      Answer         `json:"candidate,omitempty"`
	Rationale      string         `json:"rationale,omitempty"` // the candidate's, untrusted
	Peers          []Rated        `json:"peers,omitempty"`     // in the order in which they are shown
	Caution        Caution        `json:"caution,omitempty"`
	F              int            `json:"f,omitempty"`
	Exact          bool           `json:"exact,omitempty"`   // as in the paper: free text, no structured output
	Detail         Detail         `json:"detail,omitempty"`  // what only prompts of one protocol contain
	Goal           Goal           `json:"goal,omitempty"`    // of an adversary; protocols leave it empty
	ConfidenceMode ConfidenceMode `json:"confide,omitempty"` // only where an answer is requested
	Seed           uint64         `json:"seed,omitempty"`    // 0: the member's own
	// Unread is the member's own reply to this prompt, which could not be read. A prompt that has it asks for what
	// the prompt asks for once more, and for nothing beside it. No protocol sets it.
	Unread string `json:"unread,omitempty"`
	// Failed says, with Unread, which check the answer of that reply failed.
	Failed *Failure `json:"failed,omitempty"`
	// Plain asks for reasoning as text and the answer on the last line in place of JSON, because the member's server
	// does not hold replies to a schema. No protocol sets it.
	Plain bool `json:"plain,omitempty"`
	// Nonce makes the borders of fences around untrusted text unpredictable. It is
	// derived from the asking seat's secret seed, and differs for every call, also where
	// Seed is 0. It is not recorded.
	Nonce uint64 `json:"-"`
	// Unfenced and Raw are Guards.NoFence and Guards.KeepTokens of the asking seat.
	Unfenced bool `json:"unfenced,omitempty"`
	Raw      bool `json:"raw,omitempty"`
	// Spelling maps answers above to how they are shown, where that is not their
	// canonical form: "paris" to "Paris". It does not change what is asked.
	Spelling map[Answer]string `json:"spelling,omitempty"`
}

// Detail is the part of a prompt whose type belongs to one protocol. It must be
// encodable as JSON. A template reads it as .Detail.
type Detail interface {
	// Same reports whether two details of one run ask the same.
	Same(Detail) bool
	// String returns one line for transcripts; it may be empty.
	String() string
}

// Readable is implemented by a Detail whose protocol reads the replies to its prompts itself.
type Readable interface {
	// Reads reports whether a reply with the status OK has what the prompt asks for.
	Reads(p *Prompt, r *Reply) bool
}

// Simulable is implemented by a Detail that answers its prompts for simulated
// members.
type Simulable interface {
	// Simulate returns the reply of a simulated member. It must be a function of its
	// arguments.
	Simulate(p *Prompt, m Simulation) Reply
}

// Simulation is what a simulated member is like.
type Simulation struct {
	Ability      float64 // the share of questions that it answers right alone, in [0,1]
	Noise        float64 // the standard deviation of its scores, in [0,1]
	Stubbornness float64 // the chance that it keeps its answer, in [0,1]
	Sharpness    int     // the power of a score when it chooses by scores, ≥ 0
	Primacy      float64 // the chance that it prefers the first of a list, in [0,1]
	Holds        bool    // it keeps its first answer in this whole run
	Stalls       bool    // it never agrees to end this run
	Wary         bool    // likewise, if the prompt mentions hostile members
	// Score draws its score of an answer to the prompt's question, in [0,1], which may depend on
	// the reasoning beside the answer.
	Score func(a Answer, rationale string) float64
	Rand  *rand.Rand // the only source of randomness
}

// UnmarshalJSON decodes a prompt. Its Detail becomes a RawRecord.
func (p *Prompt) UnmarshalJSON(b []byte) error {
	type plain Prompt // without this method
	in := struct {
		*plain
		Detail RawRecord `json:"detail"`
	}{plain: (*plain)(p)}
	p.Detail = nil
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Detail != nil {
		p.Detail = in.Detail
	}
	return nil
}

// Spelled returns how an answer is to be shown. The result is untrusted.
func (p *Prompt) Spelled(a Answer) string {
	if s, ok := p.Spelling[a]; ok {
		return s
	}
	return string(a)
}

// Same reports whether two prompts of one run ask the same, apart from seeds and
// spelling.
func (p *Prompt) Same(q *Prompt) bool {
	// Prompts of one member most often differ in the candidate.
	if p.Candidate != q.Candidate || p.Purpose != q.Purpose || p.Own != q.Own || p.Template != q.Template ||
		p.Rationale != q.Rationale || p.Caution != q.Caution || p.F != q.F || p.Exact != q.Exact ||
		p.ConfidenceMode != q.ConfidenceMode || p.Goal != q.Goal ||
		len(p.Peers) != len(q.Peers) || (p.Detail == nil) != (q.Detail == nil) {
		return false
	}
	if p.Detail != nil && !p.Detail.Same(q.Detail) {
		return false
	}
	for i := range p.Peers {
		if p.Peers[i] != q.Peers[i] {
			return false
		}
	}
	return true
}

// Status says how a model call ended. It comes from the transport and the parser,
// never from what the text says about itself.
type Status string

// The statuses of a call. Only an OK reply may be used. Every other status is a
// failure of the infrastructure or of the format, and is never an answer, a vote or
// a score (SAC-10, GR-2).
const (
	OK          Status = "ok"
	Timeout     Status = "timeout"
	RateLimited Status = "rate_limited"
	Auth        Status = "auth"
	Unavailable Status = "unavailable" // unreachable, HTTP 5xx, a crashed engine, a cut stream
	Unreadable  Status = "unreadable"  // a reply came, but not in the requested format
	Refused     Status = "refused"     // the provider signals a refusal or a filter
	Dropped     Status = "dropped"     // not sent: the budget was spent, or the run was stopped
)

// Statuses returns every Status in the order of reports.
func Statuses() []Status {
	return []Status{OK, Timeout, RateLimited, Auth, Unavailable, Unreadable, Refused, Dropped}
}

// Usage counts tokens. Zero means that the member did not report them.
type Usage struct {
	Prompt     int `json:"prompt,omitempty"`
	Completion int `json:"completion,omitempty"` // with the tokens of thoughts that the reply does not show
	// Cached and Stored are parts of Prompt that a server which caches prompts read from its
	// cache and wrote to it. They have prices of their own.
	Cached int `json:"cached,omitempty"`
	Stored int `json:"stored,omitempty"`
	// Billed is what the server says it charges for the tokens, in billionths of a US dollar, and Bills in how many
	// replies it said so; 0: it did not say.
	Billed int `json:"billed,omitempty"`
	Bills  int `json:"bills,omitempty"`
}

// Plus returns the sum of two usages, by Sum.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Prompt: Sum(u.Prompt, v.Prompt), Completion: Sum(u.Completion, v.Completion),
		Cached: Sum(u.Cached, v.Cached), Stored: Sum(u.Stored, v.Stored),
		Billed: Sum(u.Billed, v.Billed), Bills: Sum(u.Bills, v.Bills)}
}

// Total returns the tokens of prompt and completion together, by Sum.
func (u Usage) Total() int { return Sum(u.Prompt, u.Completion) }

// Sum returns a+b for two counts that come from a server or a file. A negative count
// is taken for 0, and a sum that exceeds the largest int is the largest int, so that
// no count can make a sum smaller.
func Sum(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Reply is a member's response to one Prompt.
//
// A member that writes prose sets Text, and the protocol reads it. A member that
// acts on the typed prompt (a simulated one, or one that weighs a text by its
// likelihood) sets Typed and either Answer or Value.
type Reply struct {
	Status Status `json:"status"`
	Text   string `json:"text,omitempty"` // verbatim and untrusted
	Typed  bool   `json:"typed,omitempty"`
	Answer Answer `json:"answer,omitempty"` // with Typed, to Answering and Refining
	// with Typed, to Scoring (in [0,1]) and Weighing (mean log-probability, ≤ 0)
	Value float64 `json:"value,omitempty"`
	// Confidence is in [0,1]: what a typed member states, or what a probe reads off the
	// hidden states of any member. It is nil if there is none.
	Confidence *float64 `json:"confidence,omitempty"`
	Detail     string   `json:"detail,omitempty"` // why the call failed, for people; contains no secret
	Usage      Usage    `json:"usage,omitzero"`
	Calls      int      `json:"calls,omitempty"` // requests sent for this reply, retries included
	// Charged is what a limit on tokens counts for the reply where that is not Usage: a
	// request that was cut off costs all that it may have cost.
	Charged Usage `json:"charged,omitzero"`
	// Fault is what the member's server did wrong beside the answer, such as a usage
	// that the request cannot have. It is for people and contains no secret.
	Fault string `json:"fault,omitempty"`
	// Model is the name of the model that the member's server says it asked, which may be
	// another one than it was asked for; "" if it does not say. It is untrusted.
	Model string `json:"model,omitempty"`
	// Reader is the version of the readers that read Text (read.Version); 0: those before
	// there were versions. A replay reads each reply as its run did.
	Reader int `json:"reader,omitempty"`

	// Cut says that the server ended Text at the limit of tokens. The readers read only what it finished.
	Cut bool `json:"cut,omitempty"`

	// Plain is Prompt.Plain of the request that was sent, where it was not the protocol's own: for people.
	Plain bool `json:"plain,omitempty"`

	// Reread says what became of the second request for a reply that could not be read; "": there was none.
	Reread Reread `json:"reread,omitempty"`
	// Other is the reply that Text is not, verbatim and untrusted: the first one if Reread is RereadUsed or
	// RereadCorrected, the second one if it is RereadUseless.
	Other string `json:"other,omitempty"`

	// Failed says which check the answer of Text failed. The reply has no answer then.
	Failed *Failure `json:"failed,omitempty"`

	Logprob *float64 `json:"logprob,omitempty"` // mean token log-probability of Text, if the provider returns it
	Reused  bool     `json:"reused,omitempty"`  // answered from memory or disk, without a request
	// Took is how long the call took in milliseconds, with waits and retries; 0: less than one,
	// or nobody measured it.
	Took int `json:"ms,omitempty"`
	// Late is true if the caller cancelled the call because it had waited long enough
	// for the slowest calls of its batch; Status is then Timeout.
	Late bool `json:"late,omitempty"`
	// Needless is true of a call that began before its member was to be asked, who then was not: no member reads it.
	Needless bool `json:"needless,omitempty"`
}

// Reread says what became of the second request for a reply that could not be read. It asks the member, in the same
// conversation, for its answer alone.
type Reread string

// The values of Reread.
const (
	RereadPending Reread = "pending" // it is about to leave, or its reply has not come
	RereadUsed    Reread = "used"    // its reply could be read and took the place of the first one
	// RereadCorrected: the answer of the first reply failed a check, and that of the second passes.
	RereadCorrected Reread = "corrected"
	RereadUseless   Reread = "useless" // it failed, or its reply could not be read either
)

// Spent returns the tokens that a limit counts for the reply: Charged, or Usage where
// nothing else is charged.
func (r *Reply) Spent() Usage {
	if r.Charged != (Usage{}) {
		return r.Charged
	}
	return r.Usage
}

// Source says where the answer that a member holds comes from (I-SAC-9).
type Source string

// The sources of an answer.
const (
	Own     Source = "own"     // the member's independent answer, before it heard anyone
	Kept    Source = "kept"    // unchanged in this round
	Adopted Source = "adopted" // equal to an answer that a neighbour had shown
	New     Source = "new"     // changed to an answer that no neighbour had shown
	Absent  Source = "absent"  // the member has no answer
)

// Score is a judgement in [0,1], or Untrusted.
type Score float64

// Untrusted is the score of an answer whose judgement failed or could not be read.
// It is lower than every real score, so filters drop such an answer first (SAC-8).
const Untrusted Score = -1

// String returns the score with two decimals, as the prompts of the papers show it.
func (s Score) String() string {
	if s == Untrusted {
		return "unreadable"
	}
	return strconv.FormatFloat(float64(s), 'f', 2, 64)
}

// MarshalJSON encodes Untrusted as null, and other scores as numbers.
func (s Score) MarshalJSON() ([]byte, error) {
	if s == Untrusted {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(s), 'g', -1, 64), nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (s *Score) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*s = Untrusted
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	*s = Score(v)
	return err
}

// Judged is the score of one member's answer.
type Judged struct {
	Of    NodeID `json:"of"`
	Score Score  `json:"score"`
}

// Opinion is what a member holds at the end of a round, and how it got there.
// Rounds are shown, graded and plotted from opinions alone.
type Opinion struct {
	Round   int      `json:"round"` // 0: the independent answer
	Answer  Answer   `json:"answer"`
	Surface string   `json:"surface,omitempty"` // Answer as the member wrote it; untrusted
	Source  Source   `json:"source"`
	From    []NodeID `json:"from,omitempty"` // with Adopted: the neighbours who had shown the answer, ascending
	// Confidence is the member's confidence in its answer, in [0,1]. It is nil if the
	// protocol asks for none, or if the reply had none.
	Confidence *float64 `json:"confidence,omitempty"`
	Scores     []Judged `json:"scores,omitempty"`   // ascending by member, the member's own answer included
	Retained   []NodeID `json:"retained,omitempty"` // ascending
	Dropped    []NodeID `json:"dropped,omitempty"`  // ascending
	Silent     []NodeID `json:"silent,omitempty"`   // ascending
	Suspects   []NodeID `json:"suspects,omitempty"` // members who sent different messages in one slot, ascending
	Record     Record   `json:"record,omitempty"`   // what only the member's protocol knows; nil in most protocols
	Failed     int      `json:"failed,omitempty"`   // calls of this round that did not end OK
	Unreadable int      `json:"garbled,omitempty"`  // calls of this round that ended OK but could not be read
	Unsure     int      `json:"unsure,omitempty"`   // answers of this round whose confidence was missing or unreadable
	Reused     int      `json:"reused,omitempty"`   // prompts of this round that were answered from memory
}

// UnmarshalJSON decodes an opinion. Its Record becomes a RawRecord.
func (o *Opinion) UnmarshalJSON(b []byte) error {
	type plain Opinion // without this method
	in := struct {
		*plain
		Record RawRecord `json:"record"`
	}{plain: (*plain)(o)}
	o.Record = nil
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Record != nil {
		o.Record = in.Record
	}
	return nil
}

// Record is the part of an opinion whose type belongs to one protocol. It must be
// encodable as JSON. String returns one line for transcripts.
type Record interface {
	String() string
}

// RawRecord is a record or a detail as it was read from JSON, before its protocol
// decodes it.
type RawRecord json.RawMessage

// String returns the JSON text.
func (r RawRecord) String() string { return string(r) }

// MarshalJSON returns the JSON text unchanged.
func (r RawRecord) MarshalJSON() ([]byte, error) { return json.RawMessage(r).MarshalJSON() }

// UnmarshalJSON keeps the JSON text.
func (r *RawRecord) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(r).UnmarshalJSON(b) }

// Same reports whether the other detail has the same JSON text.
func (r RawRecord) Same(other Detail) bool {
	o, raw := other.(RawRecord)
	return raw && string(r) == string(o)
}

// RecordOf returns the opinion's record as a *T. It decodes a RawRecord. It returns
// nil without an error if the opinion has no record, and an error if the record is
// of another type or cannot be decoded.
func RecordOf[T any](o *Opinion) (*T, error) {
	switch r := any(o.Record).(type) {
	case nil:
		return nil, nil
	case *T:
		return r, nil
	case RawRecord:
		into := new(T)
		if err := json.Unmarshal(r, into); err != nil {
			return nil, fmt.Errorf("synod: the record of round %d: %w", o.Round, err)
		}
		return into, nil
	default:
		return nil, fmt.Errorf("synod: the record of round %d is a %T and not a %T", o.Round, r, new(T))
	}
}
