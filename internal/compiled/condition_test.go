package compiled

import (
	"strings"
	"testing"

	"synod.dev/synod/llm/structured"
)

func schema(t *testing.T, text string) *structured.Schema {
	t.Helper()
	s, err := Schema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(t *testing.T, text string) *structured.Value {
	t.Helper()
	v, err := structured.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Conditions in CEL hold of numbers as people write them, may use members that are absent only where they test for
// them, and cannot cost much.
func TestExpressions(t *testing.T) {
	const s = `{"type":"object","properties":{"net":{"type":"number"},"vat":{"type":"number"},"gross":{"type":"number"},` +
		`"items":{"type":"array"},"name":{"type":"string"}},"x-check":%s}`
	object := `{"net":100.10,"vat":19.02,"gross":119.12,"items":[{"p":1.5},{"p":2.5}],"name":"x"}`
	for _, c := range []struct {
		check string
		meets bool
	}{
		{`"net + vat == gross"`, true}, {`"net + vat != gross"`, false}, {`"net + vat < gross"`, false},
		{`"net + vat <= gross && gross >= net"`, true}, {`"gross > net + 1"`, true}, {`"net + 20 == gross"`, false},
		{`"vat / net < 0.2"`, true}, {`"size(items) == 2"`, true}, {`"items.size() + 1 == 3"`, true},
		{`"items.all(i, i.p > 1)"`, true}, {`"items.exists_one(i, i.p == 2.5)"`, true}, {`"items[0].p == 1.5"`, true},
		{`"!has(self.tip) || self.tip < net"`, true}, {`"self.tip < net"`, false}, {`"name == 'x'"`, true},
		{`"name == 1"`, false}, {`["net > 0","vat > 0"]`, true}, {`["net > 0","vat < 0"]`, false},
		{`"name < 3"`, false}, {`"name.matches('^[a-z]$')"`, true},
		{`"items.all(a, items.all(b, items.all(c, items.all(d, items.all(e, a == b || c == d || e == a || true)))))"`, true},
	} {
		err := schema(t, strings.Replace(s, "%s", c.check, 1)).Validate(value(t, object))
		if (err == nil) != c.meets {
			t.Errorf("%s: %v", c.check, err)
		}
	}
	for check, want := range map[string]string{
		`"net + brutto > 0"`: `undeclared reference to 'brutto'`, `"net +"`: "Syntax error", `"1 + 2"`: "must be true or false",
		`1`: "must be an expression in CEL", `"` + strings.Repeat("net+", 300) + `net > 0"`: "at most 1000 are allowed",
		`"` + strings.Repeat("(", 200) + `net` + strings.Repeat(")", 200) + ` > 0"`: "recursion limit",
	} {
		_, err := Schema([]byte(strings.Replace(s, "%s", check, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", check, err, want)
		}
	}
}

// An expression that would cost too much ends with an error.
func TestExpressionCost(t *testing.T) {
	list := `[` + strings.Repeat("1,", 199) + `1]`
	s := `{"type":"object","properties":{"l":{"type":"array"}},"x-check":"l.all(a, l.all(b, l.all(c, a == b || b == c)))"}`
	err := schema(t, s).Validate(value(t, `{"l":`+list+`}`))
	if err == nil || !strings.Contains(err.Error(), "cannot be checked within 100000 steps") {
		t.Errorf("%v", err)
	}
}

// Where nobody compiles conditions, no value of their object is valid.
func TestUnknownConditions(t *testing.T) {
	s, err := structured.Compile([]byte(`{"type":"object","x-check":"true"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value(t, `{}`)); err == nil || !strings.Contains(err.Error(), "not evaluated here") {
		t.Error(err)
	}
}
