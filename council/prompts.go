package council

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/journal"
)

// Prompts are digests of the pages that say this council's prompts in words, by
// name.
func (c *Council) Prompts() map[string]string { return c.prompts }

// findPrompts refuses a folder of prompts that is not there or holds none: the
// protocol's own in their place are not what was asked for. A replay, which says
// nothing to anyone, does without.
func (c *Council) findPrompts() error {
	if c.spec.Prompts == "" {
		return nil
	}
	entries, err := os.ReadDir(c.spec.Prompts)
	if err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".tmpl" }) {
		err = fmt.Errorf("%s holds no .tmpl file; the protocol's pages are: %s", c.spec.Prompts, strings.Join(c.book.Names(), ", "))
	}
	if err != nil {
		return &ConfigError{Section: "prompts", Err: err}
	}
	return nil
}

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
