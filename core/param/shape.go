package param

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxText is the longest YAML text that is read, in bytes.
const MaxText = 1 << 20

// Bounds of a YAML text. The decoder takes time and memory that grow faster than the text:
// 32 kB of opening brackets took 2 GB.
const (
	maxMarks   = 400_000 // characters that have a meaning in YAML
	maxKeys    = 10_000  // colons: every key of a section is compared with all others
	maxNesting = 64
	maxAliased = 4 << 20 // bytes of the text times aliases
)

// checkShape rejects a text that would take the decoder too long.
func checkShape(text []byte) error {
	if len(text) > MaxText {
		return fmt.Errorf("this has %d bytes; at most %d are read", len(text), MaxText)
	}
	marks, nesting := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{', '-', '?', '&', '*', '!', '|', '>':
			nesting++
			marks++
		case ']', '}', ',', ':', '\n', '"', '\'', '#', '%':
			marks++
		}
	}
	if keys := bytes.Count(text, []byte{':'}); keys > maxKeys {
		return fmt.Errorf("this has %d colons; at most %d are read", keys, maxKeys)
	}
	if marks > maxMarks {
		return fmt.Errorf("this has %d brackets, commas, lines and the like; at most %d are read", marks, maxMarks)
	}
	if nesting > maxNesting { // only then the text can be nested too deeply
		if err := checkNesting(text); err != nil {
			return err
		}
	}
	if aliases := bytes.Count(text, []byte{'*'}); aliases > 0 && bytes.IndexByte(text, '&') >= 0 {
		return checkAliases(text, aliases)
	}
	return nil
}

// checkNesting rejects a text whose lists and sections are nested too deeply.
func checkNesting(text []byte) error {
	flow, entries, line := 0, 0, 0
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Position.Line != line {
			entries, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType, token.AliasType:
			entries++
		}
		if flow > maxNesting || entries > 4*maxNesting {
			return &Error{line, "", fmt.Sprintf("this is nested more than %d levels deep", maxNesting)}
		}
	}
	return nil
}

// checkAliases rejects aliases that could make a short text long: every alias is replaced by
// the value that it names.
func checkAliases(text []byte, aliases int) error {
	if aliases*len(text) > maxAliased {
		return fmt.Errorf("this has %d aliases; at most %d are read in a text of %d bytes", aliases,
			maxAliased/len(text), len(text))
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil // the decoder has a better error
	}
	var inside aliasFinder
	for _, doc := range file.Docs {
		ast.Walk(&inside, doc)
	}
	if inside.line > 0 {
		return &Error{inside.line, "", "a value with an anchor (&) contains an alias (*); write the value out"}
	}
	return nil
}

// aliasFinder finds an alias in a value with an anchor.
type aliasFinder struct {
	anchored bool
	line     int // 0: none was found
}

// Visit implements ast.Visitor.
func (f *aliasFinder) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.AnchorNode:
		inner := aliasFinder{anchored: true}
		ast.Walk(&inner, n.Value)
		f.line = max(f.line, inner.line)
		return nil
	case *ast.AliasNode:
		if f.anchored {
			f.line = n.GetToken().Position.Line
		}
	}
	return f
}
