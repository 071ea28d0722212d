package read

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

var (
	abc = []synod.Option{{Label: "A", Text: "Paris"}, {Label: "B", Text: "The Eiffel Tower"}, {Label: "C",
		Text: "42"}, {Label: "D", Text: "New York, NY"}}
	opts = []synod.Option{{Label: "option1", Text: "Ann"}, {Label: "option2", Text: "Bea"}}
)

func questionOf(f synod.Form) *synod.Question {
	q := &synod.Question{Text: "?", Form: f}
	if f == synod.Choice {
		q.Options = abc
	}
	return q
}

// canonCase wants raw to be read as want, or to be refused if want is "".
type canonCase struct {
	raw, want string
}

func checkCanon(t *testing.T, q *synod.Question, cases []canonCase) {
	t.Helper()
	for _, c := range cases {
		got, ok := Canonical(q, c.raw)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%s: Canonical(%q) = %q, %v; want %q", q.Form, c.raw, got, ok, c.want)
		}
	}
}

func TestCanonicalNumber(t *testing.T) {
	checkCanon(t, questionOf(synod.Number), []canonCase{
		{"42", "42"}, {"042", "42"}, {"-7", "-7"}, {"+7", "7"}, {"-0", "0"}, {"0.50", "0.5"}, {".5", "0.5"}, {"5.",
			"5"}, {"-.25", "-0.25"},
		{"1,234.50", "1234.5"}, {"1,234,567", "1234567"}, {"12,34", ""}, {"1,2345", ""}, {"(3,5)", ""}, {"3,5", ""},
		{"0,123", ""},
		{"$18", "18"}, {"$1,234.50", "1234.5"}, {"-$5", "-5"}, {"$-5", "-5"}, {`\$5`, "5"}, {"€7.20", "7.2"},
		{"18 dollars", "18"}, {"18 dollars per day.", "18 dollars per day"},
		{"45%", "45%"}, {`45\%`, "45%"}, {"45 percent", "45%"}, {"90°", "90°"}, {`90^\circ`, "90°"}, {"5 km", "5 km"}, {"5km",
			"5 km"}, {"5 m^2", "5 m^2"}, {"5 m²", "5 m^2"}, {"5 cm2", "5 cm^2"},
		{`5\text{ cm}`, "5 cm"}, {`5 \text{ cm}^2`, "5 cm^2"}, {"20 miles per hour", "20 miles per hour"},
		{"12 square feet", "12 square feet"}, {"3 times", "3 times"},
		{"11/18", "11/18"}, {"22/36", "11/18"}, {"5/10", "0.5"}, {"-1/3", "-1/3"}, {"1/-3", "-1/3"}, {"1/0", ""},
		{"1.5/2", "0.75"}, {"3/8", "0.375"},
		{`\frac{11}{18}`, "11/18"}, {`-\dfrac{1}{2}`, "-0.5"}, {`\frac12`, "0.5"}, {`\frac{1}{0}`, ""},
		{`$\frac{1}{3}$`, "1/3"},
		{"3 1/2", "3.5"}, {`3\frac{1}{2}`, "3.5"}, {"3½", "3.5"}, {"½", "0.5"}, {"-3 1/2", "-3.5"}, {"3 5", ""},
		{"3 5/2", ""},
		{`\boxed{42}`, "42"}, {`$\boxed{42}$.`, "42"}, {"42.", "42"}, {"**42**", "42"}, {"`42`", "42"}, {`"42"`,
			"42"}, {`\(42\)`, "42"}, {"x = 5", "5"}, {"= 5", "5"},
		{"4e2", "400"}, {"1.5e-3", "0.0015"}, {"1.5×10^3", "1500"}, {`1.5 \times 10^{-3}`, "0.0015"}, {"1.5 x 10³",
			"1500"}, {"1e999999999", ""}, {"1e-999999999", ""}, {"1e257", ""},
		{"４２", "42"}, {"٤٢", "42"}, {"१२", "12"}, {"−5", "-5"}, {"–5", "-5"}, {"\u200b42\u2060", "42"}, {"1٬234٫5",
			"1234.5"}, {"4\u20ddtwo", ""},
		{"2π", `2\pi`}, {"2pi", `2\pi`}, {"2 pi", `2\pi`}, {"2x", ""}, {"2i", ""}, {"10²", "100"},
		{"101₂", "101_{2}"}, {"5!", ""}, {"36√3", `36\sqrt{3}`}, {`36\sqrt{3}`, `36\sqrt{3}`}, {"√16", "4"},
		{"3-4", ""},
		{"1/2/2024", ""}, {"10^{10^{10}}", "10^{10^{10}}"}, {"2:00 pm", "2 pm"}, {"2:00 P.M.", "2 pm"},
		{"2:30 p.m.", "2:30 pm"},
		{"14:05", "14:05"}, {"25:00", ""}, {"13:00 pm", ""},
		{"≈ 3.14", ""}, {"0.333...", ""}, {"0.333…", ""}, {"about 5", ""},
		{"3 or 4", ""}, {"5 or so", ""}, {"3 and a half", ""}, {"5 is wrong", ""}, {"not 5", ""}, {"3:4", ""}, {"",
			""}, {" ", ""}, {"-", ""}, {"$", ""}, {"NaN", ""}, {"Infinity", ""}, {"0x1F", ""}, {"1_000", ""},
		{"10 000", "10000"}, {"1\u202f234\u202f567.5", "1234567.5"}, {`10\,000`, "10000"}, {"-10 000", "-10000"},
		{"10 00", ""}, {"0 123", ""}, {"2 500 ml bottles", ""}, {"5 million", "5000000"}, {"1.5 thousand dollars",
			"1500"}, {"2 dozen eggs", "24 eggs"}, {"5M", ""}, {`12{,}345`, "12345"}, {`12,\!345`, "12345"},
		{strings.Repeat("9", 256), strings.Repeat("9", 256)}, {strings.Repeat("9", 257), ""}, {"7 pm", "7 pm"}, {"7:30",
			"7:30"}, {"-27", "-27"}, {"5 /day", ""},
	})
}

