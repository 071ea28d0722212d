package formula

import (
	"testing"
)

func both(t *testing.T, a, b string) (Formula, Formula, bool) {
	t.Helper()
	x, err := Parse(a)
	if err != nil {
		t.Errorf("Parse(%q): %v", a, err)
		return x, x, false
	}
	y, err := Parse(b)
	if err != nil {
		t.Errorf("Parse(%q): %v", b, err)
		return x, y, false
	}
	return x, y, true
}

func TestSame(t *testing.T) {
	for _, c := range []struct{ want, got string }{
		{`\frac{11}{18}`, `11/18`}, {`\frac{11}{18}`, `\dfrac{22}{36}`}, {`\frac12`, `0.5`}, {`\frac 59`, `5/9`},
		{`\frac9{19}`, `9/19`},
		{`1\frac{4}{5}`, `1.8`}, {`1\frac45`, `9/5`}, {`137 \frac{1}{2}`, `137.5`}, {`3 1/2`, `3.5`},
		{`0.\overline{6}`, `2/3`}, {`0.1\overline{36}`, `3/22`},
		{`10,\!080`, `10080`}, {`11,\! 111,\! 111,\! 100`, `11111111100`}, {`58,500`, `58500`}, {`1{,}234`, `1234`},
		{`1234`, `1,234`}, {`1.2\times 10^3`, `1200`},
		{`\$32,\!348`, `32348`}, {`\$18.90`, `18.9`}, {`$18.90`, `\$18.90`}, {`5.4 \text{ cents}`, `5.4`},
		{`5.4 \text{ cents}`, `\$0.054`}, {`$5$`, `5`},
		{`3\sqrt{13}`, `\sqrt{117}`}, {`11\sqrt2`, `11 \sqrt{2}`}, {`\frac{\sqrt{3}}{3}`, `\frac{1}{\sqrt{3}}`},
		{`\sqrt[3]{-8}`, `-2`}, {`\sqrt{2}\sqrt{3}`, `\sqrt6`}, {`sqrt(13)`, `\sqrt{13}`}, {`√13`, `\sqrt{13}`},
		{`\sqrt{3+2\sqrt2}`, `1+\sqrt2`}, {`\frac{1}{\sqrt2-1}`, `\sqrt2+1`}, {`2^{1/3}\cdot 4^{1/3}`, `2`},
		{`\sqrt{-4}`, `2i`}, {`\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}`, `1`},
		{`6 - 5i`, `-5i+6`}, {`(1+i)^2`, `2i`}, {`\frac{1}{1+i}`, `\frac{1-i}{2}`}, {`e^{i\pi}`, `-1`},
		{`18+2\pi`, `2(9+\pi)`}, {`\frac{20000}{\pi}`, `20000\pi^{-1}`}, {`2π`, `2\pi`}, {`\frac{\pi}{6}`, `30^\circ`},
		{`x^3+3x-6`, `3x - 6 + x^{3}`}, {`(a+5)(b+2)`, `ab+2a+5b+10`}, {`\frac{x^2-1}{x-1}`, `x+1`}, {`6r^2-4r-24`,
			`2(3r^2-2r-12)`}, {`\frac{11+9a}{20}`, `0.55+0.45a`}, {`2^{k+1}`, `2\cdot 2^k`}, {`x^12`, `x^{12}`},
		{`2k+2`, `2(k+1)`},
		{`\cot x`, `\frac{\cos x}{\sin x}`}, {`\sin^2 x`, `1-\cos^2 x`}, {`\log_2 8`, `3`}, {`\sin 30^\circ`, `1/2`},
		{`\tan^{-1} 1`, `\frac{\pi}{4}`}, {`\ln(e^2)`, `2`}, {`\sin 2x`, `2\sin x\cos x`},
		{`90^\circ`, `90`}, {`90^\circ`, `90 degrees`}, {`90^{\circ}`, `90°`}, {`\frac{270}7\text{ degrees}`,
			`270/7`}, {`45\%`, `45`}, {`45\%`, `0.45`}, {`45\%`, `45%`}, {`45\%`, `45 percent`},
		{`864 \mbox{ inches}^2`, `864`}, {`864 \mbox{ inches}^2`, `864 square inches`}, {`864 \mbox{ inches}^2`,
			`864\text{ in}^2`}, {`15\mbox{ cm}^2`, `15 cm^2`}, {`5\text{ m}`, `5 m`}, {`2\text{ hours}`,
			`120 minutes`}, {`60 \text{ mph}`, `60`}, {`12 apples`, `12`},
		{`\left( 3, \frac{\pi}{2} \right)`, `(3, pi/2)`}, {`(2,\infty)`, `(2, infinity)`}, {`(3,4]`,
			`\left(3,4\right]`}, {`x \in [-2,7]`, `[-2,7]`}, {`x \in [-2,7]`, `-2 \le x \le 7`}, {`(-\infty, 0]`,
			`x \leq 0`}, {`(5,\infty)`, `x>5`},
		{`(-\infty, 2) \cup (3, \infty)`, `(3,\infty)\cup(-\infty,2)`}, {`(-\infty, 2) \cup (3, \infty)`,
			`x<2 \text{ or } x>3`},
		{`(-\infty,2)`, `(-\infty,1)\cup[1,2)`}, {`(1,4)`, `(1,3)\cup(2,4)`}, {`(1.5,2)`, `(1,2)\cap(\frac32,3)`},
		{`(0,9) \cup (9,36)`, `(0,36)\setminus\{9\}`}, {`(0,9) \cup (9,36)`, `(9,36)\cup(0,3)\cup[3,9)`},
		{`(-\infty,-\frac{6}{7})\cup(-\frac{6}{7},\infty)`, `\mathbb{R}\setminus\{-\frac67\}`},
		{`(-\infty,-\frac{6}{7})\cup(-\frac{6}{7},\infty)`, `x \neq -\frac{6}{7}`}, {`(-\infty,3)\cup(3,\infty)`,
			`\{x \mid x \ne 3\}`}, {`(-\infty,3)\cup(3,\infty)`, `x ≠ 3`},
		{`(5,\infty)`, `\{x \mid x > 5\}`}, {`[1,2)`, `\{x : 1 \le x < 2\}`}, {`[1,2)`,
			`\{x \in \mathbb{R} \mid x \ge 1, x < 2\}`}, {`(-\infty,1)\cup(2,\infty)`,
			`\{x | x < 1 \text{ or } x > 2\}`}, {`(-\infty,\infty)`, `\mathbb{R}`}, {`\text{all real numbers}`, `ℝ`},
		{`(1,4-\sqrt{3})\cup(4+\sqrt{3},7)`, `(4+\sqrt3,7)\cup(1,4-\sqrt3)`}, {`(\sqrt2,\infty)`,
			`(\sqrt2,2]\cup(\frac{2}{\sqrt2}+0,\infty)`}, {`[1,2]\cup\{3\}`, `\{3\}\cup[1,2]`}, {`[1,2]`,
			`(1,2)\cup\{1,2\}`}, {`\emptyset`, `(1,2)\cap(3,4)`},
		{`1,-2`, `-2, 1`}, {`3, 5, 7`, `3,5,7`}, {`3, 5, 7`, `7, 5 and 3`}, {`1 \pm \sqrt{19}`,
			`1-\sqrt{19}, 1+\sqrt{19}`}, {`\{1\pm\sqrt{5},-2\}`, `\{-2,1+\sqrt5,1-\sqrt5\}`}, {`1,-2`,
			`x=1 \text{ or } x=-2`}, {`1,-2`, `\{1,-2\}`}, {`100, 200`, `100,200`},
		{`\begin{pmatrix} -1/3 \\ 2/3 \\ 5/3 \end{pmatrix}`,
			`\begin{bmatrix} -\frac13 \\ \frac23 \\ \frac53 \end{bmatrix}`},
		{`\begin{pmatrix} -7 \\ 16 \\ 5 \end{pmatrix}`, `(-7,16,5)`},
		{`\begin{pmatrix} 16/49 \\ 48/49 \end{pmatrix}`, `\frac{16}{49}\begin{pmatrix} 1 \\ 3 \end{pmatrix}`},
		{`x=5`, `5`}, {`5`, `x = 5`}, {`y = 2x + 3`, `2x+3`}, {`y = 2x + 3`, `2x - y + 3 = 0`},
		{`5x - 7y + 11z + 4 = 0`, `7y - 5x - 11z = 4`}, {`7`, `3+4=7`}, {`2x+3`, `f(x)=2x+3`},
		{`52_8`, `52_{8}`}, {`52_8`, `52`}, {`4210_{5}`, `4210_{\text{five}}`},
		{`\text{Evelyn}`, `evelyn`}, {`\text{(C)}`, `C`}, {`\text{(C)}`, `(C)`}, {`\text{even}`, `\textbf{even}`},
		{`\text{no solution}`, `\emptyset`}, {`\text{green, blue}`, `blue and green`},
		{`\binom{5}{2}`, `10`}, {`5!`, `120`}, {`|-3|`, `3`}, {`\lfloor 3.7 \rfloor`, `3`}, {`\sqrt{x^2}`, `|x|`},
		{`2^{100}`, `1267650600228229401496703205376`}, {`\boxed{42}`, `42`},
		{`10000`, `10\,000`}, {`1234567`, "1\u202f234\u202f567"}, {`12 500`, `12,500`}, {`\frac{1117}{617}`,
			`1 500/617`}, {`320000`, `3.2e5`}, {`1000`, `1e3`},
		{`4:30 \text{ p.m.}`, `4:30 pm`}, {`4:30 \text{ p.m.}`, `4:30 P.M.`}, {`4:30\text{ pm}`, `4:30`}, {`4:30 pm`,
			`16:30`}, {`12:05 am`, `0:05`}, {`4 \text{ p.m.}`, `4:00 pm`}, {`3:20`, `3/20`}, {`1:2:3`, `2:4:6`},
		{`\begin{pmatrix} 1 \\ 2 \end{pmatrix}`, `\langle 1, 2 \rangle`}, {`5\text{ m/s}`, `5 m/s`},
		{`18\text{ km/h}`, `5\text{ m/s}`}, {`18\text{ km/h}`, `5 m/s`}, {`60 \text{ mph}`, `60 miles per hour`},
		{`60 \text{ mph}`, `60 miles/hour`}, {`60 \text{ mph}`, `88 feet per second`},
		{`\frac{3840}{289}`, `13\frac{83}{289}`}, {`.35625`, `\frac{57}{160}`}, {`-\frac{35}{9}`, `\frac{-35}{9}`},
		{`3:2`, `\frac32`}, {`10`, `10.`}, {`5`, `5.0`},
	} {
		want, got, ok := both(t, c.want, c.got)
		if !ok {
			continue
		}
		if same, how := Same(want, got); !same {
			t.Errorf("Same(%q, %q) = false, %s; read as %s and %s", c.want, c.got, how, want, got)
		}
	}
}

