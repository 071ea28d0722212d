package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"
)

// Templates of a user's folder may come from elsewhere. They cannot loop for ever, take all
// memory or write endless prompts: a rendering may take maxSteps steps and build maxBuilt
// bytes. A step is a node of the template, each time that it is executed, so the limit
// bounds the time without a clock.
const (
	maxFile  = 256 << 10 // bytes of a template
	maxSteps = 20_000
	maxBuilt = 4 << 20 // bytes of output and of all texts that functions return
	maxText  = 1 << 20 // bytes of the texts that one call of a function is given, or returns
)

// readTemplate reads a file of a layer. Files of a user are bounded.
func readTemplate(layer fs.FS, file string, users bool) ([]byte, error) {
	if info, err := fs.Stat(layer, file); users && err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		return nil, fmt.Errorf("it must be a file of at most %d bytes", maxFile)
	}
	return fs.ReadFile(layer, file)
}

// guard makes a template count its steps: it writes an empty text before each of them. It
// fails if a part of the template includes itself.
func guard(t *template.Template) error {
	calls := map[string][]string{}
	for _, part := range t.Templates() {
		if part.Tree != nil && part.Root != nil {
			guardList(part.Root, func(name string) { calls[part.Name()] = append(calls[part.Name()], name) })
		}
	}
	for name := range calls {
		if reaches(calls, name, name, map[string]bool{}) {
			return fmt.Errorf("%q includes itself", name)
		}
	}
	return nil
}

// reaches reports whether one part of a template includes another, by any number of parts.
func reaches(calls map[string][]string, from, to string, seen map[string]bool) bool {
	for _, next := range calls[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(calls, next, to, seen) {
				return true
			}
		}
	}
	return false
}

// guardList puts steps before the nodes of a list. included is called with the names of the
// parts that it includes.
func guardList(list *parse.ListNode, included func(string)) {
	if list == nil {
		return
	}
	nodes := []parse.Node{step()} // a loop without a body takes steps too
	for _, n := range list.Nodes {
		steps := 1
		switch n := n.(type) {
		case *parse.ActionNode:
			steps += commands(n.Pipe)
		case *parse.TemplateNode:
			steps += commands(n.Pipe)
			included(n.Name)
		case *parse.IfNode:
			steps += guardBranch(&n.BranchNode, included)
		case *parse.RangeNode:
			steps += guardBranch(&n.BranchNode, included)
		case *parse.WithNode:
			steps += guardBranch(&n.BranchNode, included)
		}
		for range steps {
			nodes = append(nodes, step())
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
}

func guardBranch(n *parse.BranchNode, included func(string)) int {
	guardList(n.List, included)
	guardList(n.ElseList, included)
	return commands(n.Pipe)
}

// commands counts the function calls of a pipeline.
func commands(pipe *parse.PipeNode) (n int) {
	if pipe == nil {
		return 0
	}
	for _, c := range pipe.Cmds {
		n++
		for _, arg := range c.Args {
			if inner, ok := arg.(*parse.PipeNode); ok {
				n += commands(inner)
			}
		}
	}
	return n
}

func step() parse.Node { return &parse.TextNode{NodeType: parse.NodeText} }

// meter bounds one rendering of a guarded template.
type meter struct {
	out          strings.Builder
	steps, built int
}

var errEndless = fmt.Errorf("the template takes more than %d steps; does it loop?", maxSteps)

// Write implements io.Writer.
func (m *meter) Write(b []byte) (int, error) {
	if len(b) == 0 {
		m.steps++
	}
	if m.steps > maxSteps {
		return 0, errEndless
	}
	if err := m.build(len(b)); err != nil {
		return 0, err
	}
	return m.out.Write(b)
}

func (m *meter) build(n int) error {
	if m.built += n; m.built > maxBuilt {
		return fmt.Errorf("the template builds more than %d bytes of text", maxBuilt)
	}
	return nil
}

// functions are the functions of package template that build texts, with limits.
func (m *meter) functions() template.FuncMap {
	return template.FuncMap{
		"print":   m.bounded(fmt.Sprint),
		"println": m.bounded(fmt.Sprintln),
		"printf": func(format string, args ...any) (string, error) {
			if wide.MatchString(format) {
				return "", errors.New("printf: a width or precision has at most 3 digits")
			}
			return m.bounded(func(args ...any) string { return fmt.Sprintf(format, args...) })(args...)
		},
		"html":     m.bounded(template.HTMLEscaper),
		"js":       m.bounded(template.JSEscaper),
		"urlquery": m.bounded(template.URLQueryEscaper),
	}
}

// wide matches a width or a precision that makes a short argument long.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*([0-9]{4}|\*)`)

func (m *meter) bounded(f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		size := 0
		for _, a := range args {
			if s, ok := a.(string); ok {
				size += len(s)
			}
		}
		if size > maxText {
			return "", fmt.Errorf("a function is given %d bytes of text; the limit is %d", size, maxText)
		}
		text := f(args...)
		if len(text) > maxText {
			return "", fmt.Errorf("a function returns %d bytes of text; the limit is %d", len(text), maxText)
		}
		return text, m.build(len(text))
	}
}