func TestCanonicalChoice(t *testing.T) {
	checkCanon(t, questionOf(synod.Choice), []canonCase{
		{"B", "B"}, {"b", "B"}, {"(B)", "B"}, {"B.", "B"}, {"B)", "B"}, {"[B]", "B"}, {"**B**", "B"}, {"(b).", "B"},
		{`\boxed{B}`, "B"}, {`\text{B}`, "B"}, {`\textbf{(B)}`, "B"},
		{"Option B", "B"}, {"choice (C)", "C"}, {"answer: D", "D"}, {"paris", "A"}, {"Paris.", "A"},
		{"the eiffel tower", "B"}, {"Eiffel Tower", "B"}, {"42", "C"}, {"New York, NY", "D"},
		{"B) The Eiffel Tower", "B"}, {"(A) Paris", "A"}, {"A: Paris, in France", ""}, {"A: Paris", "A"},
		{"A - Paris", "A"}, {"A (Paris)", "A"},
		{"A Paris", "A"}, {"A - The Eiffel Tower", ""}, {"A or Paris", ""}, {"A. A",
			"A"}, {"(B) The Eiffel", "B"}, {"A) The Eiffel Tower", ""},
		{"E", ""}, {"A B", ""}, {"A dog", ""}, {"", ""}, {"A or B", ""},
		{"Ｂ", "B"}, {"\u0412", ""}, // fullwidth B; the Cyrillic letter that only looks like it
	})
	checkCanon(t, &synod.Question{Form: synod.Choice, Options: opts}, []canonCase{
		{"option2", "option2"}, {"Option2", "option2"}, {"option 2", "option2"}, {"2", "option2"}, {"Bea", "option2"},
		{"option3", ""}, {"3", ""}, {"(2)", "option2"},
	})
	checkCanon(t, &synod.Question{Form: synod.Choice, Options: []synod.Option{{Label: "1", Text: "2"}, {Label: "2",
		Text: "1"}}}, []canonCase{{"1", "1"}, {"2", "2"}, {"2) 1", "2"}, {"2) 2", ""}})
	checkCanon(t, &synod.Question{Form: synod.Choice, Options: []synod.Option{{Label: "a", Text: "x"}, {Label: "A",
		Text: "x"}}}, []canonCase{{"a", "a"}, {"A", "A"}, {"x", ""}})
}