func TestDifferent(t *testing.T) {
	for _, c := range []struct{ want, got string }{
		{`2\pi`, `2`}, {`(3,5)`, `35`}, {`(3,5)`, `3,5`}, {`\frac{11}{18}`, `0.6111`}, {`\frac{11}{18}`, `1118`},
		{`\frac{11}{18}`, `0.61111111111111111111`}, {`3\sqrt{3}`, `33`}, {`3\sqrt{3}`, `\frac{8\sqrt{33}}{3}`},
		{`(3,5)`, `(5,3)`}, {`(3,5)`, `[3,5]`}, {`(3,5)`, `(3,5]`}, {`58,500`, `58, 500`}, {`\frac12`, `12`},
		{`\frac{1}{2}`, `-\frac12`}, {`10`, `-10`},
		{`x^2`, `x^3`}, {`x^2`, `2x`}, {`x`, `y`}, {`x+1`, `X+1`}, {`\sqrt{x^2}`, `x`}, {`\frac{1}{3}`,
			`0.333333333333333333333333333333333333333333333333333`}, {`\pi`,
			`3.14159265358979323846264338327950288419716939937510582`}, {`\pi`, `22/7`},
		{`10^{100}`, `10^{100}+1`}, {`\sqrt{2}`, `1.41421356`}, {`6-5i`, `6+5i`}, {`1,-2`, `1,2`}, {`1,-2`, `1`},
		{`1`, `1,1`}, {`3,5,7`, `3,5`}, {`1 \pm \sqrt{19}`, `1+\sqrt{19}`},
		{`45\%`, `4500`}, {`45`, `0.45`}, {`5\text{ cm}`, `5\text{ m}`}, {`12\text{ inches}`, `12\text{ feet}`},
		{`90^\circ`, `\pi`}, {`90^\circ`, `91`}, {`15\mbox{ cm}^2`, `15\text{ cm}`},
		{`x=5`, `y=5`}, {`x=5`, `6`}, {`y=2x+3`, `y=2x`}, {`5x - 7y + 11z + 4 = 0`, `5x - 7y + 11z - 4 = 0`}, {`x>5`,
			`x<5`}, {`x>5`, `x \ge 5`}, {`2x+y<3`, `2x+y>3`}, {`7`, `3+5=7`},
		{`52_8`, `42`}, {`52_8`, `52_9`}, {`52_8`, `42_{10}`}, {`\text{Evelyn}`, `Carla`}, {`\text{(C)}`, `D`},
		{`\text{even}`, `odd`}, {`\text{dog}`, `god`},
		{`\begin{pmatrix} 1 & 2 \end{pmatrix}`, `\begin{pmatrix} 1 \\ 2 \end{pmatrix}`},
		{`\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`, `\begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}`},
		{`\begin{pmatrix} 1 \\ 2 \end{pmatrix}`, `(2,1)`},
		{`(-\infty, 2) \cup (3, \infty)`, `(-\infty, 2) \cap (3, \infty)`}, {`(-\infty, 2)`, `(\infty, 2)`},
		{`(-\infty,2)`, `(-\infty,1)\cup(1,2)`}, {`(-\infty,2]`, `(-\infty,1)\cup[1,2)`}, {`(1,2)`,
			`[1,2]\setminus\{1\}`}, {`(0,9) \cup (9,36)`, `(0,36)`}, {`x \neq 3`, `3`}, {`x \neq 3`, `x \neq 4`},
		{`(3,5)`, `\{x \mid x > 3\}`}, {`(1,2) \cup (3,4)`, `(1,2)`}, {`(1,\sqrt2)\cup(\sqrt2,2)`,
			`(1,1.41421356)\cup(1.41421356,2)`}, {`\infty`, `-\infty`}, {`0`, `\emptyset`}, {`\{1,2\}`, `(1,2)`},
		{`\sin x`, `\cos x`}, {`\frac{1}{0}`, `\frac{2}{0}`},
		{`4:30 \text{ p.m.}`, `2:15 \text{ p.m.}`}, {`4:30`, `2:15`}, {`4:30 \text{ p.m.}`, `4:30 a.m.`}, {`4:30 pm`,
			`3/20`}, {`4:30 am`, `16:30`}, {`1:2:3`, `1:3:2`}, {`1:2:3`, `1:6`}, {`0:1:2`, `0:2:2`},
		{`5\text{ m/s}`, `5\text{ km/h}`}, {`60\text{ mph}`, `60\text{ km/h}`}, {`2e`, `200`}, {`10000`, `1 000`},
		{`2^{100}`, `2^{100}+1`}, {`e^{-200}`, `e^{-201}`}, {`100200`, `100, 200`}, {`2\sqrt{113}`, `\sqrt{226}`},
		{`8n^2+4n+1`, `8n^2+4n`}, {`1\frac{4}{5}`, `\frac45`},
	} {
		want, got, ok := both(t, c.want, c.got)
		if !ok {
			continue
		}
		if same, how := Same(want, got); same {
			t.Errorf("Same(%q, %q) = true, %s; read as %s and %s", c.want, c.got, how, want, got)
		}
		if same, how := Same(got, want); same && got.loose == nil && want.loose == nil {
			t.Errorf("Same(%q, %q) = true, %s", c.got, c.want, how)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for _, s := range []string{
		"", " ", "The answer is 18.", "x ≈ 3.14", "0.333...", "1/", "(1,2", "1)", `\frac{1}`, `\frac`, `\sqrt`, "x^",
		"^2", "a_", "3 4", "1..2", `\unknown{3}`,
		`\sum_{k=1}^n k`, `\begin{pmatrix} 1 & 2 \\ 3 \end{pmatrix}`, `\begin{pmatrix}`, "so we get 5",
		"5 is the answer", `{`, `}`, `\`, "$", "|3", `\{1,2`, `99_8`, "3 ≠ 4 ≠", `\{x \mid 5\}`, `\setminus`,
		`\mathbb{R}+1`, "1,,", "+", "5 + (1,2)", "I do not know the answer to this",
		`\boxed{3}\boxed{4}`, `\boxed{3} \boxed{4}`, "18 or so", "about 18", "= 5", "5 =", "\x00", "\xff",
	} {
		if f, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) = %s; want an error", s, f)
		}
	}
}
