package plan

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"synod.dev/synod/core/param"
	"synod.dev/synod/core/reliability"
)

// Breakers stop a run that makes no progress, with a reason (GR-1), whatever the
// protocol. All are off by default. Limits (calls, tokens, money, deadline) stop a run
// too. An infrastructure failure is not a disagreement (GR-2): it counts only if the rule
// cannot be met because of it.
type Breakers struct {
	NoProgress   int      `yaml:"no_progress,omitempty" json:"no_progress,omitempty" doc:"stop when no answer but those of at most F members has changed in this many rounds in a row and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"3"`
	Oscillation  int      `yaml:"oscillation,omitempty" json:"oscillation,omitempty" doc:"stop when answers in this many rounds in a row, but those of at most F members, were those of two to four rounds before and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"3"`
	Drift        int      `yaml:"drift,omitempty" json:"drift,omitempty" doc:"stop when in this many rounds in a row more than F members changed their answers, the members came no closer together, and the rule does not decide; 0: never" range:"0:1000" unit:"rounds" example:"5"`
	Quorum       bool     `yaml:"quorum,omitempty" json:"quorum,omitempty" doc:"stop when so many members are unreachable that the rule cannot be met any more"`
	Equivocation bool     `yaml:"equivocation,omitempty" json:"equivocation,omitempty" doc:"stop when a member was seen to equivocate"`
	Escalate     Escalate `yaml:"escalate,omitempty" json:"escalate,omitzero" doc:"where to report a run that a breaker or a limit stopped"`
}

func (b *Breakers) Any() bool {
	return b.NoProgress > 0 || b.Oscillation > 0 || b.Drift > 0 || b.Quorum || b.Equivocation
}

// Validate reports the first breaker that is out of range.
func (b *Breakers) Validate() error {
	if err := param.Verify(b); err != nil {
		return err
	}
	if w := b.Escalate.Webhook; w != "" {
		u, err := url.Parse(w)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("escalate: webhook must be a URL that begins with http:// or https://")
		}
	}
	if c := b.Escalate.Command; len(c) > 0 && c[0] == "" {
		return errors.New("escalate: command must begin with a program")
	}
	return nil
}

// Escalate determines where to report a run that was stopped. Both get the outcome as JSON;
// neither is waited for longer than Within.
type Escalate struct {
	Webhook string        `yaml:"webhook,omitempty" json:"webhook,omitempty" doc:"address that the outcome is posted to" example:"https://example.org/synod"`
	Command []string      `yaml:"command,omitempty" json:"command,omitempty" doc:"program and arguments; it gets the outcome on standard input; no shell" example:"[notify, --urgent]"`
	Within  time.Duration `yaml:"within,omitempty" json:"within,omitzero" doc:"the longest wait for them, at most 1h" range:"0s:1h" example:"10s" default:"5s"`
}

// Adversaries puts one kind of adversary at several seats: at listed ones, or at those that a
// rule picks from the graph. An experiment that varies the number of adversaries or their
// seats changes this section and leaves the seats alone.
type Adversaries struct {
	Adversary Params `yaml:"adversary,omitempty" json:"adversary,omitempty" doc:"the adversary's name and parameters" example:"{name: replay}"`
	Members   *int   `yaml:"members,omitempty" json:"members,omitempty" doc:"how many seats it gets; 0: none; default: the listed seats, or 1" range:"0:16384" example:"2" unit:"seats"`
	Seats     any    `yaml:"seats,omitempty" json:"seats,omitempty" doc:"worst, random or another rule that places nodes in graphs; or a list of seats by id; worst: the set that leaves the least r, then that is F-local for the largest F only, then that reaches most seats" default:"worst" example:"[a1, a3]"`
	Role      string `yaml:"role,omitempty" json:"role,omitempty" doc:"pick only seats with this role" example:"evaluator"`
	Seed      uint64 `yaml:"seed,omitempty" json:"seed,omitempty" doc:"seed of rules that draw"`
}

// none reports whether there are none to place.
func (a *Adversaries) none() bool {
	return len(a.Adversary) == 0 && a.Members == nil && a.Seats == nil && a.Role == "" && a.Seed == 0
}

// listed returns the seats that the section lists by id, or the rule that picks them.
func (a *Adversaries) listed() (ids []string, rule string, err error) {
	bad := fmt.Errorf("seats is %v; it must be a rule such as worst or random, or a list of seats such as [a1, a3]",
		a.Seats)
	switch seats := a.Seats.(type) {
	case nil:
		return nil, "worst", nil
	case string:
		return nil, seats, nil
	case []string:
		return seats, "", nil
	case []any:
		for _, s := range seats {
			switch s.(type) {
			case string, int, int64, uint64:
				ids = append(ids, fmt.Sprint(s))
			default:
				return nil, "", bad
			}
		}
		return ids, "", nil
	}
	return nil, "", bad
}

// The names of ledgers in a council file.
const (
	LedgerLog      = "log"      // of one operator; with nodes, one of each replica's owner
	LedgerSmartBFT = "smartbft" // of the nodes of the seats that vote, by consensus
	LedgerCometBFT = "cometbft" // the same with another consensus, in a child process
)

// Ledger says where the decisions of a council are recorded.
type Ledger struct {
	Name   string `yaml:"name,omitempty" json:"name,omitempty" doc:"log: a log that one operator signs; smartbft, cometbft: a log that the nodes of the seats that vote keep by consensus" enum:"log|smartbft|cometbft" example:"smartbft"`
	Folder string `yaml:"folder,omitempty" json:"folder,omitempty" doc:"with log, when one process plays all seats: the folder of the ledger" default:"ledger" example:"decisions"`
	Bodies bool   `yaml:"bodies,omitempty" json:"bodies,omitempty" doc:"keep the texts too, not only their hashes"`
}

// Replicated reports whether nodes keep the ledger by consensus.
func (l *Ledger) Replicated() bool { return l.Name == LedgerSmartBFT || l.Name == LedgerCometBFT }

// Trust says where a council's knowledge of its members' reliability is.
type Trust struct {
	File  string   `yaml:"file,omitempty" json:"file,omitempty" doc:"the trust file from which protocol cascade takes the weights of members; default: that of the user; absent: all weigh the same" example:"default"`
	Learn bool     `yaml:"learn,omitempty" json:"learn,omitempty" doc:"add the first answers of finished questions to the trust file; of protocol cascade, those of audits"`
	Audit *float64 `yaml:"audit,omitempty" json:"audit,omitempty" doc:"with learn, in protocol cascade: the share of the questions, drawn in secret, that ask every member" range:"0:1" default:"0.1" example:"0.1"`

	// Labels are first answers that users of a gateway have labelled. They say how likely answers are right, and give
	// nobody weight.
	Labels []reliability.Observation `yaml:"-" json:"-"`
}

// usualAudit is the share of audited questions of a council that learns.
const usualAudit = 0.1

// OwnTrust is the name of the user's trust file in a council file. Who makes a plan replaces it by a path.
const OwnTrust = "default"
