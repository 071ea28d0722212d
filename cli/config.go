package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"synod.dev/synod/council"
)

func configCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the council that would be asked, and where each setting comes from",
	}
	cmd.AddCommand(configShowCommand(a), configSchemaCommand())
	return cmd
}

func configShowCommand(a *app) *cobra.Command {
	var source specFlags
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the council in force",
		Long: `Prints the council that "synod ask" would seat with the same flags. Flags come
before the environment, that before ./synod.yaml, that before config.yaml in the
user's config folder, and that before the council in the box. A council file
given with -c takes the place of both files and of the box.`,
		Example: "  synod config show\n  synod config show --origin --set f=2",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec, from, err := source.merge(a)
			if err != nil {
				return configError(err)
			}
			text, err := yaml.Marshal(spec)
			if err != nil {
				return fail(exitError1, err)
			}
			if !origin {
				_, err := fmt.Fprint(cmd.OutOrStdout(), printable(string(text)))
				return err
			}
			return printOrigin(cmd, text, from)
		},
	}
	source.add(cmd)
	cmd.Flags().BoolVar(&origin, "origin", false, "print every setting on a line with where it comes from")
	return cmd
}

// printOrigin prints key, value and origin of every setting.
func printOrigin(cmd *cobra.Command, text []byte, from council.Origin) error {
	tree := map[string]any{}
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return fail(exitError1, err)
	}
	values := map[string]string{}
	flatten(tree, "", values)
	var names []string
	for k := range values {
		names = append(names, k)
	}
	slices.Sort(names)
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	for _, k := range names {
		origin := from[k]
		if origin == "" {
			origin = "default"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", k, oneLine(values[k]), origin)
	}
	return w.Flush()
}

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
			b, err := council.Schema()
			if err != nil {
				return fail(exitError1, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(b))
			return err
		},
	}
}
