package ask

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// allowed is the file of the user's config folder that lists what a council file may escalate to.
type allowed struct {
	Commands [][]string `yaml:"commands"`
	Webhooks []string   `yaml:"webhooks"`
}

const maxAllowed = 1 << 20 // bytes of the file

// checkEscalation fails if a council file, other than the user's own config.yaml, names a command or a webhook that the
// user has not allowed.
func checkEscalation(a *app.App, spec plan.Spec, from plan.Origin) error {
	own := filepath.Join(a.Dirs.Config, "config.yaml")
	byUser := func(key string) bool {
		return from[key] == app.SetLayer || from[key] == own
	}
	path := filepath.Join(a.Dirs.Config, "allow.yaml")
	var list allowed
	text, err := durable.ReadFile(path, maxAllowed)
	if err == nil {
		err = param.Unmarshal(text, &list)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s: %w", path, err))
	}
	e := spec.Breakers.Escalate
	if url := e.Webhook; url != "" && !byUser("breakers.escalate.webhook") && !slices.Contains(list.Webhooks, url) {
		file := from["breakers.escalate.webhook"] // the hint does not quote the address, which may hold a secret
		return notAllowed(file, "sends the question and the outcome to "+llm.Site(url), path,
			"webhooks: [URL]\nwhere URL is breakers.escalate.webhook of "+file)
	}
	if len(e.Command) > 0 && !byUser("breakers.escalate.command") &&
		!slices.ContainsFunc(list.Commands, func(c []string) bool { return slices.Equal(c, e.Command) }) {
		entry, err := yaml.MarshalWithOptions(map[string]any{"commands": [][]string{e.Command}}, yaml.Flow(true))
		if err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		return notAllowed(from["breakers.escalate.command"], fmt.Sprintf("runs the command %q", e.Command), path,
			strings.Trim(strings.TrimSpace(string(entry)), "{}"))
	}
	return nil
}

func notAllowed(file, what, path, entry string) error {
	return app.Fail(app.ExitUsage, fmt.Errorf("%s: when a breaker stops the run, it %s; you have not allowed this",
		file, what),
		"allow it for this run with --allow-escalation, or always with an entry in "+path+":\n  "+entry)
}
