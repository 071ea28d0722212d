package synod

// MaxGrade is the best mark by one criterion; 0 is the worst, half of it neutral.
const MaxGrade = 20

// Grades are an evaluator's marks of one answer, by criterion in the order of
// Criteria, each in [0, MaxGrade] (DL-1).
type Grades [5]float64

// Criteria are the names of what an answer is graded by: how far it is free of
// each of these.
func Criteria() [len(Grades{})]string {
	return [...]string{"factual_contradiction", "factual_fabrication", "instruction_inconsistency", "context_inconsistency", "logical_inconsistency"}
}

// Valid reports that every mark is a number in its range.
func (g *Grades) Valid() bool {
	for _, x := range g {
		if !(x >= 0 && x <= MaxGrade) { // NaN too
			return false
		}
	}
	return true
}

// Panel is an evaluator's record of a decision: what the workers answered, how the
// evaluators graded, and who signed it (DL-7). ⊥ is said with a reason, and is the
// same at all honest evaluators.
type Panel struct {
	Answers   []PanelAnswer `json:"answers"` // ascending by worker
	Grades    []PanelGrades `json:"grades"`  // ascending by evaluator
	Salt      []byte        `json:"salt,omitempty"`
	Signature []byte        `json:"signature,omitempty"` // the evaluator's, under its reply to the user
	Withheld  string        `json:"withheld,omitempty"`  // why this evaluator gave no marks itself; "" if it did
	// Suspects are those who signed two values, ascending.
	Suspects []NodeID `json:"suspects,omitempty"`
	// Unsafe says that the bound on delays seems to have been broken.
	Unsafe bool `json:"unsafe,omitempty"`
	// Undecided says why there is no decision; "" if there is one.
	Undecided string `json:"undecided,omitempty"`
}

// PanelAnswer is what a worker broadcast.
type PanelAnswer struct {
	Of        NodeID   `json:"of"`
	Answer    Answer   `json:"answer,omitempty"`
	Bottom    string   `json:"bottom,omitempty"` // why it is ⊥; "" if it is an answer
	Total     *float64 `json:"total,omitempty"`  // its aggregated score; nil: none
	Converged bool     `json:"converged,omitempty"`
	Value     []byte   `json:"value,omitempty"` // the bytes that it broadcast and signed, readable or not
	Signature []byte   `json:"signature,omitempty"`
}

// PanelGrades is what an evaluator broadcast.
type PanelGrades struct {
	By        NodeID   `json:"by"`
	Grades    []Grades `json:"grades,omitempty"` // of the answers that are not ⊥, ascending by worker
	Bottom    string   `json:"bottom,omitempty"`
	Value     []byte   `json:"value,omitempty"` // the bytes that it broadcast and signed
	Signature []byte   `json:"signature,omitempty"`
	// Committed is what it broadcast with the answers, and signed: a digest of what it
	// reveals with its marks for the Salt. Nil: ⊥.
	Committed       []byte `json:"committed,omitempty"`
	CommitSignature []byte `json:"commit_signature,omitempty"`
}
