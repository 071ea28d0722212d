package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/keyfile"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node"
	"synod.dev/synod/network/node/form"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
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
	var j joining
	cmd := &cobra.Command{Use: "join LINK|FILE", Short: "Show the rules of an invitation, and accept a seat",
		Args: cobra.ExactArgs(1),
		Long: "LINK is the line of text that synod roster start prints, or a file with it. Then the key is made " +
			"if there is\n" +
			"none, and the command waits until all owners have accepted and signed the roster, which it checks " +
			"and signs too.\n" +
			"FILE is an invitation of synod node invite. Then the command writes the acceptance, which goes back " +
			"by hand.",
		Example: `  synod node join synod-council:hGVz… --address node2.example.org:7400 --run
  synod node join council.invitation --seat a2 --key node.key --address node2.example.org:7400`,
		RunE: func(cmd *cobra.Command, args []string) error { return failed(j.join(cmd, args[0])) }}
	fl := cmd.Flags()
	fl.StringVar(&j.seat, "seat", "", "`id` of the seat (with a link: default the first that is free)")
	fl.StringVar(&j.running.key, "key", "", "your key `file` (with a link: default node.key, made if there is none)")
	fl.StringArrayVar(&j.addresses, "address", nil, "`HOST:PORT` where your node will listen")
	fl.BoolVar(&j.yes, "yes", false, "accept without asking")
	fl.StringVarP(&j.out, "out", "o", "", "`file` to write (default: SEAT.join, with a link council.roster)")
	fl.BoolVar(&j.start, "run", false, "with a link: run the node once the roster is complete")
	fl.StringVar(&j.running.council, "council", "", "council `file` with the settings of your own model")
	j.running.add(cmd)
	j.running.addRelays(cmd)
	return cmd
}

// joinByFile accepts a seat of an invitation in a file.
func (j *joining) joinByFile(cmd *cobra.Command, path string) error {
	i, err := readInvitation(path)
	if err != nil {
		return err
	}
	if err := showRules(cmd, i, j.seat); err != nil {
		return err
	}
	secret, err := readKey(j.running.key)
	if err != nil {
		return err
	}
	if err := agree(cmd, j.yes, "accept the seat "+j.seat+"?"); err != nil {
		return err
	}
	if j.out == "" {
		j.out = j.seat + ".join"
	}
	if err := write(j.out, i.Accept(j.seat, j.addresses, secret).File()); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "accepted; send %s to who invited you\n", j.out)
	return nil
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
	desk                                               *form.Desk // of a founder; nil: none
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
	f.add(cmd)
	f.addRelays(cmd)
	return cmd
}

// add adds the flags that say how a node runs.
func (f *running) add(cmd *cobra.Command) {
	fl := cmd.Flags()
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
	fl.Float64Var(&f.caps.CallerUSD, "caller-usd", 0, "US dollars of a day for one caller (default half of "+
		"--daily-usd)")
	fl.Int64Var(&f.caps.Memory, "memory", 0, "bytes that runs hold (default 512 MiB)")
	fl.Int64Var(&f.caps.CallerMemory, "caller-memory", 0, "bytes that runs of one caller hold (default half of "+
		"--memory)")
	fl.IntVar(&f.caps.Question, "max-question", 0, "bytes of a question (default 16384)")
	fl.StringSliceVar(&f.forms, "forms", nil, "forms of questions that the node answers (default: all)")
	fl.StringArrayVar(&f.dial, "dial", nil, "`ID=HOST:PORT` where a neighbour is reached, instead of the roster's "+
		"address")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log more")
}

