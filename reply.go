package synod

// Status says how a model call ended. It comes from the transport and the
// parser, never from what the text says about itself.
type Status string

// The statuses of a call. Only OK carries words that may be used; every other
// status is a failure of infrastructure or format and is never an answer, a
// vote or a score (SAC-10, GR-2).
const (
	OK          Status = "ok"
	Timeout     Status = "timeout"
	RateLimited Status = "rate_limited"
	Auth        Status = "auth"
	Unavailable Status = "unavailable" // unreachable, 5xx, a dead engine, a cut stream
	Unreadable  Status = "unreadable"  // a reply came, but not in the shape that was asked for
	Refused     Status = "refused"     // the provider's own refusal or filter signal
	Dropped     Status = "dropped"     // never sent: budget spent, run stopped
)

// Statuses lists every Status in the order in which they are reported.
func Statuses() []Status {
	return []Status{OK, Timeout, RateLimited, Auth, Unavailable, Unreadable, Refused, Dropped}
}

// Usage counts tokens. Zero means that the member did not say.
type Usage struct {
	Prompt     int `json:"prompt,omitempty"`
	Completion int `json:"completion,omitempty"`
}

// Reply is what a member gave back to one Prompt.
//
// A member that writes prose sets Text and nothing else, and the protocol reads
// it. A member that answers the typed prompt (simulated, or weighing text by
// likelihood) sets Typed and either Answer or Value.
type Reply struct {
	Status Status   `json:"status"`
	Text   string   `json:"text,omitempty"` // verbatim and untrusted
	Typed  bool     `json:"typed,omitempty"`
	Answer Answer   `json:"answer,omitempty"` // with Typed, to Answering and Refining
	Value  float64  `json:"value,omitempty"`  // with Typed, to Scoring (in [0,1]) and Weighing (mean log-probability, ≤ 0)
	Grades *Grades  `json:"grades,omitempty"` // with Typed, to Grading
	Sheet  []Grades `json:"sheet,omitempty"`  // with Typed, to GradeAll: one for each of Peers
	// Confidence in [0,1] that a typed member states, or a probe reads off the
	// states of any member; nil: none came.
	Confidence *float64 `json:"confidence,omitempty"`
	Detail     string   `json:"detail,omitempty"` // why it failed, for people; holds no secret
	Usage      Usage    `json:"usage,omitzero"`
	Calls      int      `json:"calls,omitempty"` // requests that left for this reply, retries included

	Logprob *float64 `json:"logprob,omitempty"` // mean token log-probability of Text, where the provider gives it
	Reused  bool     `json:"reused,omitempty"`  // answered from memory or disk: no request left for it
}
