package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/internal/program"
	"synod.dev/synod/network/node"
)

// controlCommands are the commands that ask a node that runs on this machine.
func controlCommands() []*cobra.Command {
	var dir string
	var asJSON bool
	var lines int
	commands := []*cobra.Command{
		{Use: "status", Short: "Show what a node does", RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(showStatus(cmd, dir, asJSON, false))
		}},
		{Use: "peers", Short: "Show a node's neighbours", RunE: func(cmd *cobra.Command, _ []string) error {
			return failed(showStatus(cmd, dir, asJSON, true))
		}},
		{Use: "evidence", Short: "List the proofs of equivocation that a node has",
			RunE: func(cmd *cobra.Command, _ []string) error { return failed(showEvidence(cmd, dir, asJSON)) }},
		{Use: "logs", Short: "Print the last lines of a node's log",
			RunE: func(cmd *cobra.Command, _ []string) error {
				return failed(showLogs(cmd.OutOrStdout(), dir, lines))
			}},
		{Use: "drain", Short: "Make a node take no new question, and end when its runs have ended",
			RunE: func(cmd *cobra.Command, _ []string) error {
				var s node.Status
				if err := request(dir, http.MethodPost, "/drain", &s); err != nil {
					return failed(err)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "seat %s drains; it ends when its runs have ended\n", s.Seat)
				return nil
			}},
	}
	next := nodeRoster()
	next.Flags().StringVar(&dir, "dir", ".", "the node's `folder`")
	next.RunE = func(cmd *cobra.Command, args []string) error { return failed(goOver(cmd, dir, args)) }
	for _, c := range commands {
		c.Args = cobra.NoArgs
		c.Flags().StringVar(&dir, "dir", ".", "the node's `folder`")
		if c.Use != "logs" && c.Use != "drain" {
			c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
		}
		if c.Use == "logs" {
			c.Flags().IntVarP(&lines, "lines", "n", 20, "number of lines")
		}
	}
	return append(commands, next)
}

// request asks the node of a folder.
func request(dir, method, path string, into any) error {
	return requestWith(dir, method, path, nil, into)
}

