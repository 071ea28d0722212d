package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

func (a *app) cacheDir() string { return filepath.Join(a.dirs.cache, "replies") }

func cacheCommand(a *app) *cobra.Command {
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

func cacheShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print how many replies the cache holds", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			use, err := llm.ReadCache(a.cacheDir())
			if err != nil {
				return fail(exitError1, err)
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), struct {
					Version int    `json:"version"`
					Folder  string `json:"folder"`
					llm.CacheUse
				}{1, a.cacheDir(), use})
			}
			line := fmt.Sprintf("%s, %s in %s", many(use.Replies, "reply", "replies"), size(use.Bytes), a.cacheDir())
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

func cacheClear(a *app) *cobra.Command {
	var older string
	cmd := &cobra.Command{
		Use: "clear", Short: "Remove replies from the cache", Args: cobra.NoArgs,
		Example: "  synod cache clear\n  synod cache clear --older 30d",
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := age(older)
			if err != nil {
				return fail(exitUsage, err)
			}
			gone, err := llm.ClearCache(a.cacheDir(), age)
			if err != nil {
				return fail(exitError1, err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s, %s\n", many(gone.Replies, "reply", "replies"), size(gone.Bytes))
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

// many formats a number of things.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
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

// caches reports whether a member of a council keeps its replies.
func caches(spec plan.Spec) bool {
	for _, s := range spec.Seats {
		if on, _ := spec.Models[s.Model]["cache"].(bool); on {
			return true
		}
	}
	return false
}

// cacheText identifies a question to a council: all that its prompts depend on, and not
// its limits.
func cacheText(ask council.Ask, spec plan.Spec) string {
	spec.Limits, spec.Breakers = plan.Limits{}, plan.Breakers{}
	parts := []string{fmt.Sprint(spec), ask.Question.Text, string(ask.Question.Form), fmt.Sprint(ask.Question.Options)}
	if !ask.Question.Plain() {
		whole, _ := json.Marshal(ask.Question) // it fails only for a schema that is not JSON, which is refused later
		parts = append(parts, string(whole))
	}
	return strings.Join(parts, "\x00")
}
