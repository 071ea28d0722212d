package house_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// ranks is the order of packages: each imports only from a lower rank. A folder
// stands for all below it that have no line of their own. A rank between two others has a
// fraction, so that these stay.
var ranks = map[string]float64{
	"":                    0,
	"core/wire":           -1, // the root package encodes its Response with it
	"core/robust":         1,
	"llm/structured":      -1, // internal/compiled and read use it
	"core/clean":          0,
	"core/param":          1,
	"graph":               0,
	"core/stats":          0,
	"core/odds":           0, // how likely an answer is right, from graded questions
	"core/table":          0,
	"core/script":         1,
	"core/sign":           1,
	"network/roster":      2,   // members, keys and who hears whom, signed
	"record/ledger":       2,   // heads that sign signs
	"record/evidence":     3,   // of broadcasts and of the signed messages of a roster
	"network/committee":   3,   // uses roster and sign
	"record/certificate":  5.5, // statements that sign signs, with what protocols of the catalogue claim
	"llm/prompt":          1,
	"llm/read":            1,
	"llm/read/notation":   -1, // llm/read/formula uses it
	"core/journal":        1,
	"llm/probe":           1,
	"protocol":            2, // the interfaces; its folders are below
	"adversary":           5, // it answers prompts of grading and bargaining
	"bench/task":          2,
	"llm/read/refusal":    0,
	"llm/read/formula":    0, // read and task use it
	"llm/engine":          1,
	"llm/models":          1,
	"llm":                 2,
	"core/sim":            3,
	"internal/newcomer":   6,   // a protocol, an adversary and a task as newcomers write them, for tests
	"internal/nodetest":   9,   // it plays runs of nodes under sim
	"record/ledger/child": 3,   // a ledger in a child process
	"internal/witness":    1,   // a public witness of ledgers, for campaigns and tests
	"internal/ledgertest": 3,   // checks ledgers of every kind
	"internal/forge":      5.7, // councils and forged certificates, for campaign and tests
	"internal/simtest":    6,   // it scripts players of the game and evaluators
	"bench/metrics":       3,
	"council/plan":        6, // what a council is
	"council/outcome":     7, // what came out
	"council":             8, // how it is played
	"bench/report":        4,
	"council/seating":     4, // which models to seat, from names and from measurements
	"bench/store":         6, // the database and the journals of a run or grid
	"bench":               9,
	"bench/campaign":      9, // executions of protocols with adversaries, for tests and for users
	"network/link":        3, // authenticated streams between nodes
	"network/node":        9, // plays one seat as a daemon; its folders: the caller's side, rosters of plans
	"cmd/synod":           14,
	"internal/manual":     14, // writes the manual pages of the command line
	"internal/mutants":    14, // runs mutation tests
	"internal/bugs":       14, // seeds bugs
	"internal/endless":    14, // looks for bugs in turns
	"internal/altered":    0,  // builds both from changed texts
	"internal/house":      0,  // tests of these rules
	"internal/nightly":    -2, // tests that make nightly plays
	"internal/golden":     -2, // golden files of tests of all packages

	"cmd/cli":              13,
	"cmd/cli/app":          10, // what all groups of commands share
	"cmd/cli/display":      11, // prints what several groups show
	"cmd/cli/questions":    11, // finds the questions of a task or a file
	"cmd/cli/verification": 11, // checks certificates for several groups and for synod-serve
	"cmd/cli/ask":          12, // the groups of commands
	"cmd/cli/bench":        12,
	"cmd/cli/graph":        12,
	"cmd/cli/operate":      12,
	"cmd/cli/research":     12,
	"cmd/cli/setup":        12,

	"internal/llmtest":   2, // a test server for llm, council, lab and the command line
	"core/reliability":   1,
	"adversary/defence":  1, // a catalogue of switches, for council and the command line
	"council/trust":      2,
	"protocol/*":         4,   // each protocol stands alone
	"protocol/check":     1.5, // what a protocol says to campaigns, which its entry holds
	"protocol/sac":       3,   // cascade lets it decide contested questions
	"protocol/catalog":   5,   // it lists the protocols of this module
	"protocol/broadcast": 2,   // used by several protocols, and by programs that check its evidence
	"protocol/answer":    2,   // what answer-sharing protocols share
	"protocol/grade":     2,   // how evaluators grade answers, in several protocols
	"protocol/bargain":   2,   // prompts and replies where members bargain, for protocols and adversaries
	"protocol/reveal":    2,   // commits to first answers, around the machine of any protocol
	"protocol/leader":    3,   // what leader-based protocols share

	"graph/robustness":    1,
	"graph/format":        1,
	"graph/draw":          1,
	"graph/topology":      2, // one of its topologies is redrawn until robustness says that it is robust enough
	"graph/design":        3,
	"graph/dynamic":       3,  // schedules of topologies
	"graph/internal":      3,  // what the tests of several graph packages share
	"internal/filelock":   -2, // durable uses it
	"internal/durable":    -1, // fetch uses it
	"internal/faultdisk":  0,  // a disk of durable with faults
	"internal/canary":     0,  // secrets of tests
	"internal/reference":  1,  // slow twins of decisions, for campaigns
	"internal/faultcall":  0,  // system calls of a program that fail
	"internal/damage":     0,  // random changes of files
	"internal/order":      -2, // sorts that are compiled once
	"internal/origin":     0,  // the command line tells own files from others
	"internal/fetch":      0,  // downloads for models and tasks
	"internal/sandbox":    0,  // runs programs of operators on answers
	"internal/compiled":   0,  // schemas of questions, for read, adversary, llm and council
	"internal/jsonobject": 0,  // objects with their order and repeated keys
	"internal/keyfile":    2,  // secrets in files
	"internal/program":    2,  // what the programs beside synod share
	"internal/canonical":  0,  // one binary encoding for what is signed
	"bench/collect":       3,  // asks models and grades answers
	"internal/payload":    0,  // texts of adversaries, which adversary writes and llm recognises
	"internal/chart":      0,  // the style and the files of all drawings
}

