package synod

import "math"

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
	// Other is the reply that Text is not, verbatim and untrusted: the first one if Reread is RereadUsed, the second
	// one if it is RereadUseless.
	Other string `json:"other,omitempty"`

	Logprob *float64 `json:"logprob,omitempty"` // mean token log-probability of Text, if the provider returns it
	Reused  bool     `json:"reused,omitempty"`  // answered from memory or disk, without a request
	// Took is how long the call took in milliseconds, with waits and retries; 0: less than one,
	// or nobody measured it.
	Took int `json:"ms,omitempty"`
	// Late is true if the caller cancelled the call because it had waited long enough
	// for the slowest calls of its batch; Status is then Timeout.
	Late bool `json:"late,omitempty"`
}

// Reread says what became of the second request for a reply that could not be read. It asks the member, in the same
// conversation, for its answer alone.
type Reread string

// The values of Reread.
const (
	RereadPending Reread = "pending" // it is about to leave, or its reply has not come
	RereadUsed    Reread = "used"    // its reply could be read and took the place of the first one
	RereadUseless Reread = "useless" // it failed, or its reply could not be read either
)

// Spent returns the tokens that a limit counts for the reply: Charged, or Usage where
// nothing else is charged.
func (r *Reply) Spent() Usage {
	if r.Charged != (Usage{}) {
		return r.Charged
	}
	return r.Usage
}
