package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/plan"
)

// ConfigCommand is "synod config".
func ConfigCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the council in effect, and where each setting comes from",
	}
	cmd.AddCommand(configShowCommand(a), configSchemaCommand())
	return cmd
}

func configShowCommand(a *app.App) *cobra.Command {
	var source app.CouncilFlags
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the council in effect",
		Long: `Prints the council that "synod ask" would use with the same flags. Settings are taken
from, in this order: flags, the environment, ./synod.yaml, config.yaml in the user's
config folder, the default council. A council file given with -c replaces both files
and the default council.`,
		Example: "  synod config show\n  synod config show --origin --set f=2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, from, err := source.Merge(a)
			rest := "default"
			if err == nil && spec.Runner.Capabilities().Roster { // the members have signed everything else
				rest = "roster " + spec.Runner.Roster
				spec, err = ofRoster(spec)
			}
			if err != nil {
				return app.ConfigError(err)
			}
			text, err := yaml.Marshal(spec.Shown().Switched())
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if !origin {
				_, err := fmt.Fprint(cmd.OutOrStdout(), app.Printable(string(text)))
				return err
			}
			return printOrigin(cmd, text, from, rest)
		},
	}
	source.Add(cmd)
	cmd.Flags().BoolVar(&origin, "origin", false, "print one line for each setting with its origin")
	return cmd
}

// ofRoster returns the council of a file with runner: nodes, which stands in its roster.
func ofRoster(spec plan.Spec) (plan.Spec, error) {
	p, err := plan.New(spec)
	if err != nil {
		return spec, err
	}
	spec = p.Spec()
	spec.Runner.Keys = nil // nobody writes them
	return spec, nil
}

// printOrigin prints the key, value and origin of every setting. rest is the origin of those that no layer has.
func printOrigin(cmd *cobra.Command, text []byte, from plan.Origin, rest string) error {
	tree := map[string]any{}
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	values := map[string]string{}
	flatten(tree, "", values)
	var t table.Table
	for _, k := range slices.Sorted(maps.Keys(values)) {
		t.Add(k, app.OneLine(values[k]), cmp.Or(from[k], rest))
	}
	return t.Write(cmd.OutOrStdout(), "text")
}

// flatten stores the leaves of v as JSON by dotted path.
func flatten(v any, path string, into map[string]string) {
	if m, ok := v.(map[string]any); ok {
		for k, sub := range m {
			flatten(sub, strings.TrimPrefix(path+"."+k, "."), into)
		}
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		b = fmt.Append(nil, v)
	}
	into[path] = string(b)
}

func configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of a council file",
		Example: "  synod config schema > council.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := plan.Schema()
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(b))
			return err
		},
	}
}
