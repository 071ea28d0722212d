package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/cli"
	"synod.dev/synod/table"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// keysCommand makes, lists and revokes API keys. The gateway may run meanwhile.
func keysCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Make, list and revoke API keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("give new, list or revoke (example: synod serve keys new alice --usd-day 5)")}
		}}
	cmd.AddCommand(keysNew(f), keysList(f), keysRevoke(f))
	return cmd
}

// withStore opens the store for a command.
func (f *flags) withStore(cmd *cobra.Command, do func(*store.Store) error) error {
	home, err := cli.NewHome(f.home, f.prices)
	if err != nil {
		return usageError{err}
	}
	if err := f.configure(cmd.Flags(), home.Config()); err != nil {
		return usageError{err}
	}
	url := f.storeURL(filepath.Join(home.State(), "serve"))
	st, err := store.Open(cmd.Context(), url, "")
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

func keysNew(f *flags) *cobra.Command {
	var k store.Key
	var usd float64
	cmd := &cobra.Command{Use: "new NAME", Short: "Make a key and print it; it cannot be printed again",
		Example: "  synod serve keys new alice --usd-day 5 --rpm 60 --councils seven,three", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(usd >= 0 && usd <= 1e9) {
				return usageError{fmt.Errorf("--usd-day is %v; it must be between 0 and 1000000000", usd)}
			}
			k.Name, k.PerDay = args[0], store.USD(usd)
			return f.withStore(cmd, func(st *store.Store) error {
				secret, made, err := st.NewKey(k)
				if err != nil {
					return usageError{err}
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "key %s (%s), %s; only its hash is kept, so store it now:\n", made.Name,
					made.ID, limits(&made))
				fmt.Fprintln(cmd.OutOrStdout(), secret)
				return nil
			})
		}}
	fl := cmd.Flags()
	fl.Float64Var(&usd, "usd-day", 0, "USD that it may spend a day (UTC); models must have prices; 0: no limit")
	fl.IntVar(&k.PerMinute, "rpm", 0, "requests a minute; 0: no limit")
	fl.StringSliceVar(&k.Councils, "councils", nil, "model `ids` that it may use, such as seven,solo:strong "+
		"(default: all)")
	fl.BoolVar(&k.Admin, "admin", false, "it may change council files and see the lab on the page; councils decide "+
		"to which servers the gateway sends the keys of its environment")
	return cmd
}

// limits describes the limits of a key.
func limits(k *store.Key) string {
	var all []string
	if k.PerDay > 0 {
		all = append(all, fmt.Sprintf("$%g a day", k.PerDay.USD()))
	}
	if k.PerMinute > 0 {
		all = append(all, fmt.Sprintf("%d requests a minute", k.PerMinute))
	}
	if len(k.Councils) > 0 {
		all = append(all, "models "+strings.Join(k.Councils, ", "))
	}
	if k.Admin {
		all = append(all, "admin")
	}
	if len(all) == 0 {
		return "no limit"
	}
	return strings.Join(all, ", ")
}

func keysList(f *flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the keys with their limits and what they spent today",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd, func(st *store.Store) error {
				keys, err := st.Keys(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return keysJSON(cmd, keys)
				}
				t := table.Table{Head: []string{"NAME", "ID", "LIMITS", "SPENT TODAY", "RESERVED", "LAST USED",
					"STATE"}}
				for _, k := range keys {
					state := "valid"
					if !k.Revoked.IsZero() {
						state = "revoked " + k.Revoked.UTC().Format(time.DateOnly)
					}
					t.Add(k.Name, k.ID, limits(&k), fmt.Sprintf("$%.4f", k.Today.USD()),
						fmt.Sprintf("$%.4f", k.Reserved.USD()), moment(k.Used), state)
				}
				return t.Write(cmd.OutOrStdout(), "text")
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func keysJSON(cmd *cobra.Command, keys []store.Key) error {
	type row struct {
		Name     string   `json:"name"`
		ID       string   `json:"id"`
		USDDay   float64  `json:"usd_day"` // 0: no limit
		RPM      int      `json:"rpm"`
		Councils []string `json:"councils"`
		Today    float64  `json:"usd_today"`
		Reserved float64  `json:"usd_reserved"`
		Created  string   `json:"created"`
		Used     string   `json:"used"`
		Revoked  bool     `json:"revoked"`
		Admin    bool     `json:"admin"`
	}
	rows := []row{}
	for _, k := range keys {
		rows = append(rows, row{k.Name, k.ID, k.PerDay.USD(), k.PerMinute, append([]string{}, k.Councils...),
			k.Today.USD(), k.Reserved.USD(), moment(k.Created), moment(k.Used), !k.Revoked.IsZero(),
			k.Admin})
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"version": 1, "keys": rows})
}

func keysRevoke(f *flags) *cobra.Command {
	return &cobra.Command{Use: "revoke NAME", Short: "Revoke a key, at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withStore(cmd, func(st *store.Store) error {
				if err := st.Revoke(args[0]); err != nil {
					return usageError{err}
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "the key %s is revoked; requests that have begun may finish\n", args[0])
				return nil
			})
		}}
}
