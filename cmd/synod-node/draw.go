package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// drawRule is the flags that say how a roster draws committees.
type drawRule struct {
	size, f uint64
	beacons []string
}

func (d *drawRule) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Uint64Var(&d.size, "committee", 0, "draw so many members for each run (default: all take part)")
	fl.Uint64Var(&d.f, "committee-f", 0, "members of a committee that may be Byzantine")
	fl.StringSliceVar(&d.beacons, "beacon", nil, "`ID` of a member whose random function draws the committees; all "+
		"beacons must prove")
}

// of returns the rule for the seats of a plan; nil without flags.
func (d *drawRule) of(p *plan.Plan) (*roster.Draw, error) {
	if d.size == 0 {
		if d.f > 0 || len(d.beacons) > 0 {
			return nil, errors.New("--committee-f and --beacon need --committee N")
		}
		return nil, nil
	}
	r := &roster.Draw{Size: d.size, F: d.f}
	seats := p.Seats()
	for _, id := range d.beacons {
		at := slices.IndexFunc(seats, func(s plan.Seat) bool { return s.ID == id })
		if at < 0 {
			return nil, fmt.Errorf("--beacon is %q, and the council file has no such seat", id)
		}
		r.Beacons = append(r.Beacons, uint64(at))
	}
	slices.Sort(r.Beacons)
	return r, nil
}

// drawFile is a draw on its way from beacon to beacon.
type drawFile struct {
	Roster   []byte   `json:"roster"`   // hash
	Question []byte   `json:"question"` // SHA-256
	Run      string   `json:"run"`      // instance
	Proofs   [][]byte `json:"proofs"`   // by beacon; empty: missing
}

func rosterDraw() *cobra.Command {
	var rosterPath, key, question, run string
	var ask bool
	cmd := &cobra.Command{Use: "draw FILE", Short: "Prove, check and show the draw of a committee for a run",
		Args: cobra.ExactArgs(1),
		Long: "FILE goes from beacon to beacon. The first call names question and run and makes it. Each beacon of " +
			"the\nroster adds its proof with --key. With all proofs the command prints who was drawn.\n" +
			"A beacon should prove few runs an hour for one caller: each is another draw, and the caller may keep " +
			"the\none that it likes.",
		Example: `  synod roster draw run.draw --roster council.roster --question 'What is 17 + 25?' --ask --key caller.key
  synod roster draw run.draw --roster council.roster --question 'What is 17 + 25?' --run 4f1c… --key node.key
  synod roster draw run.draw --roster council.roster --key node.key
  synod roster draw run.draw --roster council.roster`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := readRoster(rosterPath)
			if err == nil {
				err = s.Verify()
			}
			if err != nil {
				return failed(err)
			}
			if ask {
				if err := askDraw(cmd.Context(), s, args[0], key, question); err != nil {
					return failed(err)
				}
				key = ""
			}
			return failed(drawn(cmd, s, args[0], key, question, run))
		}}
	fl := cmd.Flags()
	fl.StringVar(&rosterPath, "roster", "", "roster `file` that draws committees, signed by its members")
	fl.StringVar(&key, "key", "", "key `file` of a beacon, whose proof is added; with --ask, of a member or caller")
	fl.BoolVar(&ask, "ask", false, "ask the beacons' nodes for their proofs for a new run of the question")
	fl.StringVar(&question, "question", "", "`text` of the question, to make FILE")
	fl.StringVar(&run, "run", "", "`instance` of the run, to make FILE")
	return cmd
}

