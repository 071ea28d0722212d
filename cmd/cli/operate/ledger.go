// Package operate has the commands for what Synod keeps on disk: ledgers of decisions, evidence against members that
// equivocated, the trust in members, journals, and the cache of replies.
package operate

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/verification"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/record/ledger"
)

// LedgerCommand is "synod operate ledger".
func LedgerCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Show, prove, verify, export or witness a ledger of decisions",
		Long: `A ledger is a folder to which "synod ask --ledger FOLDER" appends decisions, or what a node has
of the ledger that the nodes of a roster keep. Nobody can change or remove a decision unnoticed: its operator, or a
quorum of the nodes, signs the root of a Merkle tree, and witnesses sign a later root only if it extends
the earlier one. FOLDER is the folder of a ledger or of a node.`,
	}
	cmd.AddCommand(ledgerShow(a), ledgerHead(a), ledgerProve(a), ledgerVerify(), ledgerExport(a), ledgerWitness(a))
	return cmd
}

// ledgerFolder finds the log in a folder that the user named: of a ledger, of a replica, or of a node.
func ledgerFolder(dir string) string {
	for _, sub := range []string{".", "log", "ledger", filepath.Join("ledger", "log")} {
		if _, err := os.Stat(filepath.Join(dir, sub, "head.pem")); err == nil {
			return filepath.Join(dir, sub)
		}
	}
	return dir
}

// openLedger opens a ledger for reading, whoever signs its heads.
func openLedger(dir string) (*ledger.Log, error) {
	path := ledgerFolder(dir)
	if _, err := os.Stat(filepath.Join(path, "head.pem")); err != nil {
		return nil, app.Fail(app.ExitFailure, err, "make a ledger with: synod ask --ledger "+app.ShellWord(dir)+
			" …, or "+
			"name the folder of a node whose roster has a ledger")
	}
	l, err := ledger.Inspect(path)
	if err != nil {
		return nil, app.Fail(app.ExitVerify, err)
	}
	return l, nil
}

// groupOf returns the replicas that keep the ledger of a roster; nil: no roster is given.
func groupOf(path string) (*ledger.Replicas, error) {
	if path == "" {
		return nil, nil
	}
	signed, err := plan.ReadRoster(path)
	if err != nil {
		return nil, app.Fail(app.ExitFailure, err)
	}
	g, err := terms.Group(signed.Roster)
	if err == nil && g == nil {
		err = fmt.Errorf("the ledger of the roster %s is %q; only smartbft and cometbft have replicas", path,
			signed.Ledger.Kind)
	}
	if err != nil {
		return nil, app.Fail(app.ExitUsage, err)
	}
	return g, nil
}

// ledgerLine is one entry in the output of synod operate ledger show and export.
type ledgerLine struct {
	Index    uint64       `json:"index"`
	Instance string       `json:"instance"`
	Council  string       `json:"council"`
	Parts    []ledgerPart `json:"parts"`
	// AssertedBy is the replica whose record the entry is; "": the operator asserts it.
	AssertedBy string `json:"asserted_by,omitempty"`
	// HeldBy are the replicas that have signed an entry of this run with the same question and answer.
	HeldBy []string `json:"held_by,omitempty"`
}

type ledgerPart struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Body   string `json:"body,omitempty"` // "": only the hash is kept
}

// linesOf returns all entries under the head of a ledger.
func linesOf(l *ledger.Log) ([]ledgerLine, error) {
	lines, held := []ledgerLine{}, map[[32]byte][]string{}
	var records [][32]byte
	for e, err := range ledger.Export(l) {
		if err != nil {
			return nil, app.Fail(app.ExitVerify, err)
		}
		line := ledgerLine{Index: uint64(len(lines)), Instance: e.Instance, Council: hex.EncodeToString(e.Council),
			Parts: []ledgerPart{}, AssertedBy: e.Claimed()}
		for _, p := range e.Parts {
			line.Parts = append(line.Parts, ledgerPart{p.Name, hex.EncodeToString(p.Sum), string(p.Body)})
		}
		record := e.Record()
		if by := line.AssertedBy; by != "" && !slices.Contains(held[record], by) {
			held[record] = append(held[record], by)
		}
		lines, records = append(lines, line), append(records, record)
	}
	for i := range lines {
		lines[i].HeldBy = slices.Sorted(slices.Values(held[records[i]]))
	}
	return lines, nil
}

