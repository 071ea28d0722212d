package synod

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
	Completion int `json:"completion,omitempty"`
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

	Logprob *float64 `json:"logprob,omitempty"` // mean token log-probability of Text, if the provider returns it
	Reused  bool     `json:"reused,omitempty"`  // answered from memory or disk, without a request
	// Late is true if the caller cancelled the call because it had waited long enough
	// for the slowest calls of its batch; Status is then Timeout.
	Late bool `json:"late,omitempty"`
}
