package llm

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// What real judges do to pairs of a right and a wrong solution of the same question: seven judges of JudgeBench (arXiv
// 2410.12784), recorded in both orders of each pair; a tie is half right. TestRecordedJudges computes these figures
// from the records, TestSimulatedJudges finds them in simulated judges with the default settings.
const (
	measuredRight = 0.61  // probability to prefer the right one, in the mean over all seven judges
	bestRight     = 0.716 // the same of the best of them
	// measuredFirst is the position bias, in the mean of the two judges that were prompted: their decisions for the
	// solution shown first less those for the second, as a share of all.
	measuredFirst = 0.13
	// measuredTogether is the mean correlation of the errors of two of the six judges of the same pairs. Errors of
	// simulated judges correlate so if they have the share measuredShared of the variance of their noise in common.
	measuredTogether = 0.37
	measuredShared   = 0.55
)

// skill returns Skill. The default is that at which a judge with this noise prefers the right one of two answers with
// the measured probability; without noise it is 0.
func (c SimulatedConfig) skill() float64 {
	if c.Skill != nil {
		return *c.Skill
	}
	return skillAt(measuredRight, c.Noise)
}

// skillAt returns the skill at which a judge prefers the right one of two answers with a probability: the difference of
// two scores has a normal distribution with mean skill and variance 2·noise².
func skillAt(prefers, noise float64) float64 { return 2 * noise * math.Erfinv(2*prefers-1) }

// Judge is how a simulated member judges. What is nil stays as the member's settings have it, by default as measured.
type Judge struct {
	Prefers *float64 `yaml:"prefers" json:"prefers" doc:"probability that a judge prefers the right one of two answers; measured 0.61, of the best judge 0.716" range:"0.01:0.99" example:"0.7"`
	Primacy *float64 `yaml:"primacy" json:"primacy" doc:"probability that a judge takes the first of a list, whatever it is; measured 0.13" range:"0:1" example:"0.4"`
	Shared  *float64 `yaml:"shared" json:"shared" doc:"share of the variance of their noise that judges have in common; measured 0.55, at which the errors of two correlate by 0.37" range:"0:1" example:"0.9"`
}

// In returns the settings of a simulated member with how it judges in place; it judges with the noise that the settings
// have. ok is false for other providers. It fails if the settings have no noise and a probability is asked for: such a
// judge is always right, always wrong, or indifferent.
func (j Judge) In(settings map[string]any) (with map[string]any, ok bool, err error) {
	c, ok := simulatedOf(settings)
	if !ok {
		return settings, false, nil
	}
	with = maps.Clone(settings)
	if j.Prefers != nil {
		if c.Noise == 0 {
			return nil, true, errors.New("prefers needs members with noise; theirs is 0")
		}
		const digits = 1e4 // as people write skills
		with["skill"] = math.Round(digits*skillAt(*j.Prefers, c.Noise)) / digits
	}
	for key, v := range map[string]*float64{"primacy": j.Primacy, "shared": j.Shared} {
		if v != nil {
			with[key] = *v
		}
	}
	return with, true, nil
}

// prefers returns the probability that the right one of two answers scores higher; one half where both always score
// alike.
func (c SimulatedConfig) prefers() float64 {
	skill := c.skill()
	switch {
	case c.Noise > 0:
		return (1 + math.Erf(skill/(2*c.Noise))) / 2
	case skill > 0:
		return 1
	case skill < 0:
		return 0
	}
	return 0.5
}

// betterThanMeasured labels a simulated judge that prefers the right one of two answers more often than the best real
// judge that was measured.
const betterThanMeasured = "better than any measured judge"

// better reports whether a judge needs the label betterThanMeasured.
func (c SimulatedConfig) better() bool { return c.prefers() > bestRight+0.0005 }

// errs returns the noise of a score: partly the judge's own, partly that of all judges of the study about this
// candidate.
func (m *simulated) errs(it *item, candidate synod.Answer, rng *splitMix) float64 {
	own := rng.normal()
	if m.cfg.Shared == 0 {
		return m.cfg.Noise * own
	}
	study := splitMix(hashString(mix(it.hash^0x5a7e), string(candidate)))
	return m.cfg.Noise * (m.sharedBy*study.normal() + m.ownBy*own)
}

// Judging describes how a simulated member with some settings judges, for outputs that rank by it; "" for other
// providers.
func Judging(settings map[string]any) string {
	c, ok := simulatedOf(settings)
	if !ok {
		return ""
	}
	s := fmt.Sprintf("prefers the right one of two answers with probability %s", brief(c.prefers()))
	if c.better() {
		s += " (" + betterThanMeasured + ")"
	}
	return s + fmt.Sprintf(", takes the first of a list with probability %s, and shares %s of the variance of its "+
		"noise with other judges", brief(c.Primacy), brief(c.Shared))
}

// simulatedOf returns how a simulated member with some settings judges; false for other providers and for settings that
// cannot be read.
func simulatedOf(settings map[string]any) (SimulatedConfig, bool) {
	c := NewSimulatedConfig()
	if settings["provider"] != simulatedProvider.Name {
		return c, false
	}
	judging := map[string]any{}
	for _, key := range [...]string{"skill", "noise", "primacy", "shared"} {
		if v, set := settings[key]; set {
			judging[key] = v
		}
	}
	return c, param.Decode(judging, &c) == nil
}

func brief(x float64) string { return strconv.FormatFloat(math.Round(1000*x)/1000, 'f', -1, 64) }