func TestCanonicalBool(t *testing.T) {
	checkCanon(t, questionOf(synod.Bool), []canonCase{
		{"true", "true"}, {"True.", "true"}, {"YES", "true"}, {"no", "false"}, {"**No**", "false"}, {"False",
			"false"}, {"Yes, it is.", "true"}, {`\boxed{true}`, "true"},
		{"Yes, but no", ""}, {"yes and no", ""}, {"maybe", ""}, {"not true", ""}, {"1", ""}, {"", ""}, {"true false",
			""}, {"No.", "false"}, {"`yes`!", "true"},
	})
}

func TestCanonicalMath(t *testing.T) {
	checkCanon(t, questionOf(synod.Math), []canonCase{
		{"42", "42"}, {"$42$", "42"}, {`\boxed{42}.`, "42"}, {"0.50", "0.5"}, {"11/18", "11/18"}, {`\frac{11}{18}`,
			"11/18"}, {`\dfrac{22}{36}`, "11/18"}, {`-\frac12`, "-0.5"}, {`\frac{-1}{2}`, "-0.5"},
		{"1,234", "1234"}, {"1{,}234", "1234"}, {`\frac{7}{2}`, "3.5"},
		{`2\pi`, `2\pi`}, {"2π", `2\pi`}, {`2 \pi`, `2\pi`}, {"2", "2"}, {`\pi r^2`, `\pi r^{2}`}, {`\pi r^{2}`,
			`\pi r^{2}`}, {"πr²", `\pi r^{2}`},
		{"(3,5)", "(3,5)"}, {`\left( 3, 5 \right)`, "(3,5)"}, {"35", "35"}, {"3 5", "3 5"}, {`3\,5`, "3 5"}, {"{3,5}",
			`\{3,5\}`}, {`\{3, 5\}`, `\{3,5\}`}, {"3,5", "3,5"},
		{`3\sqrt{3}`, `3\sqrt{3}`}, {`3\sqrt3`, `3\sqrt{3}`}, {"3√3", `3\sqrt{3}`}, {"√33", `\sqrt{33}`}, {"√(x+1)",
			`\sqrt{x+1}`}, {`\sqrt33`, `\sqrt{3}3`}, {`\sqrt[3]{2}`, `\sqrt[3]{2}`},
		{`\frac{\pi}{2}`, `\frac{\pi}{2}`}, {`\tfrac\pi2`, `\frac{\pi}{2}`}, {"45%", "45%"}, {`45\%`, "45%"},
		{`90^\circ`, "90°"}, {`90^{\circ}`, "90°"}, {"90º", "90°"}, {"10²", "10^{2}"}, {"102", "102"},
		{`x \leq 3`, `x\le3`}, {"x ≤ 3", `x\le3`}, {`[0,\infty)`, `[0,\infty)`}, {"[0, ∞)", `[0,\infty)`}, {"½π",
			`\frac{1}{2}\pi`}, {"½", "0.5"}, {"x=5", "x=5"}, {"5", "5"},
		{`\text{no  solution}`, `nosolution`}, {`x\text{ or  }y`, `x\text{or}y`}, {`413_5`, `413_{5}`}, {"413₅",
			`413_{5}`}, {"0.333...", "0.333..."}, {`5\text{ cm}`, `5\text{cm}`},
		{`\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`, `\begin{pmatrix}1&2\\3&4\end{pmatrix}`}, {"}", ""}, {"{",
			""}, {`\frac{1}`, ""}, {strings.Repeat("{", 1000), ""}, {strings.Repeat(`\sqrt`, 500) + "2", ""}, {"x^",
			""},
	})
}