// addRelays adds the flag of a node that others reach through relays.
func (f *running) addRelays(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.relays, "relay", nil, "`ID` of a member through which neighbours reach this "+
		"node, if the "+
		"roster permits relays")
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
	closeTraces, err := traced(cmd.Context(), &c.Config, c.Roster.Members[seat].ID)
	if err != nil {
		return fmt.Errorf("traces cannot be sent: %w; see OTEL_EXPORTER_OTLP_ENDPOINT", err)
	}
	defer closeTraces()
	c.Listen = func(r *roster.Roster, gate *node.Gate) (link.Transport, error) { return f.listenFor(c, r, gate) }
	c.Ledger = ledgerOf(c.Roster.Ledger.Kind, c.Dir, c.Secret, int(c.Roster.Within), c.Log)
	h, err := node.OpenHost(*c)
	if err != nil {
		return err
	}
	if f.desk != nil { // owners that have not got the roster yet
		opening := f.desk.Opening()
		h.Desk = func(conn *link.Conn, _ []byte) { f.desk.Serve(conn) }
		h.Gate().Admit(opening.Guest().Public().(ed25519.PublicKey))
		end := time.AfterFunc(time.Until(time.Unix(opening.Expires, 0)), func() { h.Gate().Admit(nil) })
		defer end.Stop()
	}
	return f.serve(cmd, c, h)
}

// serve runs a node that was opened.
func (f *running) serve(cmd *cobra.Command, c *node.HostConfig, h *node.Host) error {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	ended, end := context.WithCancel(ctx)
	end() // for a node that cannot be served
	if err := h.Control(ctx, filepath.Join(c.Dir, node.Socket), stop); err != nil {
		return errors.Join(err, h.Run(ended))
	}
	if f.debug != "" {
		if err := serveDebug(ctx, h, f.debug, cmd.ErrOrStderr()); err != nil {
			return errors.Join(err, h.Run(ended))
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "listening on %s\n", h.Address())
	return h.Run(ctx)
}

// listenFor opens the links of the node's seat in a roster.
func (f *running) listenFor(c *node.HostConfig, r *roster.Roster, gate *node.Gate) (link.Transport, error) {
	listen := f.listen
	if seat, ok := r.Seat(c.Secret.PublicKey()); ok && listen == "" {
		var err error
		if listen, err = f.address(&r.Members[seat]); err != nil {
			return nil, err
		}
	}
	if listen == "" {
		return nil, errors.New("the roster in force has no seat for this key: give an address with --listen HOST:PORT")
	}
	return transport(listen, c, r, gate, f.relays)
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

// transport opens the links that a roster names.
func transport(listen string, c *node.HostConfig, r *roster.Roster, gate *node.Gate, relays []string) (link.Transport,
	error) {
	// a caller has a stream for each of its questions, and one for each certificate
	limits := link.Limits{Reserved: node.ReservedAddresses(r), Streams: 4 + 2*max(c.Caps.AtOnce, node.DefaultAtOnce)}
	if r.Links != roster.Libp2p {
		if len(relays) > 0 {
			return nil, errors.New("--relay: the links of the roster are tls, which has no relays")
		}
		return link.Listen(listen, c.Secret.LinkKey(), gate.MayAsk, limits)
	}
	p2p, err := newPeerToPeer(listen, c.Secret, gate)
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
	callers, err := link.Listen(next, c.Secret.LinkKey(), gate.MayAsk, limits)
	if err != nil {
		return nil, errors.Join(err, p2p.Close())
	}
	return newBoth(p2p, callers), nil
}

// config reads the files that the flags name.
func (f *running) config(stderr io.Writer) (c *node.HostConfig, closeLog func() error, err error) {
	c = &node.HostConfig{Config: node.Config{Caps: f.caps, Keep: f.keep, Program: "synod-node"},
		Dial: map[string][]string{}}
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

func (f *running) neighbours(c *node.HostConfig) error {
	for _, text := range f.dial {
		id, address, ok := strings.Cut(text, "=")
		if err := roster.CheckAddress(address); !ok || err != nil {
			return fmt.Errorf("--dial is %q; it must be ID=HOST:PORT", text)
		}
		if !slices.ContainsFunc(c.Roster.Members, func(m roster.Member) bool { return m.ID == id }) {
			return fmt.Errorf("--dial: the roster has no member %q", id)
		}
		c.Dial[id] = append(c.Dial[id], address)
	}
	return nil
}

// ownModel returns the settings of the model of a seat in a council file.
func ownModel(path, seat string) (plan.Params, error) {
	spec, err := plan.Load(path)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(spec)
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
