package house_test

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// cycleLimit is the most files of a package that may use one another in a cycle, and methodLimit the most methods of a
// type.
const (
	cycleLimit  = 8
	methodLimit = 40
)

// TestHouseCycles counts, for each package of this module, the files of the largest cycle: files that use declarations
// of one another, directly or through others. It also counts the methods of each type.
func TestHouseCycles(t *testing.T) {
	if testing.Short() {
		t.Skip("it checks the types of all packages")
	}
	for _, p := range typed(t, "./...") {
		name := strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module), "/")
		if files := largestCycle(uses(p)); len(files) > cycleLimit {
			t.Errorf("%s: %d of %d files use one another in a cycle; the limit is %d: %s", name, len(files),
				len(p.GoFiles), cycleLimit, strings.Join(files, " "))
		}
		for _, many := range manyMethods(p.Types) {
			t.Errorf("%s: %s has more than %d methods", name, many, methodLimit)
		}
	}
}

// typed returns packages with their types.
func typed(t *testing.T, patterns ...string) []*packages.Package {
	t.Helper()
	all, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax |
		packages.NeedTypes | packages.NeedTypesInfo}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(all) > 0 {
		t.Fatal("packages have errors")
	}
	return all
}

// uses returns, for each file of a package, the other files whose declarations it uses.
func uses(p *packages.Package) map[string]map[string]bool {
	file := func(n ast.Node) string { return filepath.Base(p.Fset.Position(n.Pos()).Filename) }
	all := map[string]map[string]bool{}
	for _, f := range p.Syntax {
		from := file(f)
		all[from] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if o == nil || o.Pkg() != p.Types || !counted(o) {
				return true
			}
			if to := filepath.Base(p.Fset.Position(o.Pos()).Filename); to != from {
				all[from][to] = true
			}
			return true
		})
	}
	return all
}

// counted reports whether an object makes its file one that others use: a declaration of the package, or a method.
func counted(o types.Object) bool {
	if o.Parent() == o.Pkg().Scope() {
		return true
	}
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil
}

// largestCycle returns the files of the largest strongly connected component, sorted; nil if no files use one another.
func largestCycle(uses map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for from := range uses {
		seen, todo := map[string]bool{}, []string{from}
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for to := range uses[at] {
				if !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		reach[from] = seen
	}
	for _, from := range slices.Sorted(maps.Keys(uses)) {
		var cycle []string
		for to := range reach[from] {
			if reach[to][from] {
				cycle = append(cycle, to)
			}
		}
		if len(cycle) > len(largest) {
			largest = cycle
		}
	}
	slices.Sort(largest)
	return largest
}

// manyMethods names the types of a package with more methods than methodLimit.
func manyMethods(p *types.Package) (names []string) {
	for _, name := range p.Scope().Names() {
		o, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		if named, ok := o.Type().(*types.Named); ok && named.NumMethods() > methodLimit {
			names = append(names, name)
		}
	}
	return names
}
