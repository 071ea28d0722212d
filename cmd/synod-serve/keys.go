package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// keysCommand makes, lists, changes and revokes API keys. The gateway may run meanwhile.
func keysCommand(f *flags) *cobra.Command {
	cmd := &cobra.Command{Use: "keys", Short: "Make, list, change and revoke API keys", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{errors.New("give new, list, edit or revoke (example: " +
				"synod serve keys new alice --usd-day 5)")}
		}}
	cmd.AddCommand(keysNew(f), keysList(f), keysEdit(f), keysRevoke(f))
	return cmd
}

// withStore opens the store for a command.
func (f *flags) withStore(cmd *cobra.Command, do func(*store.Store) error) error {
	home, err := app.New(f.home, f.prices)
	if err != nil {
		return usageError{err}
	}
	if err := f.configure(cmd.Flags(), home.Dirs.Config); err != nil {
		return usageError{err}
	}
	url := f.storeURL(filepath.Join(home.Dirs.State, "serve"))
	st, err := store.Open(cmd.Context(), url, "")
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// keyFlags are the flags that say what a key may do.
type keyFlags struct {
	key     store.Key
	usd     float64
	expires string
}

func (kf *keyFlags) add(fl *pflag.FlagSet) {
	fl.Float64Var(&kf.usd, "usd-day", 0, "USD that it may spend a day (UTC); models must have prices; 0: no limit")
	fl.Int64Var(&kf.key.TokensPerDay, "tokens-day", 0, "tokens of prompts and replies of all members that it may use "+
		"a day (UTC); 0: no limit")
	fl.IntVar(&kf.key.PerMinute, "rpm", 0, "requests a minute; 0: no limit")
	fl.StringSliceVar(&kf.key.Councils, "councils", nil, "model `ids` that it may use, such as seven,solo:strong "+
		"(default: all)")
	fl.BoolVar(&kf.key.Admin, "admin", false, "it may change council files and see the lab on the page; councils "+
		"decide to which servers the gateway sends the keys of its environment")
	fl.BoolVar(&kf.key.Label, "label", false, "it may say which answers of its own runs are right; what it says "+
		"changes the probabilities of these councils for everybody")
	fl.StringVar(&kf.key.Owner, "owner", "", "`who` answers for it, such as a name or an address; shown by list")
	fl.StringVar(&kf.expires, "expires", "never", "`when` it stops being valid: after a number of days (90d), at a "+
		"date (2027-01-31, 0:00 UTC), or never")
}

// apply sets in a key what the flags say that were given, and with all also the others.
func (kf *keyFlags) apply(k *store.Key, given *pflag.FlagSet, all bool) error {
	set := func(flag string) bool { return all || given.Changed(flag) }
	if set("usd-day") {
		if !(kf.usd >= 0 && kf.usd <= 1e9) {
			return fmt.Errorf("--usd-day is %v; it must be between 0 and 1000000000", kf.usd)
		}
		k.PerDay = store.USD(kf.usd)
	}
	if set("tokens-day") {
		if n := kf.key.TokensPerDay; n < 0 || n > 1e15 {
			return fmt.Errorf("--tokens-day is %d; it must be between 0 and 1000000000000000", n)
		}
		k.TokensPerDay = kf.key.TokensPerDay
	}
	if set("rpm") {
		k.PerMinute = kf.key.PerMinute
	}
	if set("councils") {
		k.Councils = slices.DeleteFunc(kf.key.Councils, func(c string) bool { return c == "" })
	}
	if set("admin") {
		k.Admin = kf.key.Admin
	}
	if set("label") {
		k.Label = kf.key.Label
	}
	if set("owner") {
		k.Owner = kf.key.Owner
	}
	if set("expires") {
		at, err := expiry(kf.expires, time.Now())
		if err != nil {
			return err
		}
		k.Expires = at
	}
	return nil
}

// anyGiven reports whether a flag was given that says what a key may do.
func anyGiven(given *pflag.FlagSet) (is bool) {
	var own pflag.FlagSet
	(&keyFlags{}).add(&own)
	own.VisitAll(func(f *pflag.Flag) { is = is || given.Changed(f.Name) })
	return is
}

// mostDays bounds the days after which a key expires.
const mostDays = 36500

// expiry reads when a key expires; zero: never.
func expiry(text string, now time.Time) (at time.Time, err error) {
	if text == "never" {
		return at, nil
	}
	if n, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.Atoi(n); err == nil && days > 0 && days <= mostDays {
			return now.Add(time.Duration(days) * 24 * time.Hour), nil
		}
	} else if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	return at, fmt.Errorf("--expires is %q; give a number of days such as 90d, a date such as 2027-01-31, or never",
		text)
}

