package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/link"
	"synod.dev/synod/llm"
	"synod.dev/synod/node"
	"synod.dev/synod/node/terms"
	"synod.dev/synod/roster"
	"synod.dev/synod/sign"
)

func nodeCommand() *cobra.Command {
	c := &cobra.Command{Use: "node", Short: "Play one seat of a council of several owners as a daemon"}
	c.AddCommand(nodeInit(), nodeKey(), nodeInvite(), nodeJoin(), nodeRun(), nodePrune(), nodePage())
	c.AddCommand(controlCommands()...)
	return c
}

func nodeInit() *cobra.Command {
	var locked bool
	cmd := &cobra.Command{Use: "init [FILE]", Short: "Make a key (default: node.key)", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "node.key"
			if len(args) > 0 {
				path = args[0]
			}
			secret, err := sign.Generate(rand.Reader)
			if err != nil {
				return failed(err)
			}
			var words []byte
			if locked {
				if words, err = passphrase("new passphrase: "); err != nil || len(words) == 0 {
					return failed(errors.Join(err, errors.New("no passphrase was given")))
				}
			}
			if err := keyfile.Create(path, secret, words); err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s has the secret key; keep it to yourself, and out of backups of the "+
				"node's folder\npublic key:\n", path)
			fmt.Fprintf(cmd.OutOrStdout(), "%x\n", secret.PublicKey())
			return nil
		}}
	cmd.Flags().BoolVar(&locked, "passphrase", false,
		"encrypt the key with a passphrase (typed, or in SYNOD_PASSPHRASE)")
	return cmd
}

func nodeKey() *cobra.Command {
	return &cobra.Command{Use: "key FILE", Short: "Print the public key of a key file", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, err := readKey(args[0])
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%x\n", secret.PublicKey())
			return nil
		}}
}

func nodeInvite() *cobra.Command {
	var d drafting
	var out string
	cmd := &cobra.Command{Use: "invite", Short: "Write an invitation to the seats of a council file",
		Args:    cobra.NoArgs,
		Example: "  synod node invite -c council.yaml --caller alice=KEY -o council.invitation",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := d.plan()
			if err != nil {
				return failed(err)
			}
			o, err := d.options()
			if err != nil {
				return failed(err)
			}
			i, err := terms.Invite(p, o)
			if err == nil {
				err = write(out, i.File())
			}
			if err != nil {
				return failed(err)
			}
			var ids []string
			for _, s := range p.Seats() {
				ids = append(ids, s.ID)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s invites to the seats %s; an owner accepts with: synod node join %s "+
				"--seat ID --key FILE --address HOST:PORT\n", out, strings.Join(ids, ", "), out)
			return nil
		}}
	d.add(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "council.invitation", "`file` to write; - is stdout")
	return cmd
}

func nodeJoin() *cobra.Command {
	var seat, key, out string
	var addresses []string
	var yes bool
	cmd := &cobra.Command{Use: "join INVITATION", Short: "Show the rules of an invitation, and accept a seat",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := readInvitation(args[0])
			if err != nil {
				return failed(err)
			}
			if err := showRules(cmd, i, seat); err != nil {
				return failed(err)
			}
			for _, a := range addresses {
				if err := roster.CheckAddress(a); err != nil {
					return failed(err)
				}
			}
			if len(addresses) == 0 {
				return failed(errors.New("give where your node will listen with --address HOST:PORT"))
			}
			secret, err := readKey(key)
			if err != nil {
				return failed(err)
			}
			if err := agree(cmd, yes, "accept the seat "+seat+"?"); err != nil {
				return failed(err)
			}
			if out == "" {
				out = seat + ".join"
			}
			if err := write(out, i.Accept(seat, addresses, secret).File()); err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "accepted; send %s to who invited you\n", out)
			return nil
		}}
	fl := cmd.Flags()
	fl.StringVar(&seat, "seat", "", "`id` of the seat")
	fl.StringVar(&key, "key", "", "your key `file`")
	fl.StringArrayVar(&addresses, "address", nil, "`HOST:PORT` where your node will listen")
	fl.BoolVar(&yes, "yes", false, "accept without asking")
	fl.StringVarP(&out, "out", "o", "", "`file` to write (default: SEAT.join)")
	return cmd
}

func showRules(cmd *cobra.Command, i *terms.Invitation, seat string) error {
	p, err := i.Plan()
	if err != nil {
		return err
	}
	r, err := terms.Draft(p, i.Options())
	if err != nil {
		return err
	}
	var ids []string
	for at, m := range r.Members {
		ids = append(ids, m.ID)
		if m.ID == seat {
			for _, line := range terms.Rules(r, synod.NodeID(at)) {
				fmt.Fprintln(cmd.ErrOrStderr(), "  "+program.Printable(line))
			}
			return nil
		}
	}
	return fmt.Errorf("the invitation has no seat %q; give one with --seat: %s", seat, strings.Join(ids, ", "))
}

