package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/program"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
)

func rosterCommand() *cobra.Command {
	c := &cobra.Command{Use: "roster", Short: "Form a council, and make, sign, show, check and compare rosters"}
	c.AddCommand(rosterStart(), rosterStatus(), rosterNew(), rosterShow(), rosterSign(), rosterVerify(), rosterDiff(),
		rosterDraw())
	return c
}

// drafting is the flags that say what a roster has beyond the council file.
type drafting struct {
	council string
	callers []string
	links   string
	relay   bool
}

func (d *drafting) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&d.council, "council", "c", "", "council `file` that all members play")
	fl.StringArrayVar(&d.callers, "caller", nil, "`NAME=KEY` of somebody who may ask besides the members")
	fl.StringVar(&d.links, "links", roster.TLS, "tls, or libp2p (TCP and QUIC)")
	fl.BoolVar(&d.relay, "relay", false, "with libp2p: relays and hole punching may be used")
}

func (d *drafting) options() (o terms.Options, err error) {
	o = terms.Options{Links: d.links, Relay: d.relay, Members: map[string]roster.Member{}}
	for _, text := range d.callers {
		name, key, ok := strings.Cut(text, "=")
		k, err := hex.DecodeString(key)
		if !ok || err != nil {
			return o, fmt.Errorf("--caller is %q; it must be NAME=KEY with a key in hexadecimal", text)
		}
		o.Callers = append(o.Callers, roster.Caller{Name: name, Key: k})
	}
	return o, nil
}

func (d *drafting) plan() (*plan.Plan, error) {
	if d.council == "" {
		return nil, errors.New("give the council file with -c FILE")
	}
	spec, err := plan.Load(d.council)
	if err != nil {
		return nil, err
	}
	return plan.New(spec)
}

func rosterNew() *cobra.Command {
	var d drafting
	var draws drawRule
	var members []string
	var invitation, previous, out string
	cmd := &cobra.Command{
		Use:   "new [ACCEPTANCE…]",
		Short: "Make the roster of a council, which its members then sign",
		Example: `  synod roster new --invitation council.invitation a1.join a2.join a3.join a4.join -o council.roster
  synod roster new -c council.yaml --member a1=KEY@10.0.0.1:7400 --member a2=KEY@10.0.0.2:7400 … -o council.roster
  synod roster new -c council.yaml --previous council.roster --member … -o next.roster`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, o, err := d.gather(invitation, members, args)
			if err != nil {
				return failed(err)
			}
			var before *roster.Signed
			if previous != "" {
				if before, err = readRoster(previous); err == nil {
					err = before.Verify()
				}
				if err != nil {
					return failed(err)
				}
				o.Previous = before.Roster
			}
			if o.Draw, err = draws.of(p); err != nil {
				return failed(err)
			}
			r, err := terms.New(p, o)
			if err != nil {
				return failed(err)
			}
			if err := write(out, roster.Successor(r, before).File()); err != nil {
				return failed(err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: roster %s of %d members; each signs it with: synod roster sign %s "+
				"--key FILE\n",
				out, r.HexHash()[:16], len(r.Members), out)
			return nil
		},
	}
	d.add(cmd)
	draws.add(cmd)
	cmd.Flags().StringArrayVar(&members, "member", nil, "`ID=KEY@HOST:PORT[,HOST:PORT]` of a seat")
	cmd.Flags().StringVar(&invitation, "invitation", "", "invitation `file` whose acceptances follow, instead of -c")
	cmd.Flags().StringVar(&previous, "previous", "", "roster `file` that the new one replaces")
	cmd.Flags().StringVarP(&out, "out", "o", "council.roster", "`file` to write; - is stdout")
	return cmd
}

// gather returns plan and members, from an invitation with acceptances or from flags.
func (d *drafting) gather(invitation string, members, joins []string) (*plan.Plan, terms.Options, error) {
	o, err := d.options()
	if err != nil {
		return nil, o, err
	}
	var p *plan.Plan
	if invitation == "" {
		if len(joins) > 0 {
			return nil, o, errors.New("acceptances need the invitation: --invitation FILE")
		}
		p, err = d.plan()
	} else {
		p, o, err = invited(invitation, joins)
	}
	if err != nil {
		return nil, o, err
	}
	for _, text := range members {
		id, rest, ok := strings.Cut(text, "=")
		key, addresses, at := strings.Cut(rest, "@")
		k, err := hex.DecodeString(key)
		if !ok || !at || err != nil {
			return nil, o, fmt.Errorf("--member is %q; it must be ID=KEY@HOST:PORT with a key in hexadecimal", text)
		}
		o.Members[id] = roster.Member{Key: k, Addresses: strings.Split(addresses, ",")}
	}
	return p, o, nil
}