func TestCanonicalText(t *testing.T) {
	checkCanon(t, questionOf(synod.Text), []canonCase{
		{"Paris", "paris"}, {"  The  Eiffel\tTower. ", "eiffel tower"}, {`"Paris"`, "paris"}, {"PARIS!", "paris"},
		{"a cat", "cat"}, {"an apple", "apple"}, {"the", "the"}, {"(Paris)", "paris"},
		{"-5", "-5"}, {"5", "5"}, {"C++", "c++"}, {"C", "c"}, {"C#", "c#"}, {"5!", "5!"}, {"3%", "3%"}, {"3.5",
			"3.5"}, {"35", "35"}, {"New-York", "new-york"}, {"ΟΔΟΣ", "οδοσ"}, {"οδος", "οδοσ"},
		{"ﬁne", "fine"}, {"Pa\u200bris", "paris"}, {"m²", "m^2"}, {"½ cup", "1/2 cup"}, {"", ""}, {"…", ""}, {"?!",
			""}, {strings.Repeat("x", 513), ""},
	})
}

// A canonical answer is read as itself.
func TestCanonicalIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := questionOf(rapid.SampledFrom(synod.Forms()).Draw(t, "form"))
		raw := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+$\\{}()^_ .,/0-9a-zA-Z%=*]{0,24}`),
			rapid.StringMatching(`(\\frac|\\sqrt|\\text|\\left|\\pi|\\,|\{|\}|[0-9]|x|\^|_| |,|\(|\)|\$){0,14}`)).Draw(t, "raw")
		checkIdempotent(t, q, raw)
	})
}

func checkIdempotent(t interface{ Fatalf(string, ...any) }, q *synod.Question, raw string) {
	a, ok := Canonical(q, raw)
	if !ok {
		if a != synod.None {
			t.Fatalf("%s: %q refused, yet %q", q.Form, raw, a)
		}
		return
	}
	if again, ok := Canonical(q, string(a)); !ok || again != a {
		t.Fatalf("%s: %q reads as %q, which reads as %q, %v", q.Form, raw, a, again, ok)
	}
}

// Whatever isCanonical accepts, the full reader returns unchanged.
func TestIsCanonicalAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{0,4}(\.[0-9]{0,3})?`).Draw(t, "s")
		if s == "" || !isCanonicalNumber(s) {
			return
		}
		number := func(s string) (string, bool) { return canonNumber(questionOf(synod.Number), s, false) }
		for _, long := range []func(string) (string, bool){number, canonMath} {
			if got, ok := long(s); !ok || got != s {
				t.Fatalf("%q settles, but reads as %q, %v", s, got, ok)
			}
		}
	})
}

func TestIsCanonicalTextAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`(a |an |the )?[a-z0-9 ]{0,6}`).Draw(t, "s")
		if s == "" || !isCanonicalText(s) {
			return
		}
		if got, ok := canonText(s); !ok || got != s {
			t.Fatalf("%q settles, but reads as %q, %v", s, got, ok)
		}
	})
}

// One exact fraction in five spellings is one answer.
func TestCanonicalNumberSpellings(t *testing.T) {
	q := questionOf(synod.Number)
	rapid.Check(t, func(t *rapid.T) {
		a, b, k := rapid.IntRange(-9999, 9999).Draw(t, "a"), rapid.IntRange(1, 99).Draw(t, "b"), rapid.IntRange(1,
			9).Draw(t, "k")
		want, ok := Canonical(q, fmt.Sprintf("%d/%d", a, b))
		if !ok {
			t.Fatalf("%d/%d is no number", a, b)
		}
		for _, s := range []string{fmt.Sprintf(`\frac{%d}{%d}`, a*k, b*k), fmt.Sprintf(`$\dfrac{%d}{%d}$`, a, b),
			fmt.Sprintf("**%d / %d**", a*k, b*k), fmt.Sprintf(`\boxed{\frac{%d}{%d}}.`, a, b)} {
			if got, ok := Canonical(q, s); !ok || got != want {
				t.Fatalf("%q reads as %q; %d/%d as %q", s, got, a, b, want)
			}
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"42", "1,234.50", `\frac{11}{18}`, "3½", "(B)", "Yes, it is",
		`\left(\sqrt{3},5\right)`, "Ａ", "x²", "\\text{a}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, form := range synod.Forms() {
			checkIdempotent(t, questionOf(form), raw)
		}
	})
}