// running is the flags of "synod node run".
type running struct {
	roster, previous, key, council, listen, dir, debug string
	caps                                               node.Caps
	forms                                              []string
	dial                                               []string
	relays                                             []string
	prices                                             string
	keep                                               node.Retention
	verbose                                            bool
}

func nodeRun() *cobra.Command {
	var f running
	cmd := &cobra.Command{Use: "run", Short: "Run the node of a seat until it is interrupted", Args: cobra.NoArgs,
		Example: `  synod node run --roster council.roster --key node.key
  synod node run --roster council.roster --key node.key --council mine.yaml --listen 0.0.0.0:7400 --daily-calls 5000`,
		RunE: func(cmd *cobra.Command, _ []string) error { return failed(f.run(cmd)) }}
	fl := cmd.Flags()
	fl.StringVar(&f.roster, "roster", "", "roster `file`, signed by all members")
	fl.StringVar(&f.previous, "previous", "", "roster `file` that it replaces")
	fl.StringVar(&f.key, "key", "", "key `file` of a member")
	fl.StringVar(&f.council, "council", "", "council `file` with the settings of your own model (default: the "+
		"roster's)")
	fl.StringVar(&f.listen, "listen", "", "`HOST:PORT` (default: the first address of the seat in the roster)")
	fl.StringVar(&f.dir, "dir", "", "`folder` of the node's journals and signed slots (default: node-SEAT)")
	fl.StringVar(&f.debug, "debug", "", "serve /metrics and /debug/pprof on this loopback `HOST:PORT`")
	fl.IntVar(&f.caps.Calls, "daily-calls", 0, "model calls of a day (UTC); 0: no limit")
	fl.IntVar(&f.caps.Tokens, "daily-tokens", 0, "tokens of a day; 0: no limit")
	fl.Float64Var(&f.caps.DailyUSD, "daily-usd", 0, "US dollars of a day; 0: no limit")
	fl.StringVar(&f.prices, "prices", "", "`file` with prices of models, as for synod ask")
	fl.Float64Var(&f.caps.USD, "question-usd", 0, "US dollars of one question; 0: no limit but the council's")
	fl.IntVar(&f.caps.Hourly, "hourly-questions", 0, "questions of an hour; 0: no limit")
	fl.IntVar(&f.caps.AtOnce, "at-once", 0, "questions at once (default 16)")
	fl.IntVar(&f.caps.PerCaller, "caller-at-once", 0, "questions at once of one caller (default half of --at-once)")
	fl.IntVar(&f.caps.CallerCalls, "caller-calls", 0, "model calls of a day for one caller (default half of "+
		"--daily-calls)")
	keeping(fl, &f.keep, node.DefaultKeep, node.DefaultKeepBytes)
	fl.IntVar(&f.caps.Question, "max-question", 0, "bytes of a question (default 16384)")
	fl.StringSliceVar(&f.forms, "forms", nil, "forms of questions that the node answers (default: all)")
	fl.StringArrayVar(&f.dial, "dial", nil, "`ID=HOST:PORT` where a neighbour is reached, instead of the roster's "+
		"address")
	fl.StringArrayVar(&f.relays, "relay", nil, "`ID` of a member through which neighbours reach this node, if the "+
		"roster permits relays")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log more")
	return cmd
}

