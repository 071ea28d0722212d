package answer

import (
	"fmt"

	"synod.dev/synod"
)

// Probe says, in protocols that decide by answers alone, whether an answer comes with the probability that the member's
// model gave to it. A member whose model reports none gives its answer alone.
type Probe string

// The values of Probe.
const (
	NoProbe         Probe = "none"
	LikelihoodProbe Probe = "likelihood"
)

// IsZero leaves the default out of what is written.
func (p Probe) IsZero() bool { return p == NoProbe }

// Check returns an error that begins with the protocol's name if p is none of the values.
func (p Probe) Check(protocol string) error {
	if p != NoProbe && p != LikelihoodProbe {
		return fmt.Errorf("%s: probe is %q; it must be none or likelihood", protocol, p)
	}
	return nil
}

// Mode says what the prompt for an answer asks for.
func (p Probe) Mode() synod.ConfidenceMode {
	if p == LikelihoodProbe {
		return synod.LikelihoodConfidence
	}
	return synod.NoConfidence
}
