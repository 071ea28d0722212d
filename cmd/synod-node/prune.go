package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod/network/node"
)

// size is a flag of bytes, such as 1GiB.
type size int64

var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// String returns the size in the largest unit that it is a whole number of.
func (s *size) String() string {
	for _, u := range units {
		if *s > 0 && int64(*s)%u.bytes == 0 {
			return strconv.FormatInt(int64(*s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type names the kind of flag in the help.
func (s *size) Type() string { return "size" }

// Set reads a number of bytes with or without a unit.
func (s *size) Set(text string) error {
	unit := int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > 1<<62/unit {
		return fmt.Errorf("give a number of bytes, such as 512MiB or 1GiB")
	}
	*s = size(n * unit)
	return nil
}

// keeping adds the flags of a retention.
func keeping(fl *pflag.FlagSet, k *node.Retention, age time.Duration, bytes int64) {
	k.Bytes = bytes
	fl.DurationVar(&k.Age, "keep", age, "how long journals, records, receipts and proofs of runs are kept; at least "+
		node.MinKeep.String())
	fl.Var((*size)(&k.Bytes), "keep-bytes", "`size` of the journals and records that are kept; the oldest go first")
}

func nodePrune() *cobra.Command {
	var dir string
	var keep node.Retention
	var asJSON bool
	cmd := &cobra.Command{Use: "prune", Short: "Make a node remove old runs now", Args: cobra.NoArgs,
		Long: "Make a node remove the journals, records, receipts and proofs of old runs now. A node does so every " +
			"hour by what it was started with. It refuses for ever to sign in a run that it has removed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{}
			if cmd.Flags().Changed("keep") {
				q.Set("keep", keep.Age.String())
			}
			if cmd.Flags().Changed("keep-bytes") {
				q.Set("bytes", strconv.FormatInt(keep.Bytes, 10))
			}
			var p node.Pruned
			if err := request(dir, http.MethodPost, "/prune?"+q.Encode(), &p); err != nil {
				return failed(err)
			}
			if asJSON {
				return failed(printJSON(cmd.OutOrStdout(), p))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "removed %d runs with %d bytes; left: %d runs with %d bytes\n",
				p.Runs, p.Bytes, p.Left, p.LeftBytes)
			return nil
		}}
	fl := cmd.Flags()
	fl.StringVar(&dir, "dir", ".", "the node's `folder`")
	fl.BoolVar(&asJSON, "json", false, "print JSON")
	keeping(fl, &keep, node.DefaultKeep, node.DefaultKeepBytes)
	for _, name := range []string{"keep", "keep-bytes"} { // what the node was started with holds otherwise
		f := fl.Lookup(name)
		f.DefValue = "as the node was started"
	}
	return cmd
}
