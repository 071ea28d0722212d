package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/table"
	"synod.dev/synod/council/trust"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// labelsCommand shows and withdraws what keys have said about answers. The gateway may run meanwhile.
func labelsCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "labels", Short: "List and withdraw what keys said about answers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("give list, export or withdraw (example: synod serve labels withdraw alice)")}
		}}
	cmd.AddCommand(labelsList(f), labelsExport(f), labelsWithdraw(f))
	return cmd
}

// labelled counts the labels of a key for a council.
type labelled struct {
	key, model      string
	right, wrong, n int
	last            time.Time
	stated, found   int     // decisions with a probability, and how many of them were right
	predicted       float64 // the sum of these probabilities
}

func labelsList(f *flags) *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List by key and council how many answers were labelled",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd, func(st *store.Store) error {
				labels, err := st.Labels(cmd.Context(), "")
				if err != nil {
					return err
				}
				names, err := keyNames(cmd, st)
				if err != nil {
					return err
				}
				t := table.Table{Head: []string{"KEY", "COUNCIL", "LABELS", "RIGHT", "NOT RIGHT", "PREDICTED RIGHT",
					"LAST"}}
				for _, c := range countLabels(labels) {
					predicted := "-"
					if c.stated > 0 {
						predicted = fmt.Sprintf("%.1f of %d, and %d were", c.predicted, c.stated, c.found)
					}
					t.Add(cmp.Or(names[c.key], c.key, "owner"), c.model, fmt.Sprint(c.n), fmt.Sprint(c.right),
						fmt.Sprint(c.wrong), predicted, moment(c.last))
				}
				return t.Write(cmd.OutOrStdout(), "text")
			})
		}}
}

func labelsExport(f *flags) *cobra.Command {
	return &cobra.Command{Use: "export COUNCIL", Short: "Print the labels of a council as lines of JSON",
		Long: "Print the labels of a council as JSON, one a line, the oldest first: the run, a hash of the question, " +
			"the id of the key, whether the answer was right, and the probability that was stated of it. synod " +
			"calibrate show --feedback FILE compares them.",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return f.withStore(cmd, func(st *store.Store) error {
				marks, err := st.Marks(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if len(marks) == 0 || args[0] == "" {
					return usageError{fmt.Errorf("the council %q has no labels; synod serve labels list shows which "+
						"have", args[0])}
				}
				return trust.WriteMarks(cmd.OutOrStdout(), marks)
			})
		}}
}

// countLabels counts labels by key and council.
func countLabels(labels []store.Label) (all []*labelled) {
	for _, l := range labels {
		i := slices.IndexFunc(all, func(c *labelled) bool { return c.key == l.Key && c.model == l.Model })
		if i < 0 {
			i, all = len(all), append(all, &labelled{key: l.Key, model: l.Model})
		}
		c := all[i]
		c.n, c.last = c.n+1, l.At
		if l.Correct {
			c.right++
		} else {
			c.wrong++
		}
		if l.Predicted >= 0 {
			c.stated, c.predicted = c.stated+1, c.predicted+l.Predicted
			if l.Correct {
				c.found++
			}
		}
	}
	return all
}

func keyNames(cmd *cobra.Command, st *store.Store) (map[string]string, error) {
	keys, err := st.Keys(cmd.Context())
	names := map[string]string{}
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	return names, err
}

func labelsWithdraw(f *flags) *cobra.Command {
	return &cobra.Command{Use: "withdraw KEY", Short: "Withdraw all labels of a key, also of a revoked one",
		Long: "Withdraw all labels of a key, also of a revoked one. Probabilities are then as if the key had said " +
			"nothing. \"owner\" is who uses a gateway that needs no key.",
		Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return f.withStore(cmd, func(st *store.Store) error {
				key, err := keyOf(cmd, st, args[0])
				if args[0] == "owner" && err != nil {
					key, err = new(string), nil
				}
				if err == nil && key == nil {
					err = usageError{errors.New("the name of the key is empty")}
				}
				if err != nil {
					return err
				}
				n, err := st.Unlabel(*key, "")
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "%s withdrawn; gateways that run know it within a second\n",
					many(int(n), "label"))
				return nil
			})
		}}
}
