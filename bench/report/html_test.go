package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	stdhtml "html"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/clean"
)

// hostile is text that a model, a data set or a council file may contain.
const hostile = "</td></text><script>alert(1)</script><img src=x onerror=alert(2)>\" " +
	"onclick=\"x\x1b[2J\x07\u202e\u2066\u200f{{.}}\x00\u2028javascript:"

// full returns a report with all kinds of content.
func full() *report.Report {
	rate := func(k, n int) *metrics.Rate { return metrics.Share(k, n) }
	r := sample()
	r.Seats = []report.Member{{ID: "a", Model: "x", Kind: "simulated", Group: "strong"},
		{ID: "b", Model: "x", Kind: "recorded", Group: "weak"},
		{ID: "m", Model: "x", Kind: "simulated", Adversary: "replay"}}
	r.Metrics.IAA, r.Metrics.FAA = rate(30, 40), rate(36, 40)
	r.Groups = metrics.Groups{Weak: &metrics.RateChange{Before: rate(0, 10), After: rate(5, 10)},
		Strong: &metrics.RateChange{Before: rate(9, 10)}}
	r.Rounds = []metrics.Round{{T: 0, Accuracy: rate(30, 40), Weak: rate(0, 10), Strong: rate(9, 10)},
		{T: 1, Accuracy: rate(36, 40), Weak: rate(5, 10)}}
	r.Drops = []report.Drop{{By: "a", Of: "b", Dropped: 2, Share: rate(2, 8)},
		{By: "a", Of: "m", Dropped: 8, Share: rate(8, 8)}, {By: "b", Of: "a", Share: rate(0, 8)}}
	r.ErrorPairs = []report.ErrorPair{{A: "a", B: "b", CoError: rate(2, 40),
		Phi: &metrics.Rate{Value: -.25, N: 40, Low: -.5, High: .1, Count: true}}}
	for _, name := range []string{"gpt", "qwen"} {
		m := report.Model{Model: name, Kind: "simulated", Reported: []string{"gpt"}, Seats: 1}
		m.Right.First, m.Right.Final, m.Rounds = rate(5, 10), rate(9, 10), []*metrics.Rate{rate(5, 10), rate(9, 10)}
		r.Models = append(r.Models, m)
	}
	r.Compared = &report.Compared{Against: "other", Questions: 4, McNemar: .5, Decision: rate(1, 4), FAA: rate(1, 4)}
	return r
}

func question(id string) *report.Question {
	sure := .95
	own := synod.Opinion{Confidence: &sure, Answer: "42", Surface: "forty-two", Source: synod.Own}
	next := synod.Opinion{Round: 1, Answer: "42", Source: synod.Adopted, From: []synod.NodeID{0},
		Scores: []synod.Judged{{Of: 0, Score: .25}, {Of: 2, Score: synod.Untrusted}}, Retained: []synod.NodeID{0},
		Dropped: []synod.NodeID{2}}
	return &report.Question{
		Question: synod.Question{ID: id, Text: "How many?", Form: synod.Choice,
			Options: []synod.Option{{Label: "A", Text: "all"}}},
		Key: "42", Status: "agreed", Answer: "42", Verdict: task.Right,
		Votes: []report.Support{{Answer: "42", Verdict: task.Right, Seats: []string{"a", "b"}, Independent: 1}},
		Rounds: [][]report.Held{
			{{Opinion: own, Noted: true, Verdict: task.Right}, {Opinion: own, Verdict: task.Wrong},
				{Opinion: synod.Opinion{}}},
			{{Opinion: next, Noted: true, Verdict: task.Right}, {Opinion: next, Noted: true, Verdict: task.Unreadable},
				{Opinion: next, Noted: true}},
		},
	}
}

func listed(questions ...*report.Question) iter.Seq2[*report.Question, error] {
	return func(yield func(*report.Question, error) bool) {
		for _, q := range questions {
			if !yield(q, nil) {
				return
			}
		}
	}
}

