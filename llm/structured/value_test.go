package structured_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/llm/structured"
)

func value(t testing.TB, text string) *structured.Value {
	t.Helper()
	v, err := structured.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : 1.50, "a" : [ ] } `:               `{"a":[],"b":1.5}`,
		`"\u20ac$\u000f\nA'\u0042\"\\\/"`:           `"€$\u000f\nA'B\"\\/"`, // RFC 8785, section 3.2.2
		`[56, 1E30, 4.50, 6, 2e-3, 1e-27, -0, 1e2]`: `[56,1e+30,4.5,6,0.002,1e-27,0,100]`,
		`[1e20, 1e21, 1e-6, 1e-7, 123e-8, -1.5e22]`: `[100000000000000000000,1e+21,0.000001,1e-7,0.00000123,-1.5e+22]`,
		`12345678901234567890.123456789`:            `12345678901234567890.123456789`, // not rounded to 64 bits
		`{"\u20ac":1,"\r":2,"1":3,"\ud83d\ude02":4,"\ufb33":5,"\u0080":6}`: "{\"\\r\":2,\"1\":3,\"\u0080\":6," +
			"\"\u20ac\":1,\"\U0001f602\":4,\"\ufb33\":5}", // by UTF-16 code units, section 3.2.3
		`null`: `null`, `true`: `true`,
	} {
		if got := value(t, text).String(); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                                      "incomplete",
		`{"a":}`:                                "broken JSON",
		`{"a":1,"a":2}`:                         `"a" is repeated`,
		`{"a":1,"\u0061":2}`:                    `"a" is repeated`,
		`1 2`:                                   "after the JSON value",
		"\"\xff\"":                              "UTF-8",
		`1e999999999`:                           "exponent",
		`1e-401`:                                "exponent",
		strings.Repeat("1", 257):                "257 digits",
		strings.Repeat("[", 40):                 "nested deeper",
		`"` + strings.Repeat("x", 70_000):       "bytes",
		`[` + strings.Repeat("0,", 5000) + `0]`: "more than 4096 values",
		`[` + strings.Repeat("1e20,", 4000) + `0]`: "at most 65536",
	} {
		if v, err := structured.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %.40v, %v; want %q", text, v, err, want)
		}
	}
}

// The spelling of a number that a float64 holds is what encoding/json and ECMAScript write for it.
func TestNumberSpelling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		x := (r.Float64() - 0.5) * []float64{1, 1e6, 1e15, 1e22, 1e-5, 1e-9}[r.IntN(6)]
		short := strconv.FormatFloat(x, 'g', 1+r.IntN(15), 64)
		x, _ = strconv.ParseFloat(short, 64)
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		got := value(t, short).String()
		if got != strings.Replace(string(want), "-0", "0", 1) && got != string(want) {
			t.Fatalf("%s: %s; want %s", short, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,"x\u0000",null,true]}`, `1e-400`, `"\ud800"`, `[[[]]]`, `{"":{}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := structured.Parse(text)
		if err != nil {
			return
		}
		again, err := structured.Parse([]byte(v.String()))
		if err != nil || again.String() != v.String() {
			t.Fatalf("%q: canonical %s is read as %v, %v", text, v, again, err)
		}
		if !json.Valid(text) {
			t.Fatalf("%q is read and is not JSON", text)
		}
	})
}
