package task

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/fetch"
)

// archive writes a zip archive of these files.
func archive(t testing.TB, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "set.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReleases reads rows of our own in the layouts in which the authors publish their sets. The rows in testdata are
// those of the tables in bench/parquet/testdata, as the public hub serves them and as synod-parquet writes them.
func TestReleases(t *testing.T) {
	table := func(name string) string { return filepath.Join("testdata", "releases", name+".jsonl") }
	for name, c := range map[string]struct {
		path string
		want []string // question, then choices, then the key
	}{
		"arc-easy": {table("arc-easy"), []string{"Mine_1|Which of these is a metal?|A wood|B iron|C glass|B",
			"Mine_2|What do plants take in by day?|1 carbon dioxide|2 gold|1"}},
		"openbookqa": {table("openbookqa"), []string{"7-1|Ice that is warmed|A melts|B sings|C grows|D rusts|A"}},
		"boolq": {table("boolq"), []string{"1f021517|is seven a prime number?|true",
			"3366f78e|is nine a prime number?|false"}},
		"mmlu-pro": {table("mmlu-pro"), []string{"70|How many legs has an insect?|A four|B six|C eight|B"}},
		"hellaswag": {table("hellaswag"), []string{
			"05cbd8db|Baking: She opens the oven. she|A takes the bread out.|B paints the bread.|C leaves the " +
				"planet.|D is a loaf.|A",
			"05cbd8db-2|Baking: She opens the oven. she|A takes the bread out.|B paints the bread.|C leaves the " +
				"planet.|D is a loaf.|A",
		}},
		"piqa": {archive(t, map[string]string{
			"physicaliqa-train-dev/dev.jsonl":      `{"id": "g1", "goal": "dry a cup", "sol1": "wipe it", "sol2": "fill it"}` + "\n",
			"physicaliqa-train-dev/dev-labels.lst": "0\n",
		}), []string{"g1|dry a cup|A wipe it|B fill it|A"}},
		"social-iqa": {archive(t, map[string]string{
			"socialiqa-train-dev/dev.jsonl":      `{"context": "Ann fell.", "question": "How does Ann feel?", "answerA": "hurt", "answerB": "rich", "answerC": "tall"}`,
			"socialiqa-train-dev/dev-labels.lst": "1\n",
		}), []string{"92cf1b96|Ann fell. How does Ann feel?|A hurt|B rich|C tall|A"}},
		"winogrande": {archive(t, map[string]string{
			"winogrande_1.1/dev.jsonl":      `{"qID": "W-1", "sentence": "The box is in the bag, so the _ is larger.", "option1": "box", "option2": "bag", "answer": "2"}`,
			"winogrande_1.1/dev-labels.lst": "2",
		}), []string{"W-1|The box is in the bag, so the _ is larger.|A box|B bag|B"}},
	} {
		items, err := opened(t, name, c.path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, it := range items {
			words := []string{it.Question.ID, it.Question.Text}
			for _, o := range it.Question.Options {
				words = append(words, o.Label+" "+o.Text)
			}
			got = append(got, strings.Join(append(words, it.key), "|"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// opened reads a file for a set without checking its digest.
func opened(t *testing.T, name, path string) ([]Item, error) {
	e, err := Catalogue.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e.Load(path, Options{})
}

// HellaSwag's authors write the label as a number, the public hub as a string.
func TestLabelOfHellaSwag(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hellaswag_val.jsonl")
	write(t, path, `{"ind": 3, "activity_label": "Baking", "ctx_a": "She", "ctx_b": "", "ctx": "She", "split": "val", `+
		`"split_type": "indomain", "label": 1, "endings": ["is a loaf.", "eats."], "source_id": "x~1"}`+"\n")
	items, err := opened(t, "hellaswag", path)
	if err != nil || len(items) != 1 || items[0].key != "B" {
		t.Errorf("%+v, %v", items, err)
	}
}

func TestBadReleases(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	const wino = "winogrande_1.1/dev.jsonl"
	row := `{"qID": "W-1", "sentence": "a _", "option1": "b", "option2": "c", "answer": "1"}`
	for _, c := range []struct{ name, path, want string }{
		{"arc-easy", filepath.Join("testdata", "releases", "boolq.jsonl"), ":1: unknown key"},
		{"hellaswag", file("label.jsonl", `{"label": "first"}`), `:1: broken JSON: the label "first" is not a number`},
		{"boolq", file("nothing.jsonl", ""), "contains no question"},
		{"winogrande", file("text.zip", "{}"), "not a valid zip file"},
		{"winogrande", archive(t, map[string]string{wino: row}), "dev-labels.lst: file does not exist"},
		{"winogrande", archive(t, map[string]string{wino: row, "winogrande_1.1/dev-labels.lst": "1\n2\n"}),
			"1 questions and 2 labels"},
		{"winogrande", archive(t, map[string]string{wino: row, "winogrande_1.1/dev-labels.lst": "2\n"}),
			`:1: the answer is "1" and the label "2"`},
		{"winogrande", archive(t, map[string]string{wino: strings.Replace(row, `"1"`, `"3"`, 1),
			"winogrande_1.1/dev-labels.lst": "3\n"}), ":1: the right choice is number 3 of 2"},
		{"winogrande", archive(t, map[string]string{wino: strings.Replace(row, `, "answer": "1"`, "", 1),
			"winogrande_1.1/dev-labels.lst": "one\n"}), "not a number"},
	} {
		if _, err := opened(t, c.name, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.name, filepath.Base(c.path), err, c.want)
		}
	}
	// With --data, an archive is accepted only if it is the published one, and a Parquet table is refused with advice.
	zipped := archive(t, map[string]string{wino: row, "winogrande_1.1/dev-labels.lst": "1\n"})
	if _, err := Open("winogrande", Options{Data: zipped}); !errors.Is(err, fetch.ErrDigest) {
		t.Errorf("%v", err)
	}
	old := filepath.Join(dir, "mmlu-pro", "test-00000-of-00001.parquet")
	if err := os.Mkdir(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, old, "PAR1")
	for name, data := range map[string]string{"arc-easy": file("table.parquet", "PAR1"), "mmlu-pro": dir,
		"gsm8k": old} {
		_, err := Open(name, Options{Data: data})
		var table *ParquetError
		if !errors.As(err, &table) || !strings.Contains(err.Error(), "go run synod.dev/synod/bench/parquet@latest ") ||
			!strings.Contains(err.Error(), "--data rows.jsonl") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The copy of CommonsenseQA beside the repository is in the hub's layout. Converted back into the release's
// layout, it has the pinned digest.
func TestPinOfCSQA(t *testing.T) {
	h, size := sha256.New(), int64(0)
	for _, it := range open(t, "csqa") {
		q := it.Question
		choices := make([]string, len(q.Options))
		for i, o := range q.Options {
			choices[i] = fmt.Sprintf(`{"label": %s, "text": %s}`, quoted(o.Label), quoted(o.Text))
		}
		n, _ := fmt.Fprintf(h,
			`{"answerKey": %s, "id": %s, "question": {"question_concept": %s, "choices": [%s], "stem": %s}}`+"\n",
			quoted(it.key), quoted(q.ID), quoted(it.Topic), strings.Join(choices, ", "), quoted(q.Text))
		size += int64(n)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != csqa.Source.SHA256 || size != csqa.Source.Size {
		t.Errorf("%d bytes with %s; pinned are %d with %s", size, sum, csqa.Source.Size, csqa.Source.SHA256)
	}
}

// quoted returns s as a JSON string without unnecessary escapes.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}