func html(t *testing.T, r *report.Report, d report.Detail) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	tag       = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)([^>]*)>`)
	attribute = regexp.MustCompile(`([a-zA-Z0-9:-]+)="[^"]*"`)
	known     = strings.Fields(`html pre head meta title style body main h1 h2 h3 span dl dt dd small div b p s table
		caption tr th td figure figcaption details summary input label output svg g path text rect line polygon circle
		thead tbody form select option button a`)
	harmless = strings.Fields(`hidden tabindex size placeholder stroke-dasharray lang charset http-equiv content name
		class viewBox font-family role aria-label transform d style x y width height type id for checked fill stroke
		stroke-width x1 y1 x2 y2 points cx cy r font-size text-anchor dominant-baseline textLength lengthAdjust scope
		colspan href value data-column data-part data-of`)
)

// Hostile names, keys and answers add no tags or attributes to a page, and no control
// or direction characters.
func TestHostilePage(t *testing.T) {
	r := full()
	r.Task, r.Council, r.Protocol, r.Rule, r.Exact = hostile, hostile, hostile, hostile, hostile
	r.Failures = []report.Failure{{Question: hostile, Stopped: hostile, Reason: hostile}}
	r.Compared.Against = hostile
	r.Topics = []metrics.Part{{Name: hostile}, {Name: hostile + "2"}}
	for i := range r.Seats {
		r.Seats[i] = report.Member{ID: hostile + fmt.Sprint(i), Model: hostile, Kind: hostile, Group: hostile}
	}
	r.Seats[2].Adversary = hostile
	for i := range r.Drops {
		r.Drops[i].By, r.Drops[i].Of = r.Seats[i%2].ID, r.Seats[2].ID
	}
	r.Calibration.Models[0].Model = hostile
	r.Models[0].Model, r.Models[1].Reported = hostile, []string{hostile}
	q := question(hostile)
	q.Text, q.Key, q.Reason, q.Status, q.Answer, q.Form = hostile, hostile, hostile, hostile, hostile, hostile
	q.Options, q.Votes[0].Answer, q.Votes[0].Seats = []synod.Option{{Label: hostile, Text: hostile}}, hostile,
		[]string{hostile}
	for _, round := range q.Rounds {
		for i := range round {
			round[i].Reasoning = hostile
			round[i].Answer, round[i].Surface, round[i].Source, round[i].Dropped = hostile, "said "+hostile, hostile,
				[]synod.NodeID{-1, 0, 99}
		}
	}
	page := html(t, r, report.Detail{Questions: listed(q), Limit: -1})
	checkPage(t, page, 20)
}

// A text of 40 KiB is on the page whole: every line, tab and character as it is, but for those that a reader could not
// see or a terminal could obey, which stand as codes.
func TestLongTextOnPage(t *testing.T) {
	const piece = "# Tides – прилив, 潮汐, مد \u202egnorw\u202c 👩\u200d🚀 é & &amp; <b>\n\n| a | b |\n|---|---:|\n" +
		"| 1 | $\\frac{1}{2}$ |\n\n```go\n\tx := \"<|im_end|>\"   // \x1b[31mred\x1b[0m " +
		"\x1b]0;title\x07 \u009b2J \x00 \r\n```\n" +
		"<script>alert(1)</script> </pre></details> {{.}} \\[ e^{i\\pi} \\]\n\n"
	text := strings.TrimSpace(strings.Repeat(piece, 40<<10/len(piece)+1))
	q := question("tides")
	q.Form, q.Answer = synod.Prose, synod.Answer(text)
	page := html(t, full(), report.Detail{Questions: listed(q), Limit: -1})
	checkPage(t, page, 40<<10/len(piece))
	_, shown, _ := strings.Cut(page, `<pre class="u">`)
	shown, _, _ = strings.Cut(shown, "</pre>")
	if got, want := stdhtml.UnescapeString(shown), clean.Escape(text); got != want {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%d bytes are shown of %d; from %d on %.80q, want %.80q", len(got), len(want), at, got[at:], want[at:])
	}
}

// checkPage fails if a page has unknown tags or attributes, or control or direction
// characters. The hostile text must be shown, escaped, at least the given number of
// times.
func checkPage(t *testing.T, page string, shown int) {
	t.Helper()
	for _, c := range page {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 ||
			strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u2028\u2029", c) {
			t.Fatalf("the page contains %U", c)
		}
	}
	_, body, _ := strings.Cut(page, "</style>")
	body = withoutScript(t, page, body)
	for _, m := range tag.FindAllStringSubmatch(body, -1) {
		if !slices.Contains(known, m[2]) {
			t.Errorf("unknown tag: %s", m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
			if !slices.Contains(harmless, a[1]) {
				t.Errorf("unknown attribute: %s", m[0])
			}
		}
		if rest := strings.Trim(attribute.ReplaceAllString(m[3], ""), " \n\t/"); rest != "" {
			t.Errorf("%q in %s is not an attribute", rest, m[0])
		}
	}
	if n := strings.Count(page, "&lt;script&gt;"); n < shown {
		t.Errorf("the escaped text is shown only %d times", n)
	}
}

