package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// variable is the environment variable that switches a bug on by its name.
const variable = "SEEDED_BUG"

// tag is the build tag of the switches. Changed files do not compile without it.
const tag = "seeded"

// switches is the text of the file that a package with bugs gets.
const switches = `//go:build ` + tag + `

package %s

import seededOS "os"

var seededBug = seededOS.Getenv("` + variable + `")

func seededIs(name string) bool { return seededBug == name }
`

// seed returns the text of the files with all bugs of a list behind their switches, by absolute path.
func seed(root string, list []*Bug) (map[string]string, error) {
	byFile := map[string][]*Bug{}
	for _, b := range list {
		byFile[b.File] = append(byFile[b.File], b)
	}
	text := map[string]string{}
	for file, bugs := range byFile {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		text[path] = seedFile(string(source), tree, bugs)
		text[filepath.Join(filepath.Dir(path), "seeded_bugs.go")] = fmt.Sprintf(switches, tree.Name.Name)
	}
	return text, nil
}

// seedFile returns a file in which the body of a function with bugs begins with a copy of the body for each of them,
// which is played in its place if the bug is switched on.
func seedFile(source string, tree *ast.File, bugs []*Bug) string {
	var out strings.Builder
	base, at := int(tree.FileStart), 0
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := int(f.Body.Lbrace)-base+1, int(f.Body.Rbrace)-base
		for _, b := range bugs {
			if b.function(tree) != f {
				continue
			}
			out.WriteString(source[at:begin])
			at = begin
			results := ""
			if f.Type.Results != nil {
				results = source[int(f.Type.Results.Pos())-base : int(f.Type.Results.End())-base]
			}
			body := source[begin:b.at] + b.New + source[b.at+len(b.Old):end]
			out.WriteString(copied(b.Name, results, body))
		}
	}
	return out.String() + source[at:]
}

// copied is the text that plays a body with a bug. The body is that of a function of its own, so that its labels,
// named results and deferred calls are its own.
func copied(name, results, body string) string {
	call := fmt.Sprintf("func() %s {%s}()", results, body)
	if results == "" {
		call += "\nreturn"
	} else {
		call = "return " + call
	}
	return fmt.Sprintf("\nif seededIs(%q) {\n%s\n}\n", name, call)
}