func drawn(cmd *cobra.Command, s *roster.Signed, path, key, question, run string) error {
	if s.Draw == nil {
		return errors.New("the roster draws no committees; synod roster new --committee N makes one that does")
	}
	f, err := openDraw(s, path, question, run)
	if err != nil {
		return err
	}
	of := committee.Run{Terms: s.Terms(), Council: f.Roster, Question: f.Question, Instance: f.Run}
	if err := f.check(&of); err != nil {
		return &coded{exitVerify, err}
	}
	if key != "" {
		if err := f.prove(&of, path, key); err != nil {
			return err
		}
	}
	if missing := f.missing(s); len(missing) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "proofs that are missing: %s\n", strings.Join(missing, ", "))
		return nil
	}
	seats, err := of.Seats(f.Proofs)
	if err != nil {
		return &coded{exitVerify, err}
	}
	for _, seat := range seats {
		fmt.Fprintln(cmd.OutOrStdout(), s.Members[seat].ID)
	}
	return nil
}

// askDraw has the nodes of the beacons prove for a new run, and writes the file.
func askDraw(ctx context.Context, s *roster.Signed, path, key, question string) error {
	if question == "" {
		return errors.New("--ask needs --question TEXT")
	}
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists; --ask makes a draw of a new run, in another file", path)
	}
	secret, err := readKey(key)
	if err != nil {
		return err
	}
	transport, err := link.NewTLS(secret.LinkKey())
	if err != nil {
		return err
	}
	defer transport.Close()
	client := &call.Client{Roster: s.Roster, Transport: transport}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	run, proofs, err := client.Draw(ctx, synod.Question{Text: question})
	if err != nil {
		return err
	}
	f := &drawFile{Roster: run.Council, Question: run.Question, Run: run.Instance, Proofs: proofs}
	return f.write(path)
}

// openDraw reads the file of a draw of a roster, or begins one for a question and a run.
func openDraw(s *roster.Signed, path, question, run string) (*drawFile, error) {
	hash, sum := s.Hash(), outcome.QuestionHash(&synod.Question{Text: question})
	b, err := durable.ReadFile(path, 1<<20)
	if errors.Is(err, os.ErrNotExist) && question != "" && run != "" {
		return &drawFile{Roster: hash[:], Question: sum, Run: run, Proofs: make([][]byte, len(s.Draw.Beacons))}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; --question and --run make the file", err)
	}
	f := new(drawFile)
	d := json.NewDecoder(bytes.NewReader(b))
	if d.DisallowUnknownFields(); d.Decode(f) != nil || len(f.Proofs) != len(s.Draw.Beacons) {
		return nil, fmt.Errorf("%s is not the file of a draw of this roster", path)
	}
	switch {
	case !bytes.Equal(f.Roster, hash[:]):
		return nil, fmt.Errorf("%s is a draw of the roster %x", path, f.Roster)
	case question != "" && !bytes.Equal(f.Question, sum), run != "" && f.Run != run:
		return nil, fmt.Errorf("%s is a draw for another question or run", path)
	}
	return f, nil
}

// check checks the proofs that the file has.
func (f *drawFile) check(of *committee.Run) error {
	for i, proof := range f.Proofs {
		if len(proof) > 0 {
			if err := of.Check(i, proof); err != nil {
				return err
			}
		}
	}
	return nil
}

// prove adds the proof of a beacon and writes the file.
func (f *drawFile) prove(of *committee.Run, path, key string) error {
	secret, err := readKey(key)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(of.Terms.Draw.Beacons, func(seat uint64) bool {
		return bytes.Equal(of.Terms.Members[seat].Key, secret.PublicKey())
	})
	if at < 0 {
		return fmt.Errorf("no beacon of the roster has the key %x of %s", secret.PublicKey(), key)
	}
	if f.Proofs[at], err = of.Prove(secret.LinkKey()); err != nil {
		return err
	}
	return f.write(path)
}

func (f *drawFile) write(path string) error {
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// missing returns the ids of the beacons whose proofs the file lacks.
func (f *drawFile) missing(s *roster.Signed) (ids []string) {
	for i, seat := range s.Draw.Beacons {
		if len(f.Proofs[i]) == 0 {
			ids = append(ids, s.Members[seat].ID)
		}
	}
	return ids
}