// requestWith is request with a body.
func requestWith(dir, method, path string, body io.Reader, into any) error {
	socket := filepath.Join(dir, node.Socket)
	c := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	r, err := http.NewRequest(method, "http://node"+path, body)
	if err != nil {
		return err
	}
	resp, err := c.Do(r)
	if err != nil {
		return fmt.Errorf("no node answers in the folder %s: %w; name its folder with --dir", dir, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the node replies: %s", strings.TrimSpace(string(b)))
	}
	return json.Unmarshal(b, into)
}

func showStatus(cmd *cobra.Command, dir string, asJSON, peers bool) error {
	var s node.Status
	if err := request(dir, http.MethodGet, "/status", &s); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch {
	case asJSON && peers:
		return printJSON(out, s.Peers)
	case asJSON:
		return printJSON(out, s)
	}
	if !peers {
		showNode(out, &s)
	}
	for _, p := range s.Peers {
		state := "not connected: " + p.Trouble
		if p.Connected {
			state = fmt.Sprintf("connected, clock %+.1f ms, delay %.2f ms", p.OffsetMS, p.DelayMS)
			if p.Relay != "" {
				state += ", through the relay " + p.Relay
			}
		}
		fmt.Fprintf(out, "  %-8s %s%s\n", p.ID, program.Printable(state), serialsOf(&s, &p))
	}
	if peers {
		return nil
	}
	for _, r := range s.Runs {
		state := "plays"
		if r.Stopped != "" {
			state = "ended: " + r.Stopped
		}
		fmt.Fprintf(out, "  run %.12s %s, round %d, tick %d, answer %s, %d calls (%s)\n", r.Run, r.Form, r.Round,
			r.Tick, program.Printable(string(r.Answer)), r.Calls, state)
	}
	return nil
}

// serialsOf says on which rosters a neighbour is, if the node plays several, or if the neighbour is not on that in
// force.
func serialsOf(s *node.Status, p *node.PeerStatus) string {
	inForce := len(s.Rosters) == 0 || slices.Contains(p.Serials, s.Rosters[len(s.Rosters)-1].Serial)
	switch {
	case len(s.Rosters) < 2 && (inForce || len(p.Serials) == 0):
		return ""
	case len(p.Serials) == 0:
		return ", on none of these rosters"
	}
	var all []string
	for _, serial := range p.Serials {
		all = append(all, fmt.Sprint(serial))
	}
	text := ", on roster " + strings.Join(all, " and ")
	if !inForce {
		text += ", not on that in force"
	}
	return text
}

// showRosters prints the rosters that a node plays, if there are several.
func showRosters(out io.Writer, s *node.Status) {
	if len(s.Rosters) < 2 {
		return
	}
	for _, r := range s.Rosters {
		state := "in force"
		switch {
		case r.Ended:
			state = "takes no question any more"
		case !r.Until.IsZero():
			state = "replaced, takes questions until " + r.Until.Format(time.RFC3339)
		case r.Seat == "":
			state = "in force, and has no seat for this node"
		}
		fmt.Fprintf(out, "roster %.16s serial %d: %s; %d runs\n", r.Hash, r.Serial, state, r.Playing)
	}
}

// showNode prints what a node says of itself.
func showNode(out io.Writer, s *node.Status) {
	fmt.Fprintf(out, "seat %s of %s, roster %.16s serial %d, listening on %s, up %v\n", s.Seat, s.Council, s.Roster,
		s.Serial, s.Listen, time.Duration(s.Up*float64(time.Second)).Round(time.Second))
	showRosters(out, s)
	fmt.Fprintf(out, "member: %s (%s)\n", program.Printable(s.Model), s.Kind)
	fmt.Fprintf(out, "today: %d calls, %d tokens; runs %d, resumed %d, declined %d, refused values %d, "+
		"equivocations seen %d\n", s.Today.Calls, s.Today.Tokens, s.Stats.Runs, s.Stats.Resumed, s.Stats.Declined,
		s.Stats.Refused, s.Stats.Equivocations)
	if l := s.Ledger; l != nil {
		fmt.Fprintf(out, "ledger: %s, %d entries, root %.16x, %d pending\n", l.Kind, l.Entries, l.Root, l.Pending)
		if l.Trouble != "" {
			fmt.Fprintln(out, "  it takes nothing now:", program.Printable(l.Trouble))
		}
	}
	if s.Draining {
		fmt.Fprintln(out, "the node drains: it takes no new question")
	}
	if s.Skewed {
		fmt.Fprintln(out, "ALARM: this clock differs from most neighbours'; the node takes part in no new run")
	}
	for _, run := range s.Older {
		fmt.Fprintf(out, "ALARM: this folder is older than what its key has signed in the run %.12s: the node "+
			"signs nothing more in it.\n  If the folder was restored from a backup, leave the node running: it "+
			"plays new questions.\n  If another process has this key, end it, and make a new key and a new "+
			"roster.\n", program.Printable(run))
	}
}

func showEvidence(cmd *cobra.Command, dir string, asJSON bool) error {
	var all []node.EvidenceStatus
	if err := request(dir, http.MethodGet, "/evidence", &all); err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), all)
	}
	for _, e := range all {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", program.Printable(e.Member),
			program.Printable(strings.Join(e.Proved, "; ")))
		fmt.Fprintf(cmd.OutOrStdout(), "  verify it: synod operate evidence verify %s\n", e.File)
	}
	if len(all) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "no member was proved to have signed two values for one slot")
	}
	return nil
}

func showLogs(w io.Writer, dir string, lines int) error {
	f, err := os.Open(filepath.Join(dir, node.LogFile))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	const most = 1 << 20
	if _, err := f.Seek(max(info.Size()-most, 0), io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	all := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	_, err = fmt.Fprintln(w, program.Printable(strings.Join(all[max(len(all)-lines, 0):], "\n")))
	return err
}

// serveDebug serves metrics and profiles on a loopback address.
func serveDebug(ctx context.Context, h *node.Host, address string, stderr io.Writer) error {
	l, err := listenLoopback(address)
	if err != nil {
		return fmt.Errorf("--debug: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		s := h.Status()
		io.WriteString(w, s.Metrics())
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	node.Serve(ctx, l, hostChecked(l.Addr().String(), mux))
	fmt.Fprintf(stderr, "metrics on http://%s/metrics\n", l.Addr())
	return nil
}

// listenLoopback listens, but only where no other machine can connect.
func listenLoopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address such as 127.0.0.1:9400", address)
	}
	return net.Listen("tcp", address)
}

// hostChecked refuses requests for another host: a page in a browser must not reach the server under
// a name of its own (DNS rebinding).
func hostChecked(address string, h http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != address && r.Host != "localhost:"+port {
			http.Error(w, "unknown host", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}