func ledgerShow(*app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show FOLDER", Short: "Show a ledger's head and its entries", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			h, w := l.Head(), cmd.OutOrStdout()
			out := struct {
				Version    int          `json:"version"`
				Log        string       `json:"log"`
				Replicated bool         `json:"replicated"`
				Size       uint64       `json:"size"`
				Root       string       `json:"root"`
				Witnesses  []string     `json:"witnesses"`
				Entries    []ledgerLine `json:"entries"`
			}{1, hex.EncodeToString(h.Head.Log), h.Replicated(), h.Head.Size, hex.EncodeToString(h.Head.Root),
				[]string{}, []ledgerLine{}}
			for _, s := range h.Witnesses {
				out.Witnesses = append(out.Witnesses, hex.EncodeToString(s.Key))
			}
			if out.Entries, err = linesOf(l); err != nil {
				return err
			}
			if asJSON {
				return app.WriteJSON(w, out)
			}
			who, signers := "operator: ", "witnesses:"
			if out.Replicated {
				who, signers = "log:      ", "signed by:"
			}
			fmt.Fprintf(w, "%s %s\nentries:   %d\nroot:      %s\n%s %d\n", who, out.Log, out.Size, out.Root, signers,
				len(out.Witnesses))
			for _, e := range out.Entries {
				by := assertion(&e)
				fmt.Fprintf(w, "%6d  run %.12s…  council %.12s…  %d parts%s\n", e.Index, app.OneLine(e.Instance),
					e.Council, len(e.Parts), by)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// assertion says which replica asserts an entry and which others hold its record.
func assertion(e *ledgerLine) string {
	switch {
	case e.AssertedBy == "":
		return ""
	case len(e.HeldBy) < 2:
		return "  asserted by " + app.OneLine(e.AssertedBy) + " alone"
	}
	return fmt.Sprintf("  asserted by %s, held by %s", app.OneLine(e.AssertedBy), app.OneLine(strings.Join(e.HeldBy,
		", ")))
}

func ledgerProve(*app.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "prove FOLDER INDEX", Short: "Write the proof that an entry is in a ledger", Args: cobra.ExactArgs(2),
		Example: "  synod operate ledger prove decisions 0 -o entry.proof",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return app.Fail(app.ExitUsage, fmt.Errorf("the index is %q; it must be a whole number, such as 0",
					args[1]))
			}
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			text, err := proofsOf(l, at)
			if err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			if out == "" {
				_, err = cmd.OutOrStdout().Write(text)
			} else {
				err = durable.WriteFile(out, text)
			}
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the proof to this `file` (default: print it)")
	return cmd
}

// verifying is what the user says of who must have signed a head.
type verifying struct {
	operator  string
	roster    string
	witnesses []string
}

func ledgerVerify() *cobra.Command {
	var asJSON bool
	var by verifying
	cmd := &cobra.Command{
		Use:   "verify FOLDER|PROOF",
		Short: "Verify a ledger, or the proof that an entry is in it",
		Long: `Verifies every entry of a ledger against its signed head, or one entry by its proof. Prints
VALID, what is proved and what is not, or the first thing that is wrong (exit code 7).`,
		Example: "  synod operate ledger verify decisions --witness KEY\n" +
			"  synod operate ledger verify entry.proof --operator KEY\n" +
			"  synod operate ledger verify node-e1 --roster council.roster",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := groupOf(by.roster)
			if err != nil {
				return err
			}
			v, err := verifyLedger(args[0], &by, g)
			return v.Print(cmd, err, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&by.operator, "operator", "", "the operator's public `key` in hexadecimal")
	cmd.Flags().StringVar(&by.roster, "roster", "", "roster `file` whose replicas keep the ledger")
	cmd.Flags().StringSliceVar(&by.witnesses, "witness", nil, "public `key` of a witness that must have signed the "+
		"head, or NAME+ID+KEY of a public one that must have cosigned a checkpoint of the ledger")
	cmd.MarkFlagsMutuallyExclusive("operator", "roster")
	return cmd
}

// ledgerCheck is the verification of a ledger, of a proof or of a fork.
type ledgerCheck struct{ verification.Result }

// verifyLedger checks a ledger or a proof, its operator or its replicas, and that the witnesses have signed.
func verifyLedger(path string, by *verifying, g *ledger.Replicas) (verification.Result, error) {
	v := ledgerCheck{verification.Result{Version: 1, Kind: "ledger", Claims: []string{}, NotProved: []string{}}}
	info, err := os.Stat(path)
	if err != nil {
		return v.Result, err
	}
	check := v.proof
	if text, err := durable.ReadFile(path, 1<<24); err == nil && bytes.HasPrefix(text, []byte(headBegins)) {
		return v.Result, v.fork(text, g)
	}
	if info.IsDir() {
		check = v.entries
	}
	head, err := check(path, by, g)
	if err == nil {
		err = v.signers(head, by.operator, g)
	}
	if err != nil {
		return v.Result, err
	}
	if head.Old() {
		v.NotProved = append(v.NotProved, "that public witnesses have seen the head: it was signed before heads were "+
			"checkpoints, and they cannot cosign it")
	}
	for _, w := range by.witnesses {
		if strings.Contains(w, "+") {
			continue // of a public witness: cosigners
		}
		key, err := hex.DecodeString(w)
		if err != nil || !head.Witnessed(key) {
			return v.Result, fmt.Errorf("ledger: the witness %s has not signed this head", w)
		}
		v.Claims = append(v.Claims, "the witness "+w+" signed the head")
	}
	if len(by.witnesses) == 0 && !head.Replicated() {
		v.NotProved = append(v.NotProved, "that there is no other ledger of this operator, or a longer one: that "+
			"needs witnesses (--witness KEY)")
	}
	if head.Replicated() {
		v.NotProved = append(v.NotProved, "that there is no longer ledger: ask another replica")
	}
	v.NotProved = append(v.NotProved, "that the decisions are right")
	return v.Result, nil
}

// signers checks who has signed a head.
func (v *ledgerCheck) signers(head *ledger.SignedHead, operator string, g *ledger.Replicas) error {
	switch {
	case g != nil:
		if err := head.VerifyGroup(g); err != nil {
			return err
		}
		v.Claims = append(v.Claims, fmt.Sprintf("at least %d of the %d replicas of the roster signed the head; "+
			"at most %d may be Byzantine", g.Quorum(), len(g.Keys), g.Faulty()))
	case head.Replicated() && operator != "":
		return errors.New("ledger: it has no operator: replicas keep it; check them with --roster FILE")
	case head.Replicated():
		v.NotProved = append(v.NotProved, "that those who signed the head are a quorum of the replicas: give their "+
			"roster with --roster FILE")
	case operator == "":
		v.NotProved = append(v.NotProved, "that the operator is whom you think of: give the key with --operator")
	case operator != hex.EncodeToString(head.Head.Log):
		return fmt.Errorf("ledger: it is of the operator %x", head.Head.Log)
	}
	return nil
}

// keeper names who keeps the log of a head.
func keeper(h *ledger.SignedHead) string {
	if h.Replicated() {
		return fmt.Sprintf("log %x of %d replicas or witnesses that signed it", h.Head.Log, len(h.Witnesses))
	}
	return fmt.Sprintf("ledger of the operator %x", h.Head.Log)
}

// entries checks all entries of a ledger and returns its head.
func (v *ledgerCheck) entries(path string, by *verifying, g *ledger.Replicas) (*ledger.SignedHead, error) {
	l, err := openLedger(path)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	head := l.Head()
	claim := fmt.Sprintf("the %d entries are those that the operator %x signed", head.Head.Size, head.Head.Log)
	if head.Replicated() {
		claim = fmt.Sprintf("the %d entries are those under the head of the log %x, which %d have signed",
			head.Head.Size, head.Head.Log, len(head.Witnesses))
	}
	v.Claims = append(v.Claims, claim)
	var entries []*ledger.Entry
	for e, err := range ledger.Export(l) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if err := v.cosigners(l, by); err != nil {
		return nil, err
	}
	return head, v.holders(entries, g)
}

func ledgerExport(*app.App) *cobra.Command {
	return &cobra.Command{
		Use: "export FOLDER", Short: "Print all entries of a ledger as JSON, one a line", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			e := json.NewEncoder(cmd.OutOrStdout())
			lines, err := linesOf(l)
			if err != nil {
				return err
			}
			for _, line := range lines {
				if err := e.Encode(line); err != nil {
					return app.Fail(app.ExitFailure, err)
				}
			}
			return nil
		},
	}
}

func ledgerWitness(a *app.App) *cobra.Command {
	var state, key, roster string
	cmd := &cobra.Command{
		Use:   "witness FOLDER --state FILE",
		Short: "Sign a ledger's head if it extends the last one that you signed",
		Long: `Signs the head of a ledger and adds the signature to it. The state file has the last head that you
signed. A head that does not extend it shows that the ledger was forked or replaced by an
older copy: the exit code is 7, and both signed heads are kept beside the state file.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if state == "" {
				return app.Fail(app.ExitUsage, errors.New("--state FILE is missing: it keeps the last head that you "+
					"signed"))
			}
			secret, _, err := a.SigningKey(key)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			l, err := openLedger(args[0])
			if err != nil {
				return err
			}
			defer l.Close()
			w := &ledger.Witness{Secret: secret, Log: l.Head().Head.Log}
			if w.Group, err = groupOf(roster); err != nil {
				return err
			}
			if w.Group == nil && l.Head().Replicated() {
				return app.Fail(app.ExitUsage, errors.New("replicas keep this ledger: name their roster with --roster "+
					"FILE"))
			}
			text, err := durable.ReadFile(state, 1<<24)
			switch {
			case err == nil:
				if w.Last, err = ledger.ParseHead(text); err != nil {
					return app.Fail(app.ExitFailure, err)
				}
			case !errors.Is(err, os.ErrNotExist):
				return app.Fail(app.ExitFailure, err)
			}
			return witness(cmd, l, w, state)
		},
	}
	cmd.Flags().StringVar(&state, "state", "", "`file` with the last head that you signed")
	cmd.Flags().StringVar(&roster, "roster", "", "roster `file` whose replicas keep the ledger")
	cmd.Flags().StringVar(&key, "key", "", "the `file` of the witness's key (default: owner.key in the configuration "+
		"folder)")
	return cmd
}

// witness signs the head of a ledger. The state is on disk before the signature is given out.
func witness(cmd *cobra.Command, l *ledger.Log, w *ledger.Witness, state string) error {
	var path [][]byte
	var err error
	if w.Last != nil && w.Last.Head.Size <= l.Size() {
		if path, err = l.Consistency(w.Last.Head.Size); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	s, err := w.Sign(l.Head(), path)
	var fork *ledger.ForkError
	if errors.As(err, &fork) {
		if kept := durable.WriteFile(state+".fork", fork.File()); kept != nil {
			err = errors.Join(err, kept)
		}
		return app.Fail(app.ExitVerify, err, "both signed heads are in "+state+".fork; synod operate ledger "+
			"verify says what they prove")
	}
	if err != nil {
		return app.Fail(app.ExitVerify, err)
	}
	if err := durable.WriteFile(state, w.Last.File()); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if err := l.Cosigned(s); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "signed %d entries as the witness %x\n", w.Last.Head.Size, s.Key)
	return nil
}
