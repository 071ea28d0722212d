package cli

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

	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// priced opens a council. Where a limit in money needs a price that is not known, somebody at a terminal is asked
// for it.
func (a *app) priced(cmd *cobra.Command, spec plan.Spec, env *llm.Env) (*council.Council, error) {
	c, err := council.Convene(spec, *env)
	var e *council.PriceError
	in, ok := cmd.InOrStdin().(*os.File)
	if !errors.As(err, &e) || !ok || !a.onTerminal(cmd) || !isTerminal(in) {
		return c, err
	}
	table, text, err := askPrices(bufio.NewReader(in), cmd.ErrOrStderr(), e.Models)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	a.prices = append(table, a.table()...)
	env.Prices = a.prices
	path := filepath.Join(a.dirs.config, "prices.yaml")
	if err := os.MkdirAll(a.dirs.config, 0o700); err != nil {
		return nil, fail(exitError1, err)
	}
	if err := writeNew(path, "prices:\n"+text, false); err != nil { // there is one already
		a.say(cmd, "for the next time, add this to "+path+":\n"+strings.TrimSuffix(text, "\n"))
	} else {
		a.say(cmd, path+" is written")
	}
	return council.Convene(spec, *env)
}

// table is the price table of the command.
func (a *app) table() llm.Prices {
	if a.prices == nil {
		return llm.Published()
	}
	return a.prices
}

// askPrices asks for the prices of models, and returns them with their lines of a price file.
func askPrices(in *bufio.Reader, w io.Writer, models []counciloutcome.Unpriced) (table llm.Prices, lines string,
	err error) {
	for _, m := range models {
		fmt.Fprintf(w, "limits.usd needs the price of %s at %s, in US dollars for a million tokens.\n",
			oneLine(m.Served), oneLine(m.Server))
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
func (a *app) nameUnpriced(w io.Writer, o *counciloutcome.Outcome) {
	path := filepath.Join(a.dirs.state, "unpriced")
	known, _ := os.ReadFile(path) // it need not exist
	said := strings.Split(string(known), "\n")
	var lines []string
	for _, u := range o.Unpriced(a.table()) {
		if key := u.Server + " " + u.Served; !slices.Contains(said, key) {
			said = append(said, key)
			lines = append(lines, "  "+oneLine(u.Line()))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(w, "To see the cost, write the price of a million tokens into this file:\n  %s\n  prices:\n%s\n",
		filepath.Join(a.dirs.config, "prices.yaml"), strings.Join(lines, "\n"))
	if os.MkdirAll(a.dirs.state, 0o700) == nil { // else it is said again
		_ = os.WriteFile(path, []byte(strings.Join(said, "\n")), 0o600)
	}
}
