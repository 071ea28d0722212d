package task

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/internal/fetch"
)

// zipped reads lines of JSON of the recorded votes.
func zipped[T any](t *testing.T, name string) (rows []T) {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t), "votes", name))
	if err != nil {
		t.Skip("SKIPPED: there are no recorded votes: " + err.Error())
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// recordedReply is a reply with the answer that was read from it when the votes were made.
type recordedReply struct {
	Gold   string  `json:"gold"`
	Answer *string `json:"answer"`
	Reply  string  `json:"reply"`
}

// Answers that are read from recorded replies are those that the votes have: nearly always the same text, and whether
// they are right in all but two of a thousand.
func TestVoteAnswers(t *testing.T) {
	for set, canonical := range map[string]func(answer, gold string) string{"gsm8k": voteNumber, "math-l5": voteNumber,
		"crux": voteLiteral} {
		replies := zipped[recordedReply](t, set+"-replies.jsonl.gz")
		same, judged := 0, 0
		for _, r := range replies {
			got := ""
			if said, ok := saidAnswer(r.Reply); ok {
				got = canonical(said, r.Gold)
			}
			want := ""
			if r.Answer != nil {
				want = *r.Answer
			}
			if got == "" && r.Answer == nil || got == want {
				same++
			}
			if (got == r.Gold) == (want == r.Gold) {
				judged++
			}
		}
		t.Logf("%s: %d replies, %d of them read alike, %d judged alike", set, len(replies), same, judged)
		if float64(same) < 0.995*float64(len(replies)) || float64(judged) < 0.998*float64(len(replies)) {
			t.Errorf("%s: too few", set)
		}
	}
}

// Literals are written as Python writes them.
func TestPythonLiteral(t *testing.T) {
	for text, want := range map[string]string{`"a"`: "'a'", `[2,1]`: "[2, 1]", "3,2": "(3, 2)", "(3,)": "(3,)",
		"(3)": "3", "()": "()", `{"a":1,'b': [None, True]}`: "{'a': 1, 'b': [None, True]}", `"it's"`: `"it's"`,
		`'a\n\'"'`: `'a\n\'"'`, "-1.5": "-1.5", `"\u00e9\x41"`: "'éA'", `[]`: "[]", `{}`: "{}", "[1, 2,]": "[1, 2]",
		`b"a"`: "b'a'"} {
		if got, ok := literalRepr(text); !ok || got != want {
			t.Errorf("%s: %s %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "a", "[1", "1 2", "'a", "{1}", "f(1)", "'a\nb'", "1,,2", "Truely"} {
		if got, ok := literalRepr(text); ok {
			t.Errorf("%s is read as %s", text, got)
		}
	}
	deep := make([]byte, 1000)
	for i := range deep {
		deep[i] = '['
	}
	if _, ok := literalRepr(string(deep)); ok {
		t.Error("it is nested without a bound")
	}
}

// publishedVotes are the files of a set as its authors publish them, with questions that are not listed too.
func publishedVotes(t *testing.T, set string, file func(rows []voteRow, model string) []byte) map[string][]byte {
	t.Helper()
	rows := zipped[voteRow](t, set+".jsonl.gz")
	wrong := "nothing"
	rows = append(rows, voteRow{ID: set + "-99999", Gold: "A", Votes: map[string]*string{"Athene-70B": &wrong}})
	files := map[string][]byte{}
	l := listedVotes()[set]
	for k, model := range l.models {
		files["/"+l.files[k]] = file(rows, model)
	}
	return files
}

// zeroFile is a file of ZeroEval.
func zeroFile(rows []voteRow, model string) []byte {
	type reply map[string]any
	var all []reply
	for _, r := range rows {
		vote, asked := r.Votes[model]
		if !asked {
			continue
		}
		output := "I do not know."
		if vote != nil {
			b, _ := json.Marshal(map[string]string{"reasoning": "So it is.", "answer": *vote})
			output = "```json\n" + string(b) + "\n```"
		}
		all = append(all, reply{"session_id": r.ID, "answer": r.Gold, "output": []string{output}, "generator": "x"})
	}
	b, _ := json.MarshalIndent(all, "", "  ")
	return b
}

// mmluFile is an archive of MMLU-Pro's repository.
func mmluFile(rows []voteRow, model string) []byte {
	var all []map[string]any
	for _, r := range rows {
		if vote, asked := r.Votes[model]; asked {
			id, _ := strconv.Atoi(strings.TrimPrefix(r.ID, "mmlu-pro-"))
			all = append(all, map[string]any{"question_id": id, "answer": r.Gold, "pred": vote,
				"model_outputs": "The answer is not here.", "options": []string{"x", "y"}, "category": "law"})
		}
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.Create("model_outputs.json")
	_ = json.NewEncoder(w).Encode(all)
	_ = z.Close()
	return b.Bytes()
}

// at returns a conversion whose files are on a server of the test.
func (c Conversion) at(server string) Conversion {
	c.From = slices.Clone(c.From)
	for i := range c.From {
		c.From[i].URL = server + "/" + path.Base(c.From[i].URL)
	}
	return c
}

// The votes are made of the published files: those of the listed questions alone, as they were recorded. Files of which
// a model's answers are others are refused.
func TestPullVotes(t *testing.T) {
	for set, of := range map[string]struct {
		made Conversion
		file func([]voteRow, string) []byte
	}{"gsm8k": {gsm8kVotes, zeroFile}, "crux": {cruxVotes, zeroFile}, "mmlu-pro": {mmluVotes, mmluFile}} {
		files, asked := publishedVotes(t, set, of.file), 0
		c := of.made.at(hub(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			content(files[r.URL.Path])(w, r)
		}))
		s := toyStore(t)
		for range 2 {
			if err := s.PullMade(t.Context(), c, PullOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := rowsOf[voteRow](s.made(c))
		if err != nil || asked != len(files) || s.MadeState(c) != Here {
			t.Fatalf("%s: asked %d times for %d files, %s, %v", set, asked, len(files), s.MadeState(c), err)
		}
		want := zipped[voteRow](t, set+".jsonl.gz")
		if len(got) != len(want) {
			t.Fatalf("%s: %d questions, want %d", set, len(got), len(want))
		}
		votes, differ := 0, 0
		for i := range got {
			for model, vote := range want[i].Votes {
				votes++
				if !reflect.DeepEqual(got[i].Votes[model], vote) {
					differ++ // some wrong answers change when what was read of a reply is read again
				}
			}
		}
		if got[0].digest() != want[0].digest() || differ > votes/200 {
			t.Errorf("%s: %d of %d votes differ from the recorded ones", set, differ, votes)
		}
	}
}

func TestPullVotesRefuses(t *testing.T) {
	files := publishedVotes(t, "gsm8k", zeroFile)
	serve := func(change func(map[string][]byte)) error {
		other := maps.Clone(files)
		change(other)
		c := gsm8kVotes.at(hub(t, func(w http.ResponseWriter, r *http.Request) {
			if other[r.URL.Path] == nil {
				http.NotFound(w, r)
				return
			}
			content(other[r.URL.Path])(w, r)
		}))
		s := toyStore(t)
		err := s.PullMade(t.Context(), c, PullOptions{})
		if s.MadeState(c) == Here {
			t.Error("a refused file is kept")
		}
		return err
	}
	const one = "/gpt-4o-2024-08-06.json"
	for name, change := range map[string]func(map[string][]byte){
		"the replies of another model": func(f map[string][]byte) { f[one] = f["/gemma-2-2b-it.json"] },
		"another key": func(f map[string][]byte) {
			f[one] = bytes.Replace(f[one], []byte(`"answer": "18"`), []byte(`"answer": "19"`), 1)
		},
		"no names": func(f map[string][]byte) { f[one] = bytes.ReplaceAll(f[one], []byte("session_id"), []byte("id")) },
		"absent":   func(f map[string][]byte) { delete(f, one) },
	} {
		err := serve(change)
		t.Logf("%s: %v", name, err)
		if absent := name == "absent"; err == nil || !absent && !errors.Is(err, fetch.ErrDigest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Files that somebody has are converted by their names.
func TestConvertVotes(t *testing.T) {
	dir := t.TempDir()
	for name, b := range publishedVotes(t, "gsm8k", zeroFile) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if rows, _ := convert(t, "votes/gsm8k", dir); len(rows) != 668 {
		t.Errorf("%d rows", len(rows))
	}
	if err := os.Remove(filepath.Join(dir, "yi-large.json")); err != nil {
		t.Fatal(err)
	}
	_, _, err := gsm8kVotes.Make([]string{dir})
	if err == nil || !strings.Contains(err.Error(), "no file yi-large.json") {
		t.Error(err)
	}
}

// The digests are those of the recorded votes.
func TestVoteDigests(t *testing.T) {
	for _, set := range []string{"gsm8k", "math-l5", "crux", "mmlu-pro"} {
		l := listedVotes()[set]
		for i, r := range zipped[voteRow](t, set+".jsonl.gz") {
			if r.ID != set+"-"+l.ids[i] || r.digest() != l.digests[i] {
				t.Fatalf("%s: %s is %s", set, r.ID, r.digest())
			}
		}
	}
}
