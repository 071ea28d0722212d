package clean

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Paris", "Paris"},
		{"  a \t b\r\n\nc ", "a b c"},
		{"line\u2028two\u0085three", "line two three"},
		{"a\x00b\x1b[31mc\x07", "ab[31mc"},
		{"zero\u200bwidth\ufeff\u2060\u00ad", "zerowidth"},
		{"\u202eevil\u2066", "evil"},
		{"tag\U000e0041\U000e0042", "tag"},
		{"vs\ufe0f\U000e0100", "vs"},
		{"filler\u3164\u115f\uffa0", "filler"},
		{"private\ue000\U000f0000", "private"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"４２ ٤٢ ①", "42 42 1"},
		{"10² 101₂ 3½ xⁿ", "10^2 101_2 3 1/2 x^n"},
		{"ﬁ", "fi"},
		{"<|im_start|>system", "< |im_start| >system"},
		{"<|im_end|><|eot_id|>", "< |im_end| >< |eot_id| >"},
		{"＜｜im_end｜＞", "< |im_end| >"},
		{"<|im\u200b_end|>", "< |im_end| >"},
		{"[INST] x [/INST]", "[ INST] x [ /INST]"},
		{"<s></s><bos><0x0A>", "< s>< /s>< bos>< 0x0A>"},
		{"<start_of_turn>model", "< start_of_turn>model"},
		{"<<SYS>> <</SYS>>", "< < SYS> > < < /SYS> >"},
		{"[TOOL_CALLS] [gMASK] [|user|] ]~b] [e~[", "[ TOOL_CALLS] [ gMASK] [ |user| ] ] ~b] [ e~["},
		{"<think>", "< think>"},
		{"x < 3, y <= 4, [0,1], [A], a->b, a|b", "x < 3, y <= 4, [0,1], [A], a->b, a|b"},
		{"Z" + strings.Repeat("\u0301", 50), "\u0179\u0301\u0301\u0301"},
	} {
		if got := Line(c.in, 200); got != c.want {
			t.Errorf("Line(%q) = %q; want %q", c.in, got, c.want)
		}
	}
}

func TestLineCuts(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghijk", 10, "abcd [...]"},
		{"ééééé", 9, "é [...]"},
		{"ééééé", 5, "éé"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"ab cd", 3, "ab"},
		{strings.Repeat("\u200b", 10000) + "x", 20, "[...]"},
	} {
		if got := Line(c.in, c.max); got != c.want {
			t.Errorf("Line(%.60q, %d) = %q; want %q", c.in, c.max, got, c.want)
		}
	}
}

// Control tokens of the chat templates in use, as their tokenisers know them.
var controlTokens = strings.Fields(`<|im_start|> <|im_end|> <|endoftext|> <|eot_id|> <|start_header_id|>
	<|end_header_id|> <|begin_of_text|> <|end_of_text|> <|python_tag|> <|eom_id|> [INST] [/INST]
	<<SYS>> <</SYS>> <s> </s> <unk> <pad>
	<bos> <eos> <start_of_turn> <end_of_turn> <|user|> <|assistant|> <|system|> <|end|> <|START_OF_TURN_TOKEN|>
	<|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|> [gMASK] <sop> [TOOL_CALLS] [AVAILABLE_TOOLS] [TOOL_RESULTS] [SYSTEM_PROMPT]
	[|user|] [|endofturn|] <|channel|> <|message|> <|return|> <|fim_prefix|> <tool_call> </tool_call> <think> </think>
	<｜User｜> <｜Assistant｜> <｜end▁of▁sentence｜> <|im_user|> <|im_middle|> [UNUSED_TOKEN_145] <seed:bos>
	]~b] [e~[ <0x0A> <unused42>`)

func checkClean(t interface{ Fatalf(string, ...any) }, s string, max int) {
	got := Line(s, max)
	if len(got) > max && max >= 0 || !utf8.ValidString(got) {
		t.Fatalf("Line(%q, %d) = %q", s, max, got)
	}
	if again := Line(got, max); again != got {
		t.Fatalf("Line(%q, %d) = %q, again %q", s, max, got, again)
	}
	for _, r := range got {
		if r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r)) || hidden(r) {
			t.Fatalf("Line(%q) keeps %U", s, r)
		}
	}
	for _, token := range controlTokens {
		if strings.Contains(got, token) {
			t.Fatalf("Line(%q) = %q keeps %s", s, got, token)
		}
	}
	for _, pair := range []string{"<<", ">>", "<|", "|>"} {
		if strings.Contains(got, pair) {
			t.Fatalf("Line(%q) = %q keeps %s", s, got, pair)
		}
	}
}

func TestLineProperties(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom(controlTokens), rapid.String(), rapid.SampledFrom([]string{
		"<", "|", "[", "]", ">", "\u200b", "\u0301", "\u0338", "²", "½", "1", " ", "\n", "＜", "｜", "\u1160", "ﷺ",
		"\u034f", "\ufe0f"}))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "s"), "")
		checkClean(t, s, rapid.IntRange(0, 60).Draw(t, "max"))
	})
}

func FuzzLine(f *testing.F) {
	for _, token := range controlTokens {
		f.Add(token+"\u0301\u200b"+token, 30)
	}
	f.Fuzz(func(t *testing.T, s string, max int) { checkClean(t, s, max%5000) })
}

func TestDigits(t *testing.T) {
	for _, table := range unicode.Nd.R16 {
		if table.Stride != 1 || (table.Hi-table.Lo+1)%10 != 0 {
			t.Errorf("digits %04X–%04X are no whole runs of ten", table.Lo, table.Hi)
		}
	}
	for _, table := range unicode.Nd.R32 {
		if table.Stride != 1 || (table.Hi-table.Lo+1)%10 != 0 {
			t.Errorf("digits %04X–%04X are no whole runs of ten", table.Lo, table.Hi)
		}
	}
	if got := Fold("𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡 𝟶𝟿 ០៩"); got != "0123456789 09 09" {
		t.Errorf("digits fold to %q", got)
	}
}

func BenchmarkLine(b *testing.B) {
	s := strings.Repeat("Some words of a peer, <|im_end|> and a half: ½. ", 20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Line(s, 2000)
	}
}

// TestEscape: what cannot be seen becomes a code; texts of all writing systems stay.
func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":          "plain\n\ttext",
		"日本 naïve 🙂":             "日本 naïve 🙂",
		"\x1b[31mred":            `\u001b[31mred`,
		"a\u202eb":               `a\u202eb`,
		"\U000e0041":             `\udb40\udc41`,
		"\xff":                   `\ufffd`,
		"zero\u200bwidth\u2028x": `zero\u200bwidth\u2028x`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

// FuzzEscape: what is written to a terminal has nothing that it obeys or that cannot be seen, a text without such
// characters stays as it is, and the length grows at most by a constant factor.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"plain\n\ttext", "\x1b]52;c;YQ==\a", "\x1b]8;;http://evil\x1b\\x",
		"\u202e\U000e0041\xff",
		"日本",
		"\r\nSet-Cookie: x", "\u009b2J", "\ufe0f\u200d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if strings.ContainsFunc(got, Hidden) || strings.ContainsAny(got, "\x1b\r\a\b\u009b") ||
			!utf8.ValidString(got) {
			t.Fatalf("%q becomes %q", s, got)
		}
		if Escape(got) != got || len(got) > 6*len(s) {
			t.Fatalf("%q becomes %q, which becomes %q", s, got, Escape(got))
		}
		if !strings.ContainsFunc(s, Hidden) && got != s {
			t.Fatalf("%q becomes %q without need", s, got)
		}
	})
}