func BenchmarkCanonicalInteger(b *testing.B) { benchCanonical(b, synod.Number, "1234") }
func BenchmarkCanonicalLabel(b *testing.B)   { benchCanonical(b, synod.Choice, "C") }
func BenchmarkCanonicalBool(b *testing.B)    { benchCanonical(b, synod.Bool, "false") }
func BenchmarkCanonicalText(b *testing.B)    { benchCanonical(b, synod.Text, "eiffel tower") }
func BenchmarkCanonicalFrac(b *testing.B)    { benchCanonical(b, synod.Number, `\frac{11}{18}`) }
func BenchmarkCanonicalTex(b *testing.B)     { benchCanonical(b, synod.Math, `\frac{3\sqrt{3}}{2}`) }

func benchCanonical(b *testing.B, f synod.Form, raw string) {
	q := questionOf(f)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Canonical(q, raw); !ok {
			b.Fatal("refused")
		}
	}
}

// Different answers must not become one vote. The pairs were confused once in recorded replies.
func TestDifferentStayDifferent(t *testing.T) {
	math := &synod.Question{Form: synod.Math}
	for _, pair := range [][2]string{{"100, 200", "100200"}, {"(3,5)", "35"}, {"3, 5", "35"}, {`2\pi`, "2"}, {"x^12",
		"x^{1}2x"}, {"x^{12}", "x^{1}2"}} {
		a, okA := Canonical(math, pair[0])
		b, okB := Canonical(math, pair[1])
		if !okA || okB && a == b {
			t.Errorf("%q and %q are both %q", pair[0], pair[1], a)
		}
	}
	if a, ok := Canonical(math, `11,\! 111,\! 100`); a != "11111100" || !ok {
		t.Errorf("a number in groups is read as %q", a)
	}
	keys := &synod.Question{Form: synod.Choice, Options: []synod.Option{
		{Label: "A", Text: "E"}, {Label: "B", Text: "G"}, {Label: "C", Text: "A"}, {Label: "E", Text: "D"},
	}}
	for got, want := range map[string]synod.Answer{"(E)": "E", "E.": "E", "G": "B", "A, B.": "", "B, B": "B",
		"A) E": "A"} {
		if a, ok := Canonical(keys, got); a != want || ok != (want != "") {
			t.Errorf("%q is read as %q, want %q", got, a, want)
		}
	}
}

// A text is an answer as it stands; only thinking before it is left out.
func TestProse(t *testing.T) {
	q := &synod.Question{Form: synod.Prose}
	for reply, want := range map[string]string{
		" # T\n\n\tx  y\n": "# T\n\n\tx  y", "<think>hm</think>\nTides.": "Tides.", "hm\n</think>\n\nTides.": "Tides.",
		"The tag </think> ends it.": "The tag </think> ends it.",
		"Use <think> and </think>.": "Use <think> and </think>.",
		"Answer: 42\nis a line":     "Answer: 42\nis a line", `{"answer": "x"}`: `{"answer": "x"}`, "a\xffb": "a\ufffdb",
		"": "", "…": "",
	} {
		a, _, ok := AnswerIn(q, reply)
		if string(a) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", reply, a, ok, want)
		}
		if again, _ := Canonical(q, want); string(again) != want {
			t.Errorf("%q becomes %q", want, again)
		}
	}
	if _, ok := Canonical(q, strings.Repeat("x", synod.MaxLong+1)); ok {
		t.Error("a text of more than MaxLong bytes is an answer")
	}
}
