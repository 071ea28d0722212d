package ask

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// priced opens a council. Where a limit in money needs a price that is not known, somebody at a terminal is asked
// for it.
func priced(a *app.App, cmd *cobra.Command, spec plan.Spec, env *llm.Env) (*council.Council, error) {
	c, err := council.Convene(spec, *env)
	var e *council.PriceError
	in, ok := cmd.InOrStdin().(*os.File)
	if !errors.As(err, &e) || !ok || !a.OnTerminal(cmd) || !app.IsTerminal(in) {
		return c, err
	}
	table, text, err := askPrices(bufio.NewReader(in), cmd.ErrOrStderr(), e.Models)
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	a.Prices = append(table, priceTable(a)...)
	env.Prices = a.Prices
	path := filepath.Join(a.Dirs.Config, "prices.yaml")
	if err := os.MkdirAll(a.Dirs.Config, 0o700); err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	if err := app.WriteNew(path, "prices:\n"+text, false); err != nil { // there is one already
		a.Say(cmd, "for the next time, add this to "+path+":\n"+strings.TrimSuffix(text, "\n"))
	} else {
		a.Say(cmd, path+" is written")
	}
	return council.Convene(spec, *env)
}

// priceTable is the price table of the command.
func priceTable(a *app.App) llm.Prices {
	if a.Prices == nil {
		return llm.Published()
	}
	return a.Prices
}

// askPrices asks for the prices of models, and returns them with their lines of a price file.
func askPrices(in *bufio.Reader, w io.Writer, models []outcome.Unpriced) (table llm.Prices, lines string, err error) {
	for _, m := range models {
		fmt.Fprintf(w, "limits.usd needs the price of %s at %s, in US dollars for a million tokens.\n",
			app.OneLine(m.Served), app.OneLine(m.Server))
		var usd [2]float64
		var written [2]string
		for i, of := range []string{"prompt", "reply"} {
			fmt.Fprintf(w, "tokens of the %s, such as 2.50: ", of)
			line, _ := in.ReadString('\n') // an input that ends is no price
			written[i] = strings.TrimSpace(line)
			if usd[i], err = strconv.ParseFloat(written[i], 64); err != nil || !(usd[i] >= 0 && usd[i] <= 1e6) {
				return nil, "", fmt.Errorf("%q is no price; it must be a number of US dollars, such as 2.50",
					written[i])
			}
		}
		table = append(table, llm.Tariff{Server: m.Server, Model: m.Served,
			Price: llm.Price{Prompt: usd[0], Completion: usd[1]}})
		lines += m.Row(written[0], written[1]) + "\n"
	}
	return table, lines, nil
}

// nameUnpriced prints once for each model without a price the line that sets it. The state folder remembers which.
func nameUnpriced(a *app.App, w io.Writer, o *outcome.Outcome) {
	path := filepath.Join(a.Dirs.State, "unpriced")
	known, _ := os.ReadFile(path) // it need not exist
	said := strings.Split(string(known), "\n")
	var lines []string
	for _, u := range o.Unpriced(priceTable(a)) {
		if key := u.Server + " " + u.Served; !slices.Contains(said, key) {
			said = append(said, key)
			lines = append(lines, "  "+app.OneLine(u.Line()))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "To see the cost, write the price of a million tokens into this file:\n  %s\n  prices:\n%s\n",
		filepath.Join(a.Dirs.Config, "prices.yaml"), strings.Join(lines, "\n"))
	if os.MkdirAll(a.Dirs.State, 0o700) == nil { // else it is said again
		_ = os.WriteFile(path, []byte(strings.Join(said, "\n")), 0o600)
	}
}
