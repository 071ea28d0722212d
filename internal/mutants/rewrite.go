package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"strings"
)

// helpers is the text that a mutated package gets: mutantIs tells whether a mutant is switched on, and notes, for the
// first run without a mutant, which places a test reaches.
const helpers = `package %[1]s

import (
	mutantOS "os"
	mutantConv "strconv"
)

var (
	mutantActive, _ = mutantConv.Atoi(mutantOS.Getenv("MUTANT"))
	mutantReached [%[2]d]bool
)

func mutantIs(id int) bool {
	if !mutantReached[id] {
		mutantNote(id)
	}
	return id == mutantActive
}

func mutantNote(id int) {
	mutantReached[id] = true
	name := mutantOS.Getenv("MUTANT_REACHED")
	if name == "" {
		return
	}
	f, err := mutantOS.OpenFile(name, mutantOS.O_APPEND|mutantOS.O_CREATE|mutantOS.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(mutantConv.Itoa(id) + "\n"); err != nil {
		panic(err)
	}
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantNumber interface{ mutantInteger | ~float32 | ~float64 }

func mutantADD[T mutantNumber](id int, x, y T) T {
	if mutantIs(id) {
		return x - y
	}
	return x + y
}

func mutantSUB[T mutantNumber](id int, x, y T) T {
	if mutantIs(id) {
		return x + y
	}
	return x - y
}

func mutantMUL[T mutantNumber](id int, x, y T) T {
	if mutantIs(id) {
		return x / y
	}
	return x * y
}

func mutantQUO[T mutantNumber](id int, x, y T) T {
	if mutantIs(id) {
		return x * y
	}
	return x / y
}

func mutantREM[T mutantInteger](id int, x, y T) T {
	if mutantIs(id) {
		return x * y
	}
	return x %% y
}

func mutantNEG[T mutantNumber](id int, x T) T {
	if mutantIs(id) {
		return x
	}
	return -x
}

func mutantSTEP[T mutantNumber](id int, _ T) T {
	one := T(1)
	if mutantIs(id) {
		return -one
	}
	return one
}
`

// rewriter writes a file with its mutants behind switches.
type rewriter struct {
	*folder
	file string
	base int // the offset of the file in its set
	keep func(*site) bool
}

// rewrite returns the text of a folder's files with all sites that keep accepts, and the helpers.
func (f *folder) rewrite(size int, keep func(*site) bool) map[string]string {
	out := map[string]string{f.helper(): fmt.Sprintf(helpers, f.name, size)}
	for file, tree := range f.files {
		r := &rewriter{folder: f, file: file, base: f.set.File(tree.Pos()).Base(), keep: keep}
		out[file] = r.span(token.Pos(r.base), token.Pos(r.base+len(f.source[file])))
	}
	return out
}

func (f *folder) helper() string { return filepath.Join(f.dir, "mutants_switch.go") }

// types tells whether rewritten text is valid Go.
func (f *folder) typechecks(text map[string]string) bool {
	set := token.NewFileSet()
	files := map[string]*ast.File{}
	for name, t := range text {
		tree, err := parser.ParseFile(set, name, t, parser.SkipObjectResolution)
		if err != nil {
			return false
		}
		files[name] = tree
	}
	_, err := f.check(set, files, nil)
	return err == nil
}

// switchable returns the sites that can be switched at run time. Where the language wants a constant, or a type has
// no name here, the mutant must be compiled alone.
func (f *folder) switchable(size int) map[*site]bool {
	all := map[*site]bool{}
	for _, sites := range f.sites {
		for _, s := range sites {
			if !s.constant {
				all[s] = true
			}
		}
	}
	if f.typechecks(f.rewrite(size, func(s *site) bool { return all[s] })) {
		return all
	}
	for s := range maps.Clone(all) {
		if !f.typechecks(f.rewrite(size, func(o *site) bool { return o == s })) {
			delete(all, s)
		}
	}
	return all
}

// span is the text between two positions.
func (r *rewriter) span(from, to token.Pos) string {
	var b bytes.Buffer
	at := from
	for _, s := range r.sites[r.file] {
		if s.node.Pos() < at || s.node.End() > to || !r.keep(s) {
			continue
		}
		b.Write(r.source[r.file][int(at)-r.base : int(s.node.Pos())-r.base])
		b.WriteString(r.site(s))
		at = s.node.End()
	}
	b.Write(r.source[r.file][int(at)-r.base : int(to)-r.base])
	return b.String()
}

func (r *rewriter) site(s *site) string {
	id := s.mutants[0].id
	switch n := s.node.(type) {
	case *ast.IncDecStmt:
		x := r.span(n.X.Pos(), n.X.End())
		op := map[token.Token]string{token.INC: "+=", token.DEC: "-="}[n.Tok]
		return fmt.Sprintf("%s %s mutantSTEP%s(%d, %s)", x, op, r.typeOf(n.X), id, x)
	case *ast.UnaryExpr:
		return fmt.Sprintf("mutantNEG%s(%d, %s)", r.typeOf(n), id, r.span(n.X.Pos(), n.X.End()))
	case *ast.BinaryExpr:
		x, y := r.span(n.X.Pos(), n.X.End()), r.span(n.Y.Pos(), n.Y.End())
		if _, comparison := exchanges["CONDITIONALS_NEGATION"][n.Op]; comparison {
			return compare(s.mutants, x, n.Op, y)
		}
		name := map[token.Token]string{token.ADD: "ADD", token.SUB: "SUB", token.MUL: "MUL", token.QUO: "QUO",
			token.REM: "REM"}[n.Op]
		return fmt.Sprintf("mutant%s%s(%d, %s, %s)", name, r.typeOf(n), id, x, y)
	}
	panic(fmt.Sprintf("no mutants are known for %T", s.node))
}

// compare is a comparison behind switches. It repeats the operands, of which only one copy is evaluated, because a
// function could not take all kinds of them: nil, constants without a type, functions.
func compare(mutants []*mutant, x string, op token.Token, y string) string {
	var changed, not []string
	for _, m := range mutants {
		changed = append(changed, fmt.Sprintf("mutantIs(%d) && (%s %s %s) || ", m.id, x, m.to, y))
		not = append(not, fmt.Sprintf("!mutantIs(%d) && ", m.id))
	}
	return fmt.Sprintf("(%s%s(%s %s %s))", strings.Join(changed, ""), strings.Join(not, ""), x, op, y)
}

// typeOf is the type argument of a helper, or nothing where Go infers it.
func (r *rewriter) typeOf(e ast.Expr) string {
	t := r.info.TypeOf(e)
	own := true
	name := types.TypeString(t, func(p *types.Package) string {
		own = own && p == r.pkg
		return ""
	})
	if b, basic := t.(*types.Basic); !own || basic && b.Info()&types.IsUntyped != 0 {
		return ""
	}
	return "[" + name + "]"
}
