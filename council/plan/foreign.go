package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/llm"
)

// ParseRecord reads the text of a council in a journal or a run folder, which may come from
// elsewhere. Such a text names no file of a graph and nothing to escalate to: Plan.Spec
// leaves these out. No file that the text names is read.
func ParseRecord(b []byte) (Spec, error) {
	spec, err := decodeSpec(b, "")
	if err != nil {
		return Spec{}, err
	}
	if _, file := spec.Graph["file"]; file {
		return Spec{}, errors.New("graph: it names a file; a recorded council has the edges of its graph")
	}
	if e := spec.Breakers.Escalate; e.Webhook != "" || len(e.Command) > 0 {
		return Spec{}, errors.New("breakers: it names a webhook or a command to escalate to, which Synod never " +
			"records: somebody has changed this file")
	}
	return spec, check(b, &spec, fromRecord)
}

// Starts lists what a run of the council sends where, and which files it reads, one line
// each, for the decision whether to trust a council from elsewhere. A council of simulated
// members starts nothing.
func (s *Spec) Starts() (lines []string) {
	if line := s.Runner.starts(); line != "" {
		return []string{line}
	}
	for _, name := range sortedKeys(s.Models) {
		if !slices.ContainsFunc(s.Seats, func(seat SeatSpec) bool { return seat.Model == name }) {
			continue
		}
		for _, line := range modelStarts(s.Models[name]) {
			lines = append(lines, fmt.Sprintf("model %s %s", name, line))
		}
	}
	if s.Prompts != "" {
		lines = append(lines, "the prompts are those in the folder "+s.Prompts)
	}
	if url := s.Breakers.Escalate.Webhook; url != "" {
		lines = append(lines, "a breaker sends the question and the outcome to "+llm.Site(url))
	}
	if command := s.Breakers.Escalate.Command; len(command) > 0 {
		lines = append(lines, fmt.Sprintf("a breaker runs the command %q", command))
	}
	return append(lines, s.checkStarts()...)
}

func modelStarts(model Params) []string {
	name, decode := Settings(model)
	provider, err := llm.Providers.Find(name)
	switch {
	case err != nil: // it cannot be opened
		return nil
	case provider.Uses != nil:
		return provider.Uses(decode)
	case provider.Kind == llm.Simulated:
		return nil
	}
	var settings []string
	for _, key := range sortedKeys(model) {
		settings = append(settings, fmt.Sprintf("%s: %v", key, model[key]))
	}
	return []string{"is opened with " + strings.Join(settings, ", ")}
}
