package answer

import "synod.dev/synod"

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

// Mode says what the prompt for an answer asks for.
func (p Probe) Mode() synod.ConfidenceMode {
	if p == LikelihoodProbe {
		return synod.LikelihoodConfidence
	}
	return synod.NoConfidence
}
