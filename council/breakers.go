package council

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Breakers stop a run that is going nowhere and say why (GR-1), whatever the
// protocol. Limits are breakers too: calls, tokens, money and the deadline. What is
// off by default is zero. A failure of infrastructure is no disagreement (GR-2): it
// counts only where it makes the rule impossible to meet.
type Breakers struct {
	NoProgress   int      `yaml:"no_progress,omitempty" json:"no_progress,omitempty" jsonschema:"minimum=0,description=Stop when so many rounds in a row changed no answer and the rule does not decide; 0: never."`
	Oscillation  int      `yaml:"oscillation,omitempty" json:"oscillation,omitempty" jsonschema:"minimum=0,description=Stop when the members' answers came back so many times in a row to what they were two to four rounds before, and the rule does not decide; 0: never."`
	Quorum       bool     `yaml:"quorum,omitempty" json:"quorum,omitempty" jsonschema:"description=Stop when so many members are out of reach that the rule cannot be met any more."`
	Equivocation bool     `yaml:"equivocation,omitempty" json:"equivocation,omitempty" jsonschema:"description=Stop when a member was seen to tell different things to different members."`
	Escalate     Escalate `yaml:"escalate,omitempty" json:"escalate,omitzero" jsonschema:"description=Who is told when a run was stopped by a breaker or a limit."`
}

// Escalate says who is told. Both get the outcome as JSON; neither is waited for
// longer than Within.
type Escalate struct {
	Webhook string        `yaml:"webhook,omitempty" json:"webhook,omitempty" jsonschema:"description=A URL that the outcome is posted to."`
	Command []string      `yaml:"command,omitempty" json:"command,omitempty" jsonschema:"description=A program and its arguments that gets the outcome on standard input; no shell is between."`
	Within  time.Duration `yaml:"within,omitempty" json:"within,omitzero" jsonschema:"type=string,description=how long to wait for them at most (5s)"`
}

// The breakers by name, as an outcome names them.
const (
	NoProgress   = "no-progress"
	Oscillation  = "oscillation"
	NoQuorum     = "no-quorum"
	Equivocation = "equivocation"
)

// Tripped is why a run stopped that a breaker stopped.
const Tripped = "breaker"

// Trip is a breaker that stopped a run.
type Trip struct {
	Breaker string `json:"breaker"`
	Round   int    `json:"round"`
	Detail  string `json:"detail"` // for people
	// Continue is what to set so that the run goes on past this breaker, such as
	// "breakers.no_progress=0".
	Continue string `json:"continue"`
}

func (b *Breakers) any() bool {
	return b.NoProgress > 0 || b.Oscillation > 0 || b.Quorum || b.Equivocation
}

// Validate reports the first breaker that makes no sense.
func (b *Breakers) Validate() error {
	if b.NoProgress < 0 || b.Oscillation < 0 {
		return errors.New("no_progress and oscillation count rounds; they must be 0 or more")
	}
	if b.Escalate.Within < 0 {
		return errors.New("escalate: within must be a time such as 5s")
	}
	if w := b.Escalate.Webhook; w != "" {
		u, err := url.Parse(w)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("escalate: webhook must be a URL that begins with http:// or https://")
		}
	}
	if c := b.Escalate.Command; len(c) > 0 && c[0] == "" {
		return errors.New("escalate: command must begin with a program")
	}
	return nil
}

// checkMoney refuses a limit in money where what a model costs is not known.
func (c *Council) checkMoney() error {
	if c.spec.Limits.USD < 0 {
		return &ConfigError{Section: "limits", Err: errors.New("usd is negative")}
	}
	for _, name := range keys(c.models) {
		if _, known := c.prices.Of(c.models[name].Info()); c.spec.Limits.USD > 0 && !known {
			return &ConfigError{Section: "limits", Err: fmt.Errorf("usd needs to know what every model costs, and the price of model %q (%s) is in no table; give it in a price file", name, c.models[name].Info().Name)}
		}
	}
	return nil
}

func (c *Council) checkBreakers() error { return c.spec.Breakers.Validate() }
