package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// naming are the files that may name a protocol although they are neither in its folder nor in the catalogue, and why.
// A folder stands for all files below it. Everything else finds out what a protocol is by its traits (synod.Trait), by
// the interfaces of package protocol, or by what its entry says.
var naming = map[string]string{
	"bench/computed": "figures of papers about cascade and the votes that it is compared with",
	"bench/scale":    "figures about W-MSR on large graphs",

	"bench/attack/history.go":     "the plain vote, with which weights from history are compared",
	"bench/manifest/manifest.go":  "an example of a manifest",
	"bench/manifest/questions.go": "a task, the question of the consensus game",
	"bench/report":                "columns of tables with the baseline of a plain vote",

	"cmd/cli/app/journal.go":        "journals of games, which have a command of their own",
	"cmd/cli/bench/measuring.go":    "the plain vote, by which models are measured",
	"cmd/cli/bench/grid.go":         "the flag --rounds, which is for games",
	"cmd/cli/graph/graph.go":        "the value of --rule for SAC's property 4.3",
	"cmd/cli/groups.go":             "the name of the command game",
	"cmd/cli/research/game.go":      "the command game",
	"cmd/cli/research/gameboard.go": "the command game",
	"cmd/cli/research/gamespec.go":  "the command game",
	"cmd/cli/setup/demo.go":         "the demonstration, which compares SAC with a plain vote",

	"cmd/cli/bench/choices.go": "the councils that a calibration recommends",

	"cmd/synod-serve/internal/mcpserver/check.go":         "the value of --rule of synod graph check",
	"cmd/synod-serve/internal/gateway":                    "a status, of an answer by one member without a council",
	"cmd/synod-serve/internal/gatewaytest/gatewaytest.go": "a council of tests",
	"cmd/synod-serve/internal/overhead":                   "councils whose overhead is measured",
	"cmd/synod-serve/internal/wire/request.go":            "an example in an error",

	"core/robust/withstands.go":   "a rule of votes",
	"council/plan/certify.go":     "advice in errors, which name a protocol with certificates of merged values",
	"council/plan/proposed.go":    "the default protocol of council files",
	"council/plan/schema.go":      "rules of the game, which the schema lists",
	"council/plan/set.go":         "an example in an error",
	"council/plan/spec.go":        "an example of a council file",
	"council/plan/structured.go":  "advice in errors, which name protocols that decide merged prose",
	"internal/forge":              "a rule of votes, and forged certificates of protocols with each kind of claim",
	"internal/reference":          "rules of votes and of the game",
	"network/roster/terms.go":     "a rule of votes",
	"record/certificate/claim.go": "a rule of votes",
	"record/certificate/merge.go": "a rule of votes",
}

// TestHouseProtocols finds files that name a protocol, or import its folder, and are not on the list.
func TestHouseProtocols(t *testing.T) {
	names, folders := protocols(t)
	council := regexp.MustCompile(`"?name"?: "?(` + strings.Join(names, "|") + `)\b`)
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "examples/") || slices.ContainsFunc(folders, func(dir string) bool {
			return strings.HasPrefix(path, dir+"/")
		}) {
			return err
		}
		for _, what := range namedIn(t, path, names, folders, council) {
			if at := allowed(path); at != "" {
				used[at] = true
				continue
			}
			t.Errorf("%s: match its traits, ask an interface of package protocol, or let the protocol's entry say it; "+
				"or list the file with the reason", what)
		}
		return nil
	})
	if err != nil || len(names) < 14 {
		t.Errorf("%d protocols: %v", len(names), err)
	}
	for path := range naming {
		if !used[path] {
			t.Errorf("%s is on the list and names no protocol", path)
		}
	}
}

// protocols returns the names of the protocols and the folders that may name them.
func protocols(t *testing.T) (names, folders []string) {
	entry := regexp.MustCompile(`(?s)\nvar Entry = protocol\.Entry\{.*?synod\.Entry\{Name: "([^"]+)"`)
	files, err := filepath.Glob("protocol/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := entry.FindSubmatch(b); m != nil {
			names, folders = append(names, string(m[1])), append(folders, filepath.ToSlash(filepath.Dir(path)))
		}
	}
	return names, append(folders, "protocol/catalog")
}

// allowed returns the line of the list that a file stands on; "": none.
func allowed(path string) string {
	for at := path; at != "."; at = filepath.ToSlash(filepath.Dir(at)) {
		if naming[at] != "" {
			return at
		}
	}
	return ""
}

// namedIn returns where a file names a protocol.
func namedIn(t *testing.T, path string, names, folders []string, council *regexp.Regexp) (found []string) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		folder := strings.TrimPrefix(text, module+"/")
		if slices.Contains(names, text) || council.MatchString(text) || folder != text &&
			slices.Contains(folders[:len(folders)-1], folder) {
			found = append(found, files.Position(lit.Pos()).String()+" has "+lit.Value)
		}
		return true
	})
	return found
}
