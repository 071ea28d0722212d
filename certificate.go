package synod

// Certificate is the signatures of a quorum under the answer that a leader had
// proposed. What they signed, and what makes a quorum, the protocol says.
type Certificate struct {
	Round      int      `json:"round"`
	Leader     NodeID   `json:"leader"`
	Signers    []NodeID `json:"signers"` // ascending
	Signatures [][]byte `json:"signatures"`
}
