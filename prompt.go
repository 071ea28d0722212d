package synod

// Purpose is what a prompt wants back. Members that do not read prose act on it.
type Purpose string

// The purposes known today; a protocol that needs another adds it here, beside
// the typed fields it reads.
const (
	Answering Purpose = "answer"    // an Answer to Question
	Scoring   Purpose = "score"     // a number in [0,1] for Candidate
	Weighing  Purpose = "weigh"     // the mean log-probability of Candidate after Question (SAC-12)
	Proposing Purpose = "propose"   // a value for Table, with a public reason and private notes (GM-2)
	Voting    Purpose = "vote"      // whether the game of Table is to end
	Grading   Purpose = "grade"     // Grades for Candidate (DL-1)
	GradeAll  Purpose = "grade-all" // Grades for the answer of each of Peers, at once (DL-6)
	Refining  Purpose = "refine"    // an Answer to Question in the light of Own and Peers
)

// Rated is a peer's answer with the score one's own model gave it.
type Rated struct {
	Answer    Answer `json:"answer"`
	Score     Score  `json:"score"`
	Rationale string `json:"rationale,omitempty"` // untrusted; only where a protocol exchanges rationales
}

// Caution says what a prompt tells a member about hostile peers (SAC-11).
type Caution string

// The measured settings of Caution.
const (
	CautionNone     Caution = "none"
	CautionMayExist Caution = "may-exist"
	CautionBound    Caution = "bound" // names F

	CautionNoAdversary Caution = "no-adversary" // says that there are none
)

// Confide says whether a member is to say how sure it is of its answer (CP-1, CP-2).
type Confide string

// The ways to come by a confidence in [0,1].
const (
	ConfideNothing Confide = ""
	ConfideStated  Confide = "stated" // the model writes it beside its answer
	ConfideHidden  Confide = "hidden" // a probe reads it off the model's hidden states
)

// Prompt is a typed request to a member. Package prompt renders it for a model
// that reads text; recorded and simulated members act on the fields.
type Prompt struct {
	Template  string    `json:"template"` // "protocol/name" of the template that says it in words
	Purpose   Purpose   `json:"purpose"`
	Question  *Question `json:"-"` // the same for a whole run, so a journal keeps it once
	Own       Answer    `json:"own,omitempty"`
	Candidate Answer    `json:"candidate,omitempty"`
	Rationale string    `json:"rationale,omitempty"` // the candidate's, untrusted
	Peers     []Rated   `json:"peers,omitempty"`     // in the order in which they are shown
	Caution   Caution   `json:"caution,omitempty"`
	F         int       `json:"f,omitempty"`
	Exact     bool      `json:"exact,omitempty"`   // the paper's way: free text, no structured output
	Table     *Table    `json:"table,omitempty"`   // only to Proposing and Voting
	Hostile   bool      `json:"hostile,omitempty"` // the member plays against the others; only an adversary says so
	Confide   Confide   `json:"confide,omitempty"` // only where an answer is asked for
	Seed      uint64    `json:"seed,omitempty"`    // 0: the member's own
	// Nonce makes the borders of fences around untrusted text unpredictable. It is derived from the
	// asking seat's secret seed and differs for every call, also where Seed is 0. It is not recorded.
	Nonce uint64 `json:"-"`
	// Spelling is how answers above are to be shown, where that is not their
	// canonical form: "Paris" for "paris". It changes nothing about what is asked.
	Spelling map[Answer]string `json:"spelling,omitempty"`
}

// Spelled is how an answer is to be shown. The words are untrusted.
func (p *Prompt) Spelled(a Answer) string {
	if s, ok := p.Spelling[a]; ok {
		return s
	}
	return string(a)
}

// Same reports whether two prompts of one run ask the same thing, seeds and
// spelling aside.
func (p *Prompt) Same(q *Prompt) bool {
	if p.Purpose != q.Purpose || p.Candidate != q.Candidate || p.Own != q.Own || p.Template != q.Template ||
		p.Rationale != q.Rationale || p.Caution != q.Caution || p.F != q.F || p.Exact != q.Exact || p.Confide != q.Confide || p.Table != q.Table || p.Hostile != q.Hostile || len(p.Peers) != len(q.Peers) {
		return false
	}
	for i := range p.Peers {
		if p.Peers[i] != q.Peers[i] {
			return false
		}
	}
	return true
}