func keysNew(f *flags) *cobra.Command {
	var kf keyFlags
	cmd := &cobra.Command{Use: "new NAME", Short: "Make a key and print it; it cannot be printed again",
		Example: "  synod serve keys new alice --usd-day 5 --rpm 60 --councils seven,three\n" +
			"  synod serve keys new ci --owner team-search --expires 90d\n" +
			"  synod serve keys new notebook --tokens-day 2000000", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			k := store.Key{Name: args[0]}
			if err := kf.apply(&k, cmd.Flags(), true); err != nil {
				return usageError{err}
			}
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
	kf.add(cmd.Flags())
	return cmd
}

func keysEdit(f *flags) *cobra.Command {
	var kf keyFlags
	cmd := &cobra.Command{Use: "edit NAME", Short: "Change the limits, the owner or the expiry of a key",
		Long: "Change the limits, the owner or the expiry of a key. What no flag names stays as it is. Gateways that " +
			"run keep to it within five seconds; requests that have begun may finish.",
		Example: "  synod serve keys edit alice --usd-day 10 --tokens-day 2000000\n" +
			"  synod serve keys edit alice --councils \"\" --expires never",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !anyGiven(cmd.Flags()) {
				return usageError{errors.New("give what to change (example: " +
					"synod serve keys edit alice --usd-day 10)")}
			}
			if err := kf.apply(&store.Key{}, cmd.Flags(), false); err != nil {
				return usageError{err}
			}
			return f.withStore(cmd, func(st *store.Store) error {
				k, err := st.EditKey(args[0], func(k *store.Key) { _ = kf.apply(k, cmd.Flags(), false) })
				if err != nil {
					return usageError{err}
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "key %s (%s): %s\n", k.Name, k.ID, limits(k))
				return nil
			})
		}}
	kf.add(cmd.Flags())
	return cmd
}

// limits describes the limits of a key.
func limits(k *store.Key) string {
	var all []string
	if k.PerDay > 0 {
		all = append(all, fmt.Sprintf("$%g a day", k.PerDay.USD()))
	}
	if k.TokensPerDay > 0 {
		all = append(all, fmt.Sprintf("%d tokens a day", k.TokensPerDay))
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
	if k.Label {
		all = append(all, "label")
	}
	if !k.Expires.IsZero() {
		all = append(all, "until "+moment(k.Expires))
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
				t := table.Table{Head: []string{"NAME", "OWNER", "ID", "LIMITS", "SPENT TODAY", "RESERVED",
					"TOKENS TODAY", "LAST USED", "STATE"}}
				for _, k := range keys {
					state := "valid"
					switch {
					case !k.Revoked.IsZero():
						state = "revoked " + k.Revoked.UTC().Format(time.DateOnly)
					case k.Expired(time.Now()):
						state = "expired"
					}
					t.Add(k.Name, cmp.Or(k.Owner, "-"), k.ID, limits(&k), fmt.Sprintf("$%.4f", k.Today.USD()),
						fmt.Sprintf("$%.4f", k.Reserved.USD()), fmt.Sprint(k.TokensToday+k.TokensReserved),
						moment(k.Used), state)
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
		Label    bool     `json:"label"`
		Owner    string   `json:"owner"`
		Expires  string   `json:"expires"`
		Expired  bool     `json:"expired"`

		TokensDay      int64 `json:"tokens_day"` // 0: no limit
		TokensToday    int64 `json:"tokens_today"`
		TokensReserved int64 `json:"tokens_reserved"`
	}
	rows := []row{}
	for _, k := range keys {
		rows = append(rows, row{k.Name, k.ID, k.PerDay.USD(), k.PerMinute, append([]string{}, k.Councils...),
			k.Today.USD(), k.Reserved.USD(), moment(k.Created), moment(k.Used), !k.Revoked.IsZero(),
			k.Admin, k.Label, k.Owner, moment(k.Expires), k.Expired(time.Now()), k.TokensPerDay, k.TokensToday,
			k.TokensReserved})
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
