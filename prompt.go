package synod

import (
	"encoding/json"
	"math/rand/v2"
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
