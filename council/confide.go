package council

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// confiding is implemented by a protocol that asks members how sure they are.
type confiding interface{ Confides() synod.Confide }

// checkConfiders refuses a protocol that wants a confidence read off hidden states
// where a member has no probe to read it with (CP-2).
func (c *Council) checkConfiders() error {
	p, ok := c.protocol.(confiding)
	if !ok || p.Confides() != synod.ConfideHidden {
		return nil
	}
	for _, s := range c.seats {
		if m, can := c.models[s.model].(llm.Confider); !can || !m.CanConfide() {
			return &ConfigError{Section: "protocol", Err: fmt.Errorf("probe: hidden needs members with a trained probe, and model %q has none; give it probe: FILE (a model in the box can have one: synod probe train), or use probe: stated", s.model)}
		}
	}
	return nil
}
