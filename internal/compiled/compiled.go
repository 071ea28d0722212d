// Package compiled keeps compiled JSON schemas, conditions in CEL and regular expressions, because a question is read
// many times with the same ones. Its functions return what package structured and CEL do; only the time that they take
// depends on earlier calls.
//
// It has rank 0, because it needs only package structured, and is apart from it, because that one is pure.
package compiled

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"

	"synod.dev/synod/llm/structured"
)

// most is how many of each are kept. Together they have a few MB.
const most = 64

var kept struct {
	sync.Mutex
	schemas    map[string]*structured.Schema
	conditions map[string]structured.Condition
	patterns   map[string]*regexp.Regexp
}

// Condition returns a condition in CEL over a value, self.
func Condition(text string) (structured.Condition, error) {
	return keep(&kept.conditions, text, func() (structured.Condition, error) { return condition(text, nil) })
}

// Pattern returns a regular expression, which may come from a stranger. It takes a text of 64 KB in about a second at
// most.
func Pattern(text string) (*regexp.Regexp, error) {
	return keep(&kept.patterns, text, func() (*regexp.Regexp, error) {
		tree, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		if size(tree) > maxPattern {
			return nil, fmt.Errorf("its repetitions make more than %d steps of it", maxPattern)
		}
		return regexp.Compile(text)
	})
}

// maxPattern bounds the size of a regular expression whose repetitions are written out.
const maxPattern = 2000

// size is that of a regular expression whose repetitions are written out; more than maxPattern is too much.
func size(x *syntax.Regexp) int {
	n := 1 + len(x.Rune)
	for _, sub := range x.Sub {
		n += size(sub)
	}
	if x.Op == syntax.OpRepeat {
		n *= max(x.Min, x.Max, 1)
	}
	return min(n, maxPattern+1)
}

// Schema returns structured.Compile of a text. An empty text is the schema of any object: the arguments of a
// tool that describes none.
func Schema(text []byte) (*structured.Schema, error) {
	if len(text) == 0 {
		text = []byte(`{"type":"object"}`)
	}
	return keep(&kept.schemas, string(text), func() (*structured.Schema, error) {
		return structured.Compile(text, condition)
	})
}

// keep returns what is kept for a text, or makes it.
func keep[T any](all *map[string]T, text string, compile func() (T, error)) (T, error) {
	kept.Lock()
	v, ok := (*all)[text]
	kept.Unlock()
	if ok {
		return v, nil
	}
	v, err := compile()
	if err != nil {
		return v, err
	}
	kept.Lock()
	defer kept.Unlock()
	if *all == nil || len(*all) >= most {
		*all = map[string]T{}
	}
	(*all)[text] = v
	return v, nil
}
