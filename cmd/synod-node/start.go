package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/form"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

// starting is the flags of "synod roster start".
type starting struct {
	drafting
	running running
	mine    string
	seat    string
	address []string
	expires time.Duration
	start   bool
}

// formingDir is the folder of a founder's desk, in that of the node.
const formingDir = "forming"

func rosterStart() *cobra.Command {
	var s starting
	cmd := &cobra.Command{Use: "start", Short: "Invite the owners of seats, and form a council of those who join",
		Args: cobra.NoArgs,
		Long: "The command makes a key if there is none, takes a seat for its owner, prints a link, and waits " +
			"until owners\n" +
			"of all other seats have joined with it (synod node join LINK). They then have the roster, signed by " +
			"all. Whoever\n" +
			"has the link may take a seat. A command that was ended goes on where it was when it is given again.",
		Example: "  synod roster start -c council.yaml --address node1.example.org:7400 --run",
		RunE:    func(cmd *cobra.Command, _ []string) error { return failed(s.form(cmd)) }}
	s.drafting.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&s.seat, "seat", "", "`id` of your own seat (default: the first)")
	fl.StringVar(&s.running.key, "key", "node.key", "your key `file`, made if there is none")
	fl.StringArrayVar(&s.address, "address", nil, "`HOST:PORT` where your node listens and owners join")
	fl.DurationVar(&s.expires, "expires", 14*24*time.Hour, "how long the link can be used")
	fl.BoolVar(&s.start, "run", false, "run the node once the roster is complete")
	fl.StringVar(&s.mine, "mine", "", "council `file` with the settings of your own model")
	s.running.add(cmd)
	return cmd
}

// form forms the council, and runs its founder's node.
func (s *starting) form(cmd *cobra.Command) error {
	invitation, err := s.invite()
	if err != nil {
		return err
	}
	secret, err := ownKey(cmd, s.running.key)
	if err != nil {
		return err
	}
	if s.running.dir == "" {
		s.running.dir = "node-" + filepath.Base(s.seat)
	}
	desk, err := form.OpenDesk(filepath.Join(s.running.dir, formingDir), invitation, secret,
		func() (*terms.Opening, error) { return s.open(invitation, secret) })
	if err != nil {
		return err
	}
	if err := desk.Accept(desk.Opening().Accept(s.seat, s.address, secret)); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "your key begins with %s; give this link to the owners of the other seats:\n",
		terms.Fingerprint(secret.PublicKey()))
	fmt.Fprintln(cmd.OutOrStdout(), desk.Opening().Text())
	if err := s.gather(cmd, desk, secret); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: all members have signed\n", desk.RosterPath())
	if !s.start {
		return nil
	}
	s.running.roster, s.running.desk, s.running.council = desk.RosterPath(), desk, s.mine
	return s.running.run(cmd)
}

// invite returns the invitation, after the flags were checked.
func (s *starting) invite() (*terms.Invitation, error) {
	p, err := s.plan()
	if err != nil {
		return nil, err
	}
	o, err := s.options()
	if err != nil {
		return nil, err
	}
	if len(s.address) == 0 {
		return nil, errors.New("give where your node listens with --address HOST:PORT")
	}
	for _, a := range s.address {
		if err := roster.CheckAddress(a); err != nil {
			return nil, err
		}
	}
	if s.seat == "" {
		s.seat = p.Seats()[0].ID
	}
	return terms.Invite(p, o)
}

func (s *starting) open(i *terms.Invitation, secret sign.Secret) (*terms.Opening, error) {
	p, err := i.Plan()
	if err != nil {
		return nil, err
	}
	reached := s.address
	if i.Links == roster.Libp2p { // owners join over TLS, where callers ask
		reached = nil
		for _, a := range s.address {
			next, err := roster.CallerAddress(a)
			if err != nil {
				return nil, err
			}
			reached = append(reached, next)
		}
	}
	return i.Open(secret, p.Spec().Council, reached, time.Now().Add(s.expires), rand.Reader)
}

// gather serves owners until all members have signed the roster and, if no node is run after it, have got it.
func (s *starting) gather(cmd *cobra.Command, desk *form.Desk, secret sign.Secret) error {
	opening := desk.Opening()
	guest := opening.Guest().Public().(ed25519.PublicKey)
	listen := opening.Addresses[0]
	if s.running.listen != "" {
		listen = s.running.listen
		if s.links == roster.Libp2p {
			var err error
			if listen, err = roster.CallerAddress(listen); err != nil {
				return err
			}
		}
	}
	t, err := link.Listen(listen, secret.LinkKey(), func(key []byte) bool { return bytes.Equal(key, guest) },
		link.Limits{Streams: 64})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	defer t.Close()
	go func() {
		for {
			stream, _, err := t.Accept()
			if err != nil {
				return
			}
			go func() {
				conn := link.NewConn(stream)
				defer conn.Close()
				desk.Serve(conn)
			}()
		}
	}()
	_, err = desk.Wait(ctx, !s.start, func() { showSeats(cmd.ErrOrStderr(), desk) })
	return err
}

// showSeats says which seats are free and who has not signed.
func showSeats(out io.Writer, desk *form.Desk) {
	var free, unsigned []string
	seats := desk.Seats()
	for _, s := range seats {
		switch {
		case s.Key == "":
			free = append(free, s.Seat)
		case !s.Signed:
			unsigned = append(unsigned, s.Seat)
		}
	}
	switch {
	case len(free) > 0:
		fmt.Fprintf(out, "%d of %d seats are taken; free: %s\n", len(seats)-len(free), len(seats),
			strings.Join(free, ", "))
	case len(unsigned) > 0:
		fmt.Fprintf(out, "all seats are taken; not signed yet: %s\n", strings.Join(unsigned, ", "))
	default:
		fmt.Fprintf(out, "all %d members have signed\n", len(seats))
	}
}

func rosterStatus() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{Use: "status [ROSTER]", Short: "Show who is missing in a council that is being formed",
		Args: cobra.MaximumNArgs(1),
		Long: "Without a file: the council that the founder forms whose node has the folder --dir. With the file " +
			"of a roster:\n" +
			"who has not signed it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				s, err := readRoster(args[0])
				if err == nil {
					show(cmd, s)
				}
				return failed(err)
			}
			desk, err := form.ReadDesk(filepath.Join(dir, formingDir))
			if err != nil {
				return failed(fmt.Errorf("no council is being formed in the folder %s: %w; name its folder with "+
					"--dir", dir,
					err))
			}
			if asJSON {
				return failed(printJSON(cmd.OutOrStdout(), desk.Seats()))
			}
			showSeats(cmd.OutOrStdout(), desk)
			for _, s := range desk.Seats() {
				state := "free"
				if s.Key != "" {
					state = fmt.Sprintf("key %s…  %s  accepted", s.Key, strings.Join(s.Addresses, " "))
				}
				if s.Signed {
					state += ", signed"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "  %-8s %s\n", s.Seat, state)
			}
			fmt.Fprintln(cmd.OutOrStdout(), desk.Opening().Text())
			return nil
		}}
	cmd.Flags().StringVar(&dir, "dir", ".", "the `folder` of the founder's node")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
