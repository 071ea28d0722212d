package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/terms"
)

// nodeRoster is "synod node roster". Its flag --dir and its work come from controlCommands.
func nodeRoster() *cobra.Command {
	cmd := &cobra.Command{Use: "roster [NEXT]", Short: "Make a running node go over to the next roster",
		Args: cobra.MaximumNArgs(1),
		Long: "The node plays the roster in the file NEXT from now on. Until the time of --until it also takes " +
			"questions under\nthe roster that it has played, and it finishes them. It goes on with the new " +
			"roster after a " +
			"restart.\nThe roster must replace the one in force: a quorum of its members have signed it.",
		Example: `  synod node roster next.roster --dir a1                                # an hour from now the old one ends
  synod node roster next.roster --dir a1 --until 2030-01-02T15:00:00Z
  synod node roster --end-old --dir a1                                  # the old one ends now`}
	cmd.Flags().String("until", "1h", "until when questions under the old roster are taken: a `time`, or how long")
	cmd.Flags().Bool("end-old", false, "take no more questions under the rosters that were replaced")
	return cmd
}

// goOver gives the next roster to the node of a folder, or ends the old ones.
func goOver(cmd *cobra.Command, dir string, args []string) error {
	var s node.Status
	end, err := cmd.Flags().GetBool("end-old")
	switch {
	case err != nil:
		return err
	case end == (len(args) > 0):
		return errors.New("give the file of the next roster, or --end-old")
	case end:
		if err := request(dir, http.MethodPost, "/end-old", &s); err != nil {
			return err
		}
		showRosters(cmd.ErrOrStderr(), &s)
		return nil
	}
	next, err := readRoster(args[0])
	if err != nil {
		return err
	}
	p, err := terms.Plan(next.Roster)
	if err == nil {
		err = terms.CheckClaim(p, next.Roster)
	}
	if err != nil {
		return err
	}
	text, err := cmd.Flags().GetString("until")
	if err != nil {
		return err
	}
	until, err := untilOf(text, time.Now())
	if err != nil {
		return err
	}
	path := "/roster?until=" + url.QueryEscape(until.Format(time.RFC3339Nano))
	if err := requestWith(dir, http.MethodPost, path, bytes.NewReader(next.File()), &s); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the node plays roster %.16s, serial %d\n", next.HexHash(), next.Serial)
	showRosters(cmd.ErrOrStderr(), &s)
	return nil
}

// untilOf reads a time, or how long from now.
func untilOf(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("--until is %.40q; it must be how long, such as 1h, or a time, such as "+
			"2030-01-02T15:04:05Z",
			text)
	}
	return t, nil
}
