package bench

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
)

// convertHint says what to get and how to convert it.
func convertHint(c task.Conversion) string {
	return fmt.Sprintf("get %s and run: synod data convert %s PATH… -o FOLDER\nThen pass --data FOLDER to synod "+
		"bench run",
		c.Input, c.Name)
}

// promptsHint says what to get and how to make prompts of it.
func promptsHint(s task.PromptSet) string {
	if !s.Made() {
		return s.About
	}
	return fmt.Sprintf("get %s and run: synod data convert %s FILE… -o FOLDER\nThen pass --set prompts=FOLDER/%s",
		s.Input, s.Name, s.Name)
}

func dataConvert(a *app.App) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "convert LAYOUT PATH… -o FOLDER",
		Short: "Convert published questions, replies or prompts into files",
		Long: `Reads files in the layout in which a paper or a benchmark publishes them and writes a
file that --data FOLDER finds. Nothing is fetched. Without arguments the layouts are
listed with what to get, where, and under which licence.

Prompts of the papers' published code become templates in FOLDER/prompts, for
--set prompts=FOLDER/prompts/NAME.

The items of the SAC paper are found by the digests of their texts, so a changed text
is not taken. Exit codes: 0 converted · 1 a file cannot be read or lacks items · 2
usage.`,
		Example: `  synod data convert
  synod data convert sac-math MATH.tar -o data
  synod data convert sac-commonsense commonsense_170k.json -o data
  synod data convert traces/cp-wbft Byzantine-Fault-Tolerance-in-LLM-MAS/data/byzantine gsm8k-test.jsonl -o data
  synod bench run cpwbft-table2 --members recorded --data data`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listLayouts(cmd)
			}
			if s, err := task.PromptSets.Find(args[0]); err == nil {
				return promptsConvert(a, cmd, s, args[1:], folder)
			}
			c, err := task.Conversions.Find(args[0])
			if err != nil {
				return app.Fail(app.ExitUsage, err, "list layouts with: synod data convert")
			}
			if len(args) < 2 || folder == "" {
				return app.Fail(app.ExitUsage, fmt.Errorf("%s needs what to convert and -o FOLDER", c.Name),
					convertHint(c))
			}
			return convertData(a, cmd, c, args[1:], folder)
		},
	}
	cmd.Flags().StringVarP(&folder, "out", "o", "", "`folder` of data that gets the file")
	return cmd
}

// convertData makes the file of a conversion. An existing file is replaced only after the new one is complete.
func convertData(a *app.App, cmd *cobra.Command, c task.Conversion, in []string, folder string) error {
	made, note, err := c.Make(in)
	if err != nil {
		return app.Fail(app.ExitFailure, err, convertHint(c))
	}
	to := filepath.Join(folder, filepath.FromSlash(c.File))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := os.WriteFile(to+".new", made, 0o644); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if note != "" {
		a.Say(cmd, "note: "+note)
	}
	fmt.Fprintln(cmd.OutOrStdout(), to)
	return nil
}

// promptsConvert makes the templates of a set of prompts.
func promptsConvert(a *app.App, cmd *cobra.Command, s task.PromptSet, in []string, folder string) error {
	if len(in) == 0 || folder == "" {
		return app.Fail(app.ExitUsage, fmt.Errorf("%s needs what to convert and -o FOLDER", s.Name), promptsHint(s))
	}
	to := filepath.Join(folder, s.Folder())
	note, err := s.Convert(in, to)
	if err != nil {
		return app.Fail(app.ExitFailure, err, promptsHint(s))
	}
	if note != "" {
		a.Say(cmd, "note: "+note)
	}
	fmt.Fprintln(cmd.OutOrStdout(), to)
	return nil
}

// listLayouts prints what can be converted.
func listLayouts(cmd *cobra.Command) error {
	for i, c := range task.Conversions.All() {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		pull := ""
		if len(c.From) > 0 {
			pull = "\n  or     synod data pull " + c.Name
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n  give   %s\n  makes  %s\n  from   %s%s\n", c.Name, c.Summary, c.Input,
			c.File, c.About, pull)
	}
	for _, s := range task.PromptSets.All() {
		pull := ""
		if s.From.URL != "" {
			pull = "\n  or     synod data pull " + s.Name
		}
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s\n  give   %s\n  makes  %s/*/*.tmpl\n  from   %s%s\n", s.Name,
			s.Summary, s.Input, s.Name, s.About, pull)
	}
	return nil
}
