package param_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"synod.dev/synod/core/param"
)

type inner struct {
	Webhook string `yaml:"webhook"`
	Limit   *int   `yaml:"limit"`
	Sizes   []int  `yaml:"sizes"`
}

type target struct {
	Rounds int     `yaml:"rounds"`
	P      float64 `yaml:"p"`
	Hidden bool    `yaml:"-"`
	Inner  inner   `yaml:"inner"`
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name  string
		given map[string]any
		want  target
		err   string
	}{
		{"nothing keeps the defaults", nil, target{Rounds: 6}, ""},
		{"a key is set", map[string]any{"rounds": 3}, target{Rounds: 3}, ""},
		{"a section is set", map[string]any{"inner": map[string]any{"webhook": "x"}},
			target{Rounds: 6, Inner: inner{Webhook: "x"}}, ""},
		{"an unknown key names the nearest", map[string]any{"round": 3}, target{},
			`unknown key "round" (did you mean "rounds"?)`},
		{"a hidden field is no key", map[string]any{"Hidden": true}, target{},
			`unknown key "Hidden"`},
		{"a fraction for an integer", map[string]any{"rounds": 2.5}, target{},
			"rounds is 2.5; it must be a whole number"},
		{"a whole number as a float", map[string]any{"rounds": 3.0, "p": 2.5}, target{Rounds: 3, P: 2.5}, ""},
		{"a wrong type", map[string]any{"rounds": "many"}, target{}, `rounds: "many" is not a whole number (example: 3)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := target{Rounds: 6}
			err := param.Decode(c.given, &got)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestUnmarshalNamesTheLine(t *testing.T) {
	err := param.Unmarshal([]byte("rounds: 3\nintner: {webhook: x}\n"), &target{})
	var bad *param.Error
	if !errors.As(err, &bad) || bad.Line != 2 || bad.Key != "intner" {
		t.Errorf("got %#v", err)
	}
	if want := `line 2: unknown key "intner" (did you mean "inner"?)`; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

func TestUnmarshalRefusesFractions(t *testing.T) {
	for text, want := range map[string]string{
		"rounds: 2.5":              "rounds is 2.5; it must be a whole number",
		"inner: {limit: 1.5}":      "inner.limit is 1.5; it must be a whole number",
		"inner: {sizes: [1, 0.5]}": "inner.sizes is 0.5; it must be a whole number",
		"rounds: 2.0\np: 2.5":      "",
	} {
		err := param.Unmarshal([]byte(text), &target{})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	if got := param.Keys(&target{}); !slices.Equal(got, []string{"inner", "limit", "p", "rounds", "sizes", "webhook"}) {
		t.Errorf("%v", got)
	}
}

// FuzzUnmarshal checks that no text makes the decoder panic.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("rounds: 3"))
	f.Add([]byte("? [:"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_ = param.Unmarshal(text, &target{})
	})
}
