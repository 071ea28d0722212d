package council

import (
	"fmt"
	"strings"

	"synod.dev/synod/journal"
)

// Prompts are digests of the pages that say this council's prompts in words, by
// name.
func (c *Council) Prompts() map[string]string { return c.prompts }

// ChangedPrompts lists, in words, in which pages two sets of digests differ; none
// where either is not known.
func ChangedPrompts(there, now map[string]string) (changes []string) {
	if there == nil || now == nil {
		return nil
	}
	for _, name := range keys(there) {
		switch now[name] {
		case there[name]:
		case "":
			changes = append(changes, fmt.Sprintf("prompt %s: is there no more", name))
		default:
			changes = append(changes, fmt.Sprintf("prompt %s: its text was changed (%s there, %s now)", name, there[name], now[name]))
		}
	}
	for _, name := range keys(now) {
		if there[name] == "" {
			changes = append(changes, fmt.Sprintf("prompt %s: is new", name))
		}
	}
	return changes
}

// samePrompts refuses to go on with a run whose members were asked in other words.
func (c *Council) samePrompts(run *journal.Run) error {
	if run == nil {
		return nil
	}
	if changes := ChangedPrompts(run.Head.Prompts, c.prompts); len(changes) > 0 {
		return fmt.Errorf("the run was begun with other prompts:\n  %s", strings.Join(changes, "\n  "))
	}
	return nil
}
