package operate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/llm"
)

// CacheCommand is "synod cache".
func CacheCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show or clear the cache of replies",
		Long: `Models with "cache: true" in a council file keep their replies on disk. A question that is asked
again of the same council, without --seed, is answered from there. Replies are kept
until they are cleared.`,
	}
	cmd.AddCommand(cacheShow(a), cacheClear(a))
	return cmd
}

func cacheShow(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print how many replies the cache holds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			use, err := llm.ReadCache(a.CacheDir())
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), struct {
					Version int    `json:"version"`
					Folder  string `json:"folder"`
					llm.CacheUse
				}{1, a.CacheDir(), use})
			}
			line := fmt.Sprintf("%s, %s in %s", app.Many(use.Replies, "reply", "replies"), size(use.Bytes),
				a.CacheDir())
			if use.Replies > 0 {
				line += fmt.Sprintf(", the oldest of %s", use.Oldest.Format(time.DateOnly))
			}
			fmt.Fprintln(cmd.OutOrStdout(), line)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func cacheClear(a *app.App) *cobra.Command {
	var older string
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove replies from the cache", Args: cobra.NoArgs,
		Example: "  synod cache clear\n  synod cache clear --older 30d",
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := age(older)
			if err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			gone, err := llm.ClearCache(a.CacheDir(), age)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s, %s\n", app.Many(gone.Replies, "reply", "replies"),
				size(gone.Bytes))
			return nil
		},
	}
	cmd.Flags().StringVar(&older, "older", "0d", "remove only what is older than this `age`, such as 30d or 12h")
	return cmd
}

// age reads an age such as 30d, 2w or 12h.
func age(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	d, err := time.ParseDuration(text)
	if n := len(text); n > 1 && units[text[n-1]] > 0 {
		var days float64
		days, err = strconv.ParseFloat(text[:n-1], 64)
		d = time.Duration(days * float64(units[text[n-1]]))
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("--older is %q; it must be an age such as 30d, 2w or 12h", text)
	}
	return d, nil
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