func invited(path string, joins []string) (*plan.Plan, terms.Options, error) {
	i, err := readInvitation(path)
	if err != nil {
		return nil, terms.Options{}, err
	}
	o := i.Options()
	o.Members = map[string]roster.Member{}
	for _, join := range joins {
		b, err := durable.ReadFile(join, 2*roster.MaxBytes)
		var a *terms.Acceptance
		if err == nil {
			a, err = terms.ParseAcceptance(b)
		}
		if err == nil {
			err = i.Add(o.Members, a)
		}
		if err != nil {
			return nil, o, fmt.Errorf("%s: %w", join, err)
		}
	}
	p, err := i.Plan()
	return p, o, err
}

func readInvitation(path string) (*terms.Invitation, error) {
	b, err := durable.ReadFile(path, 2*roster.MaxBytes)
	if err != nil {
		return nil, err
	}
	i, err := terms.ParseInvitation(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

func rosterShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show FILE", Short: "Show a roster", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readRoster(args[0])
			if err != nil {
				return failed(err)
			}
			if asJSON {
				return failed(showJSON(cmd, s))
			}
			show(cmd, s)
			return nil
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// drawJSON is how a roster draws committees.
type drawJSON struct {
	Size    uint64   `json:"size"`
	F       uint64   `json:"f"`
	Beacons []uint64 `json:"beacons"` // seats
}

func showJSON(cmd *cobra.Command, s *roster.Signed) error {
	v := struct {
		Version    int        `json:"version"`
		Hash       string     `json:"hash"`
		Name       string     `json:"name"`
		Serial     uint64     `json:"serial"`
		Previous   string     `json:"previous,omitempty"`
		Protocol   string     `json:"protocol"`
		Parameters string     `json:"parameters"`
		Bound      any        `json:"bound"`
		Edges      [][]uint64 `json:"edges"`
		ThinkMS    uint64     `json:"think_ms"`
		WithinMS   uint64     `json:"within_ms"`
		Links      string     `json:"links"`
		Members    []any      `json:"members"`
		Callers    []any      `json:"callers"`
		Missing    []string   `json:"missing_signatures"`
		Council    string     `json:"council"`
		Draw       *drawJSON  `json:"draw,omitempty"`
	}{Version: 1, Hash: s.HexHash(), Name: s.Name, Serial: s.Serial, Previous: hex.EncodeToString(s.Previous),
		Protocol: s.Protocol, Parameters: s.Parameters, Edges: s.Edges, ThinkMS: s.Think, WithinMS: s.Within,
		Links: s.Links, Missing: s.Missing(), Council: s.Council,
		Bound: map[string]any{"f": s.F, "r": s.R, "exact": s.Exact, "guarantee": s.Guarantee, "note": s.Note}}
	if d := s.Draw; d != nil {
		v.Draw = &drawJSON{d.Size, d.F, d.Beacons}
	}
	for _, m := range s.Members {
		v.Members = append(v.Members, map[string]any{"id": m.ID, "role": m.Role, "key": hex.EncodeToString(m.Key),
			"addresses": m.Addresses, "signed": s.SignedBy(m.Key)})
	}
	for _, c := range s.Callers {
		v.Callers = append(v.Callers, map[string]any{"name": c.Name, "key": hex.EncodeToString(c.Key)})
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func show(cmd *cobra.Command, s *roster.Signed) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "roster %s\ncouncil %s, serial %d, protocol %s %s\n", s.HexHash(), s.Name, s.Serial, s.Protocol,
		s.Parameters)
	fmt.Fprintf(out, "claim: F = %d, r = %d, %s: %s\n", s.F, s.R, s.Guarantee, s.Note)
	fmt.Fprintf(out, "pace: think %dms, within %dms; links: %s; ledger: %s\n", s.Think, s.Within, s.Links,
		s.Ledger.Kind)
	if s.Draw != nil {
		fmt.Fprintf(out, "committee: %s\n", terms.DescribeDraw(s.Roster))
	}
	for i, m := range s.Members {
		var hears []string
		for _, p := range s.Peers(synod.NodeID(i)) {
			hears = append(hears, s.Members[p].ID)
		}
		mark := "has not signed"
		if s.SignedBy(m.Key) {
			mark = "signed"
		}
		fmt.Fprintf(out, "  %-8s %x  %s  hears %s  (%s)\n", strings.TrimSpace(m.ID+" "+m.Role), m.Key,
			strings.Join(m.Addresses, " "), strings.Join(hears, " "), mark)
	}
	for _, c := range s.Callers {
		fmt.Fprintf(out, "  caller %s %x\n", c.Name, c.Key)
	}
}

func rosterSign() *cobra.Command {
	var key, insteadOf string
	var with []string
	var yes bool
	cmd := &cobra.Command{Use: "sign FILE", Short: "Sign a roster, after its rules are shown", Args: cobra.ExactArgs(1),
		Example: `  synod roster sign council.roster --key node.key
  synod roster sign council.roster --with copy-from-bob.roster     # adds the signatures of another copy`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readRoster(args[0])
			if err != nil {
				return failed(err)
			}
			for _, path := range with {
				other, err := readRoster(path)
				if err == nil {
					err = s.Merge(other)
				}
				if err != nil {
					return failed(err)
				}
			}
			if key != "" || len(with) == 0 {
				if err := signRoster(cmd, s, key, insteadOf, yes); err != nil {
					return failed(err)
				}
			}
			if err := os.WriteFile(args[0], s.File(), 0o644); err != nil {
				return failed(err)
			}
			if missing := s.Missing(); len(missing) > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "not signed yet: %s\n", strings.Join(missing, ", "))
				if s.Verify() == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "it is valid without them: a quorum of the roster before has "+
						"signed it")
				}
			} else {
				fmt.Fprintln(cmd.ErrOrStderr(), "all members have signed")
			}
			return nil
		}}
	cmd.Flags().StringVar(&key, "key", "", "key `file` to sign with")
	cmd.Flags().StringArrayVar(&with, "with", nil, "another copy of this roster, whose signatures are added")
	cmd.Flags().StringVar(&insteadOf, "instead-of", "", "`hash` of another successor of the same roster that this key "+
		"has signed and that all members have given up")
	cmd.Flags().BoolVar(&yes, "yes", false, "sign without asking")
	return cmd
}

