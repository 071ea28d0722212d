package engine

import (
	"regexp"
	"strings"
	"testing"
)

// unicodeEscape is what Go's syntax has not.
var unicodeEscape = regexp.MustCompile(`\\u([0-9a-f]{4})|\\U([0-9a-f]{8})`)

// A grammar's regular expression matches the texts of the grammar.
func TestRegexp(t *testing.T) {
	schema := func(text string) string {
		g, err := Grammar([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct{ grammar, yes, no string }{
		{`root ::= " " "-"? [0-9]? ("." [0-9])? "\n"`, " -3.5\n| \n| .1\n", "3\n| 3| -x\n| 3x5\n"},
		{`root ::= "a+\"\\" r0 | [^"\\]` + "\n" + `r0 ::= "b"{1,2}`, `a+"\b|a+"\bb|q`, `aa"\b|a+"\|a+"\bbb|"`},
		{schema(`{"type":"object","properties":{"why":{"type":"string","maxLength":9},"answer":{"enum":["A","B"]},
			"sure":{"type":"number"}},"required":["why","answer","sure"]}`),
			`{"why":"a \"b\"","answer":"B","sure":0.25}|{"why":"","answer":"A","sure":-7}`,
			`{"why":"","answer":"C","sure":1}|{"why":"0123456789","answer":"A","sure":1}|{"why":"","answer":"A","sure":1}}`},
		{schema(`{"type":"array","items":{"type":["integer","null"]},"maxItems":3}`), `[]|[1,null,3]`, `[1,]|[1,2,3,4]|[1.5]`},
		{schema(`{"type":"string","pattern":"^a.c$"}`), `"abc"|"a(c"`, `"ab"|abc`},
	} {
		text, err := Regexp(c.grammar)
		if err != nil {
			t.Errorf("%s: %v", c.grammar, err)
			continue
		}
		re, err := regexp.Compile(`^(?:` + unicodeEscape.ReplaceAllString(text, `\x{$1$2}`) + `)$`)
		if err != nil {
			t.Errorf("%s: %v", c.grammar, err)
			continue
		}
		for texts, want := range map[string]bool{c.yes: true, c.no: false} {
			for text := range strings.SplitSeq(texts, "|") {
				if re.MatchString(text) != want {
					t.Errorf("%s: %q matches: %t", re, text, !want)
				}
			}
		}
	}
	for _, bad := range []string{"", `root ::= r0`, "root ::= r0\nr0 ::= \"a\" root", `root ::= "a" .`,
		schema(`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}}},"required":["a"]}`)} {
		if text, err := Regexp(bad); err == nil {
			t.Errorf("%s: %s", bad, text)
		}
	}
}
