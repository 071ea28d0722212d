package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/bench/lab"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/param"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/origin"
	"synod.dev/synod/llm"
)

// The kinds of files that a user's key marks.
const (
	ownJournal = "journal"
	ownRun     = "run"
)

// key returns the user's key; nil if it cannot be read or written, so that nothing is marked and nothing is known.
func (a *app) key() origin.Key {
	key, err := origin.Load(a.dirs.state)
	if err != nil {
		return nil
	}
	return key
}

// mark returns a function that marks files of a kind as written by the user.
func (a *app) mark(kind string) func([]byte) string {
	return func(text []byte) string { return a.key().Mark(kind, text) }
}

const trustFlag = "use the addresses, keys and files that the %s names, although it was not written by you on this " +
	"machine"

// trustJournal fails if a journal from elsewhere names something that resuming it would use.
func (a *app) trustJournal(run *journal.Run, spec plan.Spec, path, verb string) error {
	if a.key().Wrote(ownJournal, run.Head.Content(), run.Head.Origin) {
		return nil
	}
	return foreign(path, spec.Starts(), "synod "+verb+" --resume "+counciloutcome.ShellWord(path))
}

// trustRuns fails if the folder of a run from elsewhere names something that resuming it would use.
func (a *app) trustRuns(dir string, runs ...*lab.Run) error {
	var starts []string
	for _, run := range runs {
		text, mark := run.Origin()
		if a.key().Wrote(ownRun, text, mark) {
			continue
		}
		spec, err := run.Spec()
		if err != nil {
			return fail(exitError1, err)
		}
		for _, line := range spec.Starts() {
			if !slices.Contains(starts, line) {
				starts = append(starts, line)
			}
		}
	}
	return foreign(dir, starts, "synod bench resume "+counciloutcome.ShellWord(dir))
}

func foreign(path string, starts []string, command string) error {
	if len(starts) == 0 {
		return nil
	}
	return fail(exitUsage, fmt.Errorf("%s was not written by you on this machine, and resuming it starts this:\n  %s",
		path, strings.Join(starts, "\n  ")), "if you trust it:\n  "+command+" --trust")
}

// allowed is the file of the user's config folder that lists what a council file may escalate to.
type allowed struct {
	Commands [][]string `yaml:"commands"`
	Webhooks []string   `yaml:"webhooks"`
}

const maxAllowed = 1 << 20 // bytes of the file

// checkEscalation fails if a council file, other than the user's own config.yaml, names a command or a webhook that the
// user has not allowed.
func (a *app) checkEscalation(spec plan.Spec, from plan.Origin) error {
	own := filepath.Join(a.dirs.config, "config.yaml")
	byUser := func(key string) bool {
		return from[key] == setLayer || from[key] == own
	}
	path := filepath.Join(a.dirs.config, "allow.yaml")
	var list allowed
	text, err := durable.ReadFile(path, maxAllowed)
	if err == nil {
		err = param.Unmarshal(text, &list)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	e := spec.Breakers.Escalate
	if url := e.Webhook; url != "" && !byUser("breakers.escalate.webhook") && !slices.Contains(list.Webhooks, url) {
		return notAllowed(from["breakers.escalate.webhook"], "sends the question and the outcome to "+llm.StripURL(url),
			path, map[string]any{"webhooks": []string{url}})
	}
	if len(e.Command) > 0 && !byUser("breakers.escalate.command") &&
		!slices.ContainsFunc(list.Commands, func(c []string) bool { return slices.Equal(c, e.Command) }) {
		return notAllowed(from["breakers.escalate.command"], fmt.Sprintf("runs the command %q", e.Command), path,
			map[string]any{"commands": [][]string{e.Command}})
	}
	return nil
}

func notAllowed(file, what, path string, entry map[string]any) error {
	text, err := yaml.MarshalWithOptions(entry, yaml.Flow(true))
	if err != nil {
		return fail(exitError1, err)
	}
	return fail(exitUsage, fmt.Errorf("%s: when a breaker stops the run, it %s; you have not allowed this", file, what),
		"allow it for this run with --allow-escalation, or always with an entry in "+path+":\n  "+
			strings.Trim(strings.TrimSpace(string(text)), "{}"))
}