func signRoster(cmd *cobra.Command, s *roster.Signed, key, insteadOf string, yes bool) error {
	secret, err := readKey(key)
	if err != nil {
		return err
	}
	p, err := terms.Plan(s.Roster)
	if err != nil {
		return err
	}
	if err := terms.CheckClaim(p, s.Roster); err != nil {
		return err
	}
	seat, member := s.Seat(secret.PublicKey())
	if !member && s.Serial == 0 {
		return fmt.Errorf("no member of the roster has the key %x", secret.PublicKey())
	}
	if member {
		for _, line := range terms.Rules(s.Roster, seat) {
			fmt.Fprintln(cmd.ErrOrStderr(), "  "+line)
		}
	}
	if err := agree(cmd, yes, "sign this roster?"); err != nil {
		return err
	}
	if err := signOnce(key, s.Roster, insteadOf); err != nil {
		return err
	}
	s.Sign(secret)
	return nil
}

func rosterVerify() *cobra.Command {
	var previous string
	cmd := &cobra.Command{Use: "verify FILE", Short: "Check the signatures and the claim of a roster",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readAfter(args[0], previous)
			if err != nil {
				return &coded{exitVerify, err}
			}
			err = s.Verify()
			var p *plan.Plan
			if err == nil {
				p, err = terms.Plan(s.Roster)
			}
			if err == nil {
				err = terms.CheckClaim(p, s.Roster)
			}
			if err != nil {
				return &coded{exitVerify, err}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "VALID roster %s of %s, serial %d, signed by %d\n", s.HexHash(), s.Name,
				s.Serial, len(s.Signatures))
			return nil
		}}
	cmd.Flags().StringVar(&previous, "previous", "", "roster `file` that this one replaces, if its own file does "+
		"not have it")
	return cmd
}

func rosterDiff() *cobra.Command {
	return &cobra.Command{Use: "diff OLD NEW", Short: "List what differs between two rosters", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := readRoster(args[0])
			if err != nil {
				return failed(err)
			}
			b, err := readRoster(args[1])
			if err != nil {
				return failed(err)
			}
			lines := terms.Diff(a.Roster, b.Roster)
			for _, line := range lines {
				fmt.Fprintln(cmd.OutOrStdout(), program.Printable(line))
			}
			if len(lines) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no difference")
			}
			return nil
		}}
}
