package leader

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

// Params are the parameters that protocols of this kind share.
type Params struct {
	Propose   string        `yaml:"propose" json:"propose"`     // own | best | quorum (LB-3)
	Rationale int           `yaml:"rationale" json:"rationale"` // bytes of reasoning that travel beside an answer
	Caution   synod.Caution `yaml:"caution" json:"caution"`     // what prompts say of hostile proposals: none | may-exist
	Exact     bool          `yaml:"-" json:"exact"`             // the paper's letter: council key "exact: paper"
}

// Defaults have a leader propose its own answer, as in both papers.
func Defaults() Params {
	return Params{Propose: Own, Rationale: 600, Caution: synod.CautionNone}
}

// Check reports the first parameter that is out of its range.
func (p *Params) Check(protocol string) error {
	choices := []string{Own, Best, Quorum}
	switch {
	case p.Propose != Own && p.Propose != Best && p.Propose != Quorum:
		return fmt.Errorf("%s: propose is %q%s; it must be one of %v", protocol, p.Propose, synod.Hint(p.Propose, choices), choices)
	case p.Caution != synod.CautionNone && p.Caution != synod.CautionMayExist:
		return fmt.Errorf("%s: caution is %q; it must be none or may-exist", protocol, p.Caution)
	}
	return answer.Check(protocol, answer.Range{Key: "rationale", Value: p.Rationale, High: 4000})
}

// Rules begins the rules of a protocol with these parameters.
func (p *Params) Rules(templates string) Rules {
	return Rules{
		Settings: answer.Settings{Templates: templates, Exact: p.Exact, Caution: p.Caution, Rationale: p.Rationale},
		Choice:   p.Propose,
	}
}

// Paper sets what "exact: paper" means: a proposal needs to be better than one's own
// answer and not only as good, and members choose the seeds of their calls.
func (p *Params) Paper() { p.Exact = true }

// Settles reports that a round that changed nothing has another leader after it.
func (p *Params) Settles() bool { return false }

// AllToAll reports that votes go to all.
func (p *Params) AllToAll() bool { return true }

// Signs reports that proposals and votes are signed.
func (p *Params) Signs() bool { return true }

// Cost is the most model calls of n members in so many rounds with so many leaders:
// everyone answers, and marks its own answer, a proposal a round, and once more what
// was accepted; a leader that ranks marks all answers.
func (p *Params) Cost(n, rounds, leaders int) int {
	calls := n * (3 + rounds)
	if p.Propose != Own {
		calls += min(leaders, n) * n
	}
	return calls
}
