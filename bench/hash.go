package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// codeVersion changes when the same run would have other results with a new program: when the order or
// the meaning of what simulated members, protocols or runners do has changed. Prompts have digests of
// their own, and the layout of folders has Version.
const codeVersion = 1

// Hash identifies everything that the results of a run depend on: the council without its name, the
// models, the prompts, the questions with their keys, repeats and seed, and the versions of the code and of the
// readers of texts. Two
// runs with one hash have the same results, if the replies of their members depend only on the requests.
func (m *RunManifest) Hash() (string, error) {
	spec, err := plan.ParseRecord([]byte(m.Council))
	if err != nil {
		return "", fmt.Errorf("bench: the run's council: %w", err)
	}
	spec.Council = ""
	text, err := yaml.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("bench: encode the council: %w", err)
	}
	var seats []string
	for _, s := range m.Seats {
		seats = append(seats, s.ID, s.Identity)
		if s.Kind != llm.Simulated { // its texts are read
			seats = append(seats, fmt.Sprint("reader ", read.Version))
		}
	}
	var prompts []string
	for _, name := range slices.Sorted(maps.Keys(m.Prompts)) {
		prompts = append(prompts, name, m.Prompts[name])
	}
	b, err := json.Marshal([]any{codeVersion, Version, string(text), seats, prompts, m.Items, m.Task, m.Form,
		m.Repeat, m.Seed})
	if err != nil {
		return "", fmt.Errorf("bench: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
