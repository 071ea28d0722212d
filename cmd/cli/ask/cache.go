package ask

import (
	"encoding/json"
	"fmt"
	"strings"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
)

// caches reports whether a member of a council keeps its replies.
func caches(spec plan.Spec) bool {
	for _, s := range spec.Seats {
		if on, _ := spec.Models[s.Model]["cache"].(bool); on {
			return true
		}
	}
	return false
}

// cacheText identifies a question to a council: all that its prompts depend on, and not
// its limits.
func cacheText(ask council.Ask, spec plan.Spec) string {
	spec.Limits, spec.Breakers = plan.Limits{}, plan.Breakers{}
	parts := []string{fmt.Sprint(spec), ask.Question.Text, string(ask.Question.Form), fmt.Sprint(ask.Question.Options)}
	if !ask.Question.Plain() {
		whole, _ := json.Marshal(ask.Question) // it fails only for a schema that is not JSON, which is refused later
		parts = append(parts, string(whole))
	}
	return strings.Join(parts, "\x00")
}
