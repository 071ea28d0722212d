package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runnersOwn are the files of the runners: only they may ask who a runner is.
var runnersOwn = []string{"council/plan/runners.go", "council/runner.go", "council/clock.go",
	"network/node/call/runner.go"}

// whoRuns are the names that tell one runner from another.
var whoRuns = []string{"RunnerSim", "RunnerClock", "RunnerNodes", "SimRunner", "ClockRunner"}

// TestHouseRunners finds code that asks who a runner is. It should ask for a capability (plan.Capabilities).
func TestHouseRunners(t *testing.T) {
	asking := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if n == nil || !asksWho(n) {
				return true
			}
			if asking++; !slices.Contains(runnersOwn, filepath.ToSlash(path)) {
				t.Errorf("%s asks who a runner is; ask for a capability (plan.Capabilities)", files.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || asking < 5 {
		t.Errorf("%d questions in the runners' own files: %v", asking, err)
	}
}

// asksWho reports whether a node names a runner, reads the name of one, or takes a runner for one of nodes.
func asksWho(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.Ident:
		return slices.Contains(whoRuns, x.Name)
	case *ast.SelectorExpr:
		of, chained := x.X.(*ast.SelectorExpr)
		return chained && of.Sel.Name == "Runner" && x.Sel.Name == "Name"
	case *ast.TypeAssertExpr:
		star, _ := x.Type.(*ast.StarExpr)
		if star == nil {
			return false
		}
		of, ok := star.X.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "Runner"
	}
	return false
}