func (f *running) run(cmd *cobra.Command) error {
	c, closeLog, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer closeLog()
	seat, ok := c.Roster.Seat(c.Secret.PublicKey())
	if !ok {
		return fmt.Errorf("no member of the roster has the key %x of %s", c.Secret.PublicKey(), f.key)
	}
	closeTraces, err := traced(cmd.Context(), c, c.Roster.Members[seat].ID)
	if err != nil {
		return fmt.Errorf("traces cannot be sent: %w; see OTEL_EXPORTER_OTLP_ENDPOINT", err)
	}
	defer closeTraces()
	listen, err := f.address(&c.Roster.Members[seat])
	if err != nil {
		return err
	}
	if c.Transport, err = transport(listen, c, f.relays); err != nil {
		return err
	}
	c.Ledger = ledgerOf(c.Roster.Ledger.Kind, c.Dir, c.Secret, int(c.Roster.Within), c.Log)
	n, err := node.Open(*c)
	if err != nil {
		return errors.Join(err, c.Transport.Close())
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	if err := n.Control(ctx, filepath.Join(c.Dir, node.Socket), stop); err != nil {
		return errors.Join(err, c.Transport.Close())
	}
	if f.debug != "" {
		if err := serveDebug(ctx, n, f.debug, cmd.ErrOrStderr()); err != nil {
			return errors.Join(err, c.Transport.Close())
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %s\n", c.Transport.Address())
	return n.Run(ctx)
}

// address returns where the node of a member listens.
func (f *running) address(m *roster.Member) (string, error) {
	switch {
	case f.listen != "":
		return f.listen, nil
	case len(m.Addresses) == 0:
		return "", errors.New("the roster has no address of this seat; give one with --listen HOST:PORT")
	}
	return m.Addresses[0], nil
}

// transport opens the links that the roster names.
func transport(listen string, c *node.Config, relays []string) (link.Transport, error) {
	// a caller has a stream for each of its questions, and one for each certificate
	limits := link.Limits{Reserved: reserved(c.Roster.Roster), Streams: 4 + 2*max(c.Caps.AtOnce, node.DefaultAtOnce)}
	if c.Roster.Links != roster.Libp2p {
		if len(relays) > 0 {
			return nil, errors.New("--relay: the links of the roster are tls, which has no relays")
		}
		return link.Listen(listen, c.Secret.LinkKey(), c.Roster.MayAsk, limits)
	}
	p2p, err := newPeerToPeer(listen, c.Secret, c.Roster.Roster)
	if err != nil {
		return nil, err
	}
	if err := p2p.reserve(relays, c.Log); err != nil {
		return nil, errors.Join(err, p2p.Close())
	}
	next, err := roster.CallerAddress(p2p.Address())
	if err != nil {
		return nil, errors.Join(err, p2p.Close())
	}
	callers, err := link.Listen(next, c.Secret.LinkKey(), c.Roster.MayAsk, limits)
	if err != nil {
		return nil, errors.Join(err, p2p.Close())
	}
	return newBoth(p2p, callers), nil
}

// config reads the files that the flags name.
func (f *running) config(stderr io.Writer) (c *node.Config, closeLog func() error, err error) {
	c = &node.Config{Caps: f.caps, Keep: f.keep, Program: "synod-node", Addresses: map[synod.NodeID][]string{}}
	if c.Roster, err = readAfter(f.roster, f.previous); err != nil {
		return nil, nil, err
	}
	if c.Secret, err = readKey(f.key); err != nil {
		return nil, nil, err
	}
	seat, ok := c.Roster.Seat(c.Secret.PublicKey())
	if !ok {
		return nil, nil, fmt.Errorf("no member of the roster has the key %x of %s", c.Secret.PublicKey(), f.key)
	}
	if c.Dir = f.dir; c.Dir == "" {
		c.Dir = "node-" + filepath.Base(c.Roster.Members[seat].ID)
	}
	if f.prices != "" {
		if c.Env.Prices, err = llm.ReadPrices(f.prices); err != nil {
			return nil, nil, err
		}
	}
	for _, form := range f.forms {
		c.Caps.Forms = append(c.Caps.Forms, synod.Form(form))
	}
	if err := f.neighbours(c); err != nil {
		return nil, nil, err
	}
	if f.council != "" {
		if c.Model, err = ownModel(f.council, c.Roster.Members[seat].ID); err != nil {
			return nil, nil, err
		}
	}
	c.Log, closeLog, err = openLog(c.Dir, stderr, f.verbose)
	return c, closeLog, err
}

func (f *running) neighbours(c *node.Config) error {
	for _, text := range f.dial {
		id, address, ok := strings.Cut(text, "=")
		if err := roster.CheckAddress(address); !ok || err != nil {
			return fmt.Errorf("--dial is %q; it must be ID=HOST:PORT", text)
		}
		found := false
		for i, m := range c.Roster.Members {
			if m.ID == id {
				c.Addresses[synod.NodeID(i)], found = append(c.Addresses[synod.NodeID(i)], address), true
			}
		}
		if !found {
			return fmt.Errorf("--dial: the roster has no member %q", id)
		}
	}
	return nil
}

// ownModel returns the settings of the model of a seat in a council file.
func ownModel(path, seat string) (council.Params, error) {
	spec, err := council.Load(path)
	if err != nil {
		return nil, err
	}
	p, err := council.NewPlan(spec)
	if err != nil {
		return nil, err
	}
	for _, s := range p.Seats() {
		if s.ID == seat {
			return p.Spec().Models[s.Model], nil
		}
	}
	return nil, fmt.Errorf("%s has no seat %q", path, seat)
}

// reserved are the members' addresses that are IP addresses.
func reserved(r *roster.Roster) (all []net.IP) {
	for _, m := range r.Members {
		for _, a := range m.Addresses {
			if host, _, err := net.SplitHostPort(a); err == nil && net.ParseIP(host) != nil {
				all = append(all, net.ParseIP(host))
			}
		}
	}
	return all
}

const maxLog = 16 << 20

// openLog writes the log to the node's folder, as JSON, and to stderr.
func openLog(dir string, stderr io.Writer, verbose bool) (*slog.Logger, func() error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, node.LogFile)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		o.Level = slog.LevelDebug
	}
	return slog.New(slog.NewMultiHandler(slog.NewJSONHandler(f, o), slog.NewTextHandler(stderr, o))), f.Close, nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
