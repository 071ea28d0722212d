// Package bench has the commands that measure councils: runs over tasks, experiments that files describe, attacks, the
// calibration of models, and the data and grades of tasks. Runs and grids are those of package synod.dev/synod/bench.
package bench

import (
	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
)

// Command is "synod bench".
func Command(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure councils: questions, experiments, reports",
		Long: `Asks a council the questions of a task, or runs the experiment of a manifest: a YAML file with
axes, such as protocols, graphs and adversaries, of which every combination is a cell. The
experiments of the papers are such files: synod bench show NAME prints one to copy, and
docs/measure/experiments.md describes the format.

A run is kept in a folder. It can be killed at any time and resumed without asking for a
reply twice. The folder can be moved, and a report needs no model.`,
		Example: `  synod bench run builtin -c council.yaml -n 30 -o runs/first
  synod bench run mine.jsonl -c council.yaml -o runs/mine --dry-run
  synod bench report runs/first --format md
  synod bench show sac-table1 > study.yaml
  synod bench run study.yaml -o runs/study
  synod bench report runs/study --format html -o study.html --plots plots`,
	}
	cmd.AddCommand(runCommand(a), resumeCommand(a), reportCommand(a), compareCommand(a), exportCommand(a),
		statusCommand(), watchCommand(a), figuresCommand(a), archiveCommand(a), powerCommand(a), tapeCommand(a),
		showCommand(), schemaCommand(), hubCommand(a), workerCommand(a))
	return cmd
}

// OldCommand is "synod lab", the name that the commands of experiments had before. It has the same commands.
func OldCommand(a *app.App) *cobra.Command {
	cmd := Command(a)
	cmd.Use, cmd.Hidden = "lab", true
	return cmd
}
