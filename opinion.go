package synod

// Source says where a held answer comes from (I-SAC-9).
type Source string

// The sources of an answer.
const (
	Own     Source = "own"     // given before hearing anyone
	Kept    Source = "kept"    // unchanged in this round
	Adopted Source = "adopted" // equal to an answer a peer had shown
	New     Source = "new"     // changed to something nobody had shown
	Absent  Source = "absent"  // the member has no answer
)

// Judged is a score for one member's answer.
type Judged struct {
	Of    NodeID `json:"of"`
	Score Score  `json:"score"`
}

// Opinion is what a member holds at the end of a round and how it came to it.
// It is the one record from which rounds are shown, graded and plotted.
type Opinion struct {
	Round   int      `json:"round"` // 0 is the first, independent answer
	Answer  Answer   `json:"answer"`
	Surface string   `json:"surface,omitempty"` // the member's own spelling of Answer, untrusted
	Source  Source   `json:"source"`
	From    []NodeID `json:"from,omitempty"` // with Adopted: the peers who had shown it
	// Confidence is the member's own in its answer, in [0,1]; nil: the protocol asks
	// for none, or none came.
	Confidence *float64 `json:"confidence,omitempty"`
	Scores     []Judged `json:"scores,omitempty"`   // ascending by member, the own one included
	Retained   []NodeID `json:"retained,omitempty"` // ascending
	Dropped    []NodeID `json:"dropped,omitempty"`  // ascending
	Silent     []NodeID `json:"silent,omitempty"`   // ascending
	Vote       Vote     `json:"vote,omitempty"`     // in a game: about ending it, after this round
	Suspects   []NodeID `json:"suspects,omitempty"` // ascending: who was seen to tell different things in this round
	Panel      *Panel   `json:"panel,omitempty"`    // an evaluator's record of a decision
	// Better are those whose answers the member judged above the one that was accepted,
	// ascending: a leader's proposal needs votes and not to be the best.
	Better      []NodeID     `json:"better,omitempty"`
	Certificate *Certificate `json:"certificate,omitempty"` // of an answer that a quorum accepted
	Evidence    [][]byte     `json:"evidence,omitempty"`    // against Suspects, one each, as their protocol encodes it
	Failed      int          `json:"failed,omitempty"`      // calls of this round that did not end OK
	Garbled     int          `json:"garbled,omitempty"`     // calls of this round that ended OK but could not be read
	Unsure      int          `json:"unsure,omitempty"`      // answers of this round's calls whose confidence was missing or could not be read
	Reused      int          `json:"reused,omitempty"`      // asks of this round that were answered from memory
}