// pure packages touch no clock, network, file or chance but a seeded one.
var pure = []string{"", "core/robust", "graph", "core/script", "core/sign", "record/certificate", "core/clean",
	"llm/read", "llm/read/refusal", "llm/prompt", "protocol", "adversary", "bench/metrics", "llm/probe",
	"core/stats", "core/odds", "llm/structured", "core/table", "core/reliability", "council/seating",
	"adversary/defence", "internal/reference"}

var impure = []string{"time", "os", "net", "sync", "context", "log", "math/rand", "crypto/rand", "unsafe"}

const module = "synod.dev/synod"

type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestHouse is the order of packages: layers, and purity where it is promised.
func TestHouse(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		rank, own := rankOf(name)
		if rank == noRank {
			t.Errorf("package %s has no rank: give it one in this test, with a reason in its comment", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if isPure(name) && slices.ContainsFunc(impure,
				func(bad string) bool { return i == bad || strings.HasPrefix(i, bad+"/") && bad != "math/rand" }) {
				t.Errorf("pure package %s imports %s", p.ImportPath, i)
			}
			if !strings.HasPrefix(i, module) {
				continue
			}
			below := strings.TrimPrefix(strings.TrimPrefix(i, module), "/")
			r, line := rankOf(below)
			if r >= rank && line != own {
				t.Errorf("%s (rank %v) imports %s (rank %v); only a lower rank may be imported", p.ImportPath, rank, i,
					r)
			}
		}
	}
}

// noRank is the rank of a package that the table does not have.
var noRank = math.Inf(-1)

// rankOf returns a package's rank, or noRank, and the line of the table that has it.
// Packages of one line may import one another.
func rankOf(name string) (rank float64, line string) {
	if r, ok := ranks[name]; ok {
		return r, name
	}
	for at := name; ; {
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return noRank, ""
		}
		at = at[:i]
		if r, ok := ranks[at+"/*"]; ok {
			return r, name // siblings stand apart
		}
		if r, ok := ranks[at]; ok {
			return r, at
		}
	}
}

// lineLimit is the longest line of Go code, in characters with a tab as four.
const lineLimit = 120

// TestHouseLines allows longer lines only in generated files and in raw strings, where a
// line break would change the text: test data, regular expressions, struct tags.
func TestHouseLines(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			if err == nil && d.IsDir() && d.Name() != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, src, parser.ParseComments)
		if err != nil || ast.IsGenerated(parsed) {
			return err
		}
		raw := map[int]bool{} // lines with a raw string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Value[0] == '`' {
				for l := files.Position(s.Pos()).Line; l <= files.Position(s.End()).Line; l++ {
					raw[l] = true
				}
			}
			return true
		})
		for i, line := range strings.Split(string(src), "\n") {
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > lineLimit && !raw[i+1] {
				t.Errorf("%s:%d has %d characters; the limit is %d", path, i+1, n, lineLimit)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isPure(name string) bool {
	return name != "llm/read/formula" && slices.ContainsFunc(pure, func(p string) bool {
		return name == p || p != "" && strings.HasPrefix(name, p+"/")
	})
}

func listPackages(t *testing.T) (all []goPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestArchitecture checks that docs/extend/architecture.md names every line of the table of
// ranks.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("docs/extend/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range ranks {
		if name == "" {
			name = "synod"
		}
		if !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("docs/extend/architecture.md does not name package %s", name)
		}
	}
}
