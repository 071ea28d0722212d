package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/bench"
	"synod.dev/synod/cmd/cli/research"
	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/models"
)

// completion says what a shell proposes for an argument or the value of a flag.
type completion struct {
	values func() []string
	files  bool // a file or folder may stand here too
	more   bool // the value goes on after what is proposed, so no space is added
}

// arguments are the completions of arguments, by the command's path.
var arguments = map[string]completion{
	"synod explain":                {values: allNames},
	"synod bench run":              {values: tasksAndPresets, files: true},
	"synod bench resume":           {files: true},
	"synod bench report":           {files: true},
	"synod data pull":              {values: tasks},
	"synod models pull":            {values: modelNames, files: true},
	"synod models rm":              {values: modelNames},
	"synod graph new":              {values: topology.Catalogue.Names},
	"synod research probe collect": {values: tasks, files: true},
	"synod replay":                 {files: true},
	"synod verify":                 {files: true},
}

// flagValues are the completions of flags, by their name or, if it has several meanings, after the command's path.
var flagValues = map[string]completion{
	"set":      {values: settings, more: true},
	"model":    {values: providerNames, more: true},
	"family":   {values: topology.Catalogue.Names},
	"collect":  {values: tasks},
	"members":  {values: func() []string { return []string{"simulated", "embedded", "recorded"} }, files: true},
	"strategy": {values: adversary.Catalogue.Names},
	"form":     {values: bench.FormNames},
	"council":  {files: true},

	"synod bench report --format": {values: report.Formats},
	"synod graph check --format":  {values: func() []string { return []string{"text", "json", "jsonl", "csv", "md"} }},
	"synod graph draw --format":   {values: func() []string { return []string{"svg", "pdf", "png"} }},
}

// addCompletion adds the completions to a command and those below it. Flags and arguments that have one keep it.
func addCompletion(cmd *cobra.Command) {
	if c, ok := arguments[grouped(cmd.CommandPath())]; ok && cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = c.propose
	}
	for _, key := range slices.Sorted(maps.Keys(flagValues)) {
		name := strings.TrimPrefix(key, cmd.CommandPath()+" --")
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		if _, has := cmd.GetFlagCompletionFunc(name); !has {
			_ = cmd.RegisterFlagCompletionFunc(name, flagValues[key].propose) // fails only for an unknown flag
		}
	}
	for _, sub := range cmd.Commands() {
		addCompletion(sub)
	}
}

func (c completion) propose(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var how cobra.ShellCompDirective
	if !c.files {
		how |= cobra.ShellCompDirectiveNoFileComp
	}
	if c.more {
		how |= cobra.ShellCompDirectiveNoSpace
	}
	if c.values == nil {
		return nil, how
	}
	return c.values(), how
}

func tasks() []string { return task.Catalogue.Names() }

func tasksAndPresets() []string { return append(tasks(), presets.Names()...) }

// allNames returns the names of all catalogues.
func allNames() (out []string) {
	for _, c := range research.Catalogues() {
		for _, e := range c.Entries() {
			out = append(out, e.Name)
		}
	}
	return out
}

func modelNames() (out []string) {
	for _, m := range models.Catalog() {
		out = append(out, m.Name)
	}
	return out
}

func providerNames() (out []string) {
	for _, p := range llm.Providers.Names() {
		out = append(out, p+":")
	}
	return out
}

// settings returns the keys that --set takes, such as limits.calls=, and the values of those with a list of values.
func settings() (out []string) {
	r := plan.NewReference()
	var walk func(prefix string, fields []param.Field)
	walk = func(prefix string, fields []param.Field) {
		for _, f := range fields {
			switch {
			case f.Type == "table" && f.Fields != nil:
				walk(prefix+f.Key+".", f.Fields)
			case len(f.Enum) > 0:
				for _, v := range f.Enum {
					out = append(out, prefix+f.Key+"="+v)
				}
			case f.Type != "table" && f.Type != "list":
				out = append(out, prefix+f.Key+"=")
			}
		}
	}
	walk("", r.Keys)
	for _, p := range r.Protocols {
		out = append(out, "protocol.name="+p.Name)
		walk("protocol.", p.Fields)
	}
	for _, g := range r.Graphs {
		out = append(out, "graph.family="+g.Name)
		walk("graph.", g.Fields)
	}
	walk("graph.", r.Changing)
	slices.Sort(out)
	return slices.Compact(out)
}
