package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// folder is one package with mutants: its files, parsed and typed.
type folder struct {
	dir, name string
	path      string // import path
	set       *token.FileSet
	files     map[string]*ast.File
	source    map[string][]byte
	sites     map[string][]*site // by file, in the order of the source, the outer one first
	info      *types.Info
	pkg       *types.Package
	importer  types.Importer
}

// site is an expression or statement with mutants.
type site struct {
	node     ast.Node
	mutants  []*mutant
	constant bool // the language wants a constant here, so that nothing can be switched
}

// load reads the packages that the mutants are in.
func load(list []*mutant) ([]*folder, error) {
	var dirs []string
	for _, m := range list {
		dirs = append(dirs, filepath.Dir(m.file))
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	imports, found, err := goList(dirs)
	if err != nil {
		return nil, err
	}
	var folders []*folder
	for _, p := range found {
		f := &folder{dir: p.Dir, name: p.Name, path: p.ImportPath, set: token.NewFileSet(), importer: imports,
			files: map[string]*ast.File{}, source: map[string][]byte{}, sites: map[string][]*site{}}
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			if f.source[file], err = os.ReadFile(file); err != nil {
				return nil, err
			}
			if f.files[file], err = parser.ParseFile(f.set, file, f.source[file], parser.ParseComments); err != nil {
				return nil, err
			}
		}
		f.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if f.pkg, err = f.check(f.set, f.files, f.info); err != nil {
			return nil, err
		}
		if err := f.locate(list); err != nil {
			return nil, err
		}
		folders = append(folders, f)
	}
	return folders, nil
}

type listed struct {
	Dir, Name, ImportPath, Export string
	GoFiles                       []string
}

// goList asks the go command for packages and for the export data of all that they import.
func goList(dirs []string) (types.Importer, []listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps",
		"-json=Dir,Name,ImportPath,Export,GoFiles", "os", "strconv"}, dirs...)...) // the helpers need these two
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w\n%s", err, problems.String())
	}
	exports := map[string]string{}
	var found []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if slices.Contains(dirs, p.Dir) {
			found = append(found, p)
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	}), found, nil
}

func (f *folder) check(set *token.FileSet, files map[string]*ast.File, info *types.Info) (*types.Package, error) {
	var list []*ast.File
	for _, file := range files {
		list = append(list, file)
	}
	slices.SortFunc(list, func(a, b *ast.File) int { return int(a.Pos() - b.Pos()) })
	return (&types.Config{Importer: f.importer}).Check(f.path, set, list, info)
}

// locate finds the nodes of the mutants and what each mutant replaces.
func (f *folder) locate(list []*mutant) error {
	type place struct {
		file         string
		line, column int
	}
	at := map[place][]*mutant{}
	for _, m := range list {
		if filepath.Dir(m.file) == f.dir {
			at[place{m.file, m.line, m.column}] = append(at[place{m.file, m.line, m.column}], m)
		}
	}
	for file, tree := range f.files {
		lines := bytes.Split(f.source[file], []byte("\n"))
		var constants []ast.Node
		ast.Inspect(tree, func(n ast.Node) bool {
			constants = append(constants, constantPart(n))
			op, pos := operator(n)
			p := f.set.Position(pos)
			mutants := at[place{file, p.Line, p.Column}]
			if !pos.IsValid() || len(mutants) == 0 {
				return true
			}
			delete(at, place{file, p.Line, p.Column})
			s := &site{node: n, mutants: mutants, constant: slices.ContainsFunc(constants, func(c ast.Node) bool {
				return c != nil && c.Pos() <= n.Pos() && n.End() <= c.End()
			})}
			for _, m := range mutants {
				m.from, m.to = op, exchanges[m.kind][op]
				m.text = string(bytes.TrimSpace(lines[m.line-1]))
			}
			f.sites[file] = append(f.sites[file], s)
			return true
		})
	}
	for p := range at {
		return fmt.Errorf("gremlins lists %s:%d:%d, where no operator is", p.file, p.line, p.column)
	}
	return nil
}

// constantPart returns the part of a node that must be constant.
func constantPart(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.GenDecl:
		if n.Tok == token.CONST {
			return n
		}
	case *ast.ArrayType:
		if n.Len != nil {
			return n.Len
		}
	}
	return nil
}

func operator(n ast.Node) (token.Token, token.Pos) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.Op, n.OpPos
	case *ast.UnaryExpr:
		return n.Op, n.OpPos
	case *ast.IncDecStmt:
		return n.Tok, n.TokPos
	}
	return token.ILLEGAL, token.NoPos
}
