package plan

import (
	"errors"
	"net/url"
	"time"

	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
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

// mayEndEarly reports whether a run can have a fixed point.
func (p *Plan) mayEndEarly() bool {
	if p.graph.Changes() { // another round has other neighbours
		return false
	}
	for _, a := range p.adversaries {
		if steady, ok := a.(adversary.Steady); a != nil && (!ok || !steady.Steady()) {
			return false
		}
	}
	return p.protocol.Settles() && p.faults.None()
}

// Escalate determines where to report a run that was stopped. Both get the outcome as JSON;
// neither is waited for longer than Within.
type Escalate struct {
	Webhook string        `yaml:"webhook,omitempty" json:"webhook,omitempty" doc:"address that the outcome is posted to" example:"https://example.org/synod"`
	Command []string      `yaml:"command,omitempty" json:"command,omitempty" doc:"program and arguments; it gets the outcome on standard input; no shell" example:"[notify, --urgent]"`
	Within  time.Duration `yaml:"within,omitempty" json:"within,omitzero" doc:"the longest wait for them, at most 1h" range:"0s:1h" example:"10s" default:"5s"`
}