// withoutScript removes the search script of a page, which must be the file page.js, byte for byte, and the only script
// that the page's policy allows.
func withoutScript(t *testing.T, page, body string) string {
	t.Helper()
	code, err := os.ReadFile("page.js")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(code)
	policy := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if head, _, _ := strings.Cut(page, "<style>"); !strings.Contains(stdhtml.UnescapeString(head), policy) {
		t.Errorf("the policy lacks %q:\n%s", policy, head)
	}
	if strings.Contains(body, `class="search"`) != strings.Contains(body, "<script>"+string(code)+"</script>") {
		t.Error("a search without its script, or a script without a search")
	}
	return strings.Replace(body, "<script>"+string(code)+"</script>", "", 1)
}

// A page has a strict content policy, loads nothing, labels every table and picture
// with the members' kinds, and is the same every time.
func TestPage(t *testing.T) {
	detail := report.Detail{Questions: listed(question("q1"), question("q2"), question("q3")), Limit: 2,
		Rest: "the rest: --all"}
	page := html(t, full(), detail)
	for _, want := range []string{
		"default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; script-src &#39;sha256-",
		"prefers-color-scheme:dark",
		"width=device-width",
		"The first 2 of 5 questions; the rest: --all", "McNemar", "the deadline passed", "<b>1</b>failed",
		"<b>0</b>unfinished", "2 of 8", "a\u00a00.25 <s>m\u00a0unreadable</s>",
		"adopted from a", "wrote forty-two", "unchanged", "confidence 0.95",
		`<th><span class="u">a</span><small class="g u">x</small><small class="g">strong</small></th>`, `class="none"`, "90.0 %", "n 40",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"http://", "https://", "src=", "href=", "url(", "@import", "NaN"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for rest := page; ; {
		before, table, more := strings.Cut(rest, "<table")
		if !more {
			break
		}
		if around := before + table[:min(150, len(table))]; !strings.Contains(around,
			`<span class="kind">recorded and simulated members</span>`) {
			t.Errorf("a table without a label: …%s", around)
		}
		_, rest, _ = strings.Cut(table, "</table>")
	}
	for _, picture := range strings.Split(page, "<svg")[1:] {
		if drawn, _, _ := strings.Cut(picture, "</svg>"); !strings.Contains(drawn,
			"(recorded and simulated members)</text>") {
			t.Error("a picture without a label")
		}
	}
	if html(t, full(), detail) != page {
		t.Error("the page is different the second time")
	}
	live := full()
	live.MembersKind = []string{"endpoint"}
	if page := html(t, live, detail); strings.Contains(page, `class="kind"`) {
		t.Error("live members are labelled")
	}
	live.MembersKind = []string{"endpoint", "simulated"}
	if page := html(t, live, detail); !strings.Contains(page, `<span class="kind">some simulated members</span>`) {
		t.Error("some members are simulated, and the page does not say so")
	}
}

// Questions beyond the limit are listed with their outcome, and at most one question more is read than is listed. A
// question that cannot be read is an error, not a shorter page.
func TestQuestionsAreRead(t *testing.T) {
	read := 0
	many := func(yield func(*report.Question, error) bool) {
		for read = 1; yield(question("q"), nil); read++ {
		}
	}
	if page := html(t, full(), report.Detail{Questions: many, Limit: 3}); strings.Count(page, `class="q"`) != 3 ||
		read != 5004 || strings.Count(page, "<tr><td class=\"u\">q</td>") != 5000 ||
		!strings.Contains(page, "left out") {
		t.Errorf("%d shown, %d read", strings.Count(page, `class="q"`), read)
	}
	broken := func(yield func(*report.Question, error) bool) { yield(nil, errors.New("torn")) }
	if err := full().HTML(&bytes.Buffer{}, report.Detail{Questions: broken, Limit: -1}); err == nil ||
		!strings.Contains(err.Error(), "torn") {
		t.Error(err)
	}
}
