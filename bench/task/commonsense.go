package task

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/jsonobject"
)

// adapters returns the eight sets of Commonsense170k in LLM-Adapters' layout: one instruction that contains
// the question, the choices and the answer format.
func adapters() []Entry {
	var all []Entry
	for _, a := range []struct {
		name, summary string
		items         int
		file, folder  string
	}{
		{"arc-challenge", "ARC, science questions that are hard to look up", 1172, "arc-challenge", "ARC-Challenge"},
		{"arc-easy", "ARC, easier science questions", 2376, "arc-easy", "ARC-Easy"},
		{"boolq", "BoolQ, yes or no, without the passage", 3270, "boolq", "boolq"},
		{"hellaswag", "HellaSwag, which ending fits", 10042, "hellaswag", "hellaswag"},
		{"openbookqa", "OpenBookQA, elementary science", 500, "openbookqa", "openbookqa"},
		{"piqa", "PIQA, everyday physics, two solutions", 1838, "piqa", "piqa"},
		{"social-iqa", "SocialIQA, what people feel and do next", 1954, "social_i_qa", "social_i_qa"},
		{"winogrande", "WinoGrande, whom the blank means", 1267, "winogrande", "winogrande"},
	} {
		form := synod.Choice
		if a.name == "boolq" {
			form = synod.Bool
		}
		all = append(all, Entry{
			Entry: synod.Entry{Name: a.name, Summary: a.summary}, Form: string(form), Items: a.items,
			About: "Read in the layout of LLM-Adapters, whose files the SAC paper used (Hu et al. 2023; data " +
				"ODC-By, the underlying sets under their own licences), or as its authors publish it, which is the " +
				"file that is pulled. Both have the same questions, with other labels and ids.",
			Source: releases[a.name].source,
			Layout: "one JSON object on each line, or one JSON array of them: instruction, input (empty), output, " +
				"answer; or " + releases[a.name].source.what() + " as the authors publish it",
			Files: append([]string{"llm-adapters/" + a.file + ".jsonl", a.file + ".jsonl", a.folder + "/test.json"},
				releases[a.name].source.files(a.name)...),
			Load: loadCommonsenseSet(releases[a.name].open),
		})
	}
	return all
}

// loadCommonsenseSet reads a set from its own release or in LLM-Adapters' layout.
func loadCommonsenseSet(release func(path string) ([]Item, error)) func(string, Options) ([]Item, error) {
	return func(path string, _ Options) ([]Item, error) {
		if filepath.Ext(path) == ".zip" {
			return release(path)
		}
		first, err := firstObject(path)
		if err == nil && !slices.ContainsFunc(first, func(m jsonobject.Member) bool { return m.Key == "instruction" }) {
			return release(path)
		}
		return loadAdapter(path)
	}
}

// firstObject returns the first object of a file; an error if it does not begin with an object, or with a list of
// objects.
func firstObject(path string) ([]jsonobject.Member, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, maxFile))
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	d := json.NewDecoder(r)
	if first, err := r.Peek(1); err == nil && first[0] == '[' {
		if _, err := d.Token(); err != nil {
			return nil, err
		}
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, err
	}
	return jsonobject.Members(raw)
}

// loadAdapter names items by their text, as the SAC paper does.
func loadAdapter(path string) ([]Item, error) {
	name := namer{}
	return ReadRows(path, func(_ int, row adapterRow) (Item, error) {
		if row.Input != "" {
			return Item{}, errors.New("the input is not empty; in these sets the instruction is the whole question")
		}
		q, err := readInstruction(row.Instruction)
		q.ID = qid(row.Instruction)
		return name.of(Item{Question: q, key: row.Answer}, err)
	})
}

// commonsense is an even mix of the eight sets, like Commonsense170k.
var commonsense = Entry{
	Entry: synod.Entry{Name: "commonsense170k", Summary: "the eight sets of Commonsense170k, taking turns"},
	Form:  "mixed",
	About: "One question of each of arc-challenge, arc-easy, boolq, hellaswag, openbookqa, piqa, social-iqa and " +
		"winogrande in turn, until the shortest is used up, so that the first n questions are an even mix for every " +
		"n. These are the sets' test items; the paper's are training items.",
	Layout: "a folder with the files of those eight",
	Load:   loadMix,
}

// Parts returns the sets that e consists of: e itself, except for the mix.
func (e Entry) Parts() []Entry {
	if e.Name == commonsense.Name {
		return adapters()
	}
	return []Entry{e}
}

func loadMix(_ string, o Options) ([]Item, error) {
	var sets [][]Item
	shortest := 0
	for _, e := range adapters() {
		path, err := e.find(o)
		if err != nil {
			return nil, err
		}
		items, err := e.read(path, o)
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i].Topic = e.Name
			items[i].Question.ID = e.Name + "/" + items[i].Question.ID
		}
		if sets = append(sets, items); len(sets) == 1 || len(items) < shortest {
			shortest = len(items)
		}
	}
	var mixed []Item
	for i := range shortest {
		for _, items := range sets {
			mixed = append(mixed, items[i])
		}
	}
	return mixed, nil
}

// releases are the eight sets of Commonsense170k as their authors publish them, by name. LLM-Adapters made its
// files from them, and they can be pulled. Choices without labels get letters. Ids are the authors' if there
// are any.
var releases = map[string]release{
	"arc-challenge": {hubRows("allenai/ai2_arc", "ARC-Challenge", "test", arcRevision, 1172), rows(arcItem)},
	"arc-easy":      {hubRows("allenai/ai2_arc", "ARC-Easy", "test", arcRevision, 2376), rows(arcItem)},
	"boolq": {hubRows("google/boolq", "default", "validation", "35b264d03638db9f4ce671b711558bf7ff0f80d5", 3270),
		rows(boolqItem)},
	"hellaswag": {Source{URL: "https://raw.githubusercontent.com/rowanz/hellaswag/master/data/hellaswag_val.jsonl",
		SHA256: "0aa3b88843990f3f10a97b9575c94d7b71fb2205240ba04ae4884d9e9c992588", Size: 12246618},
		rows(hellaswagItem)},
	"openbookqa": {hubRows("allenai/openbookqa", "main", "test", "388097ea7776314e93a529163e0fea805b8a6454", 500),
		rows(openbookItem)},
	"piqa": {mosaicFile("physicaliqa/physicaliqa-train-dev.zip",
		"54d32a04f59a7e354396f321723c8d7ec35cc6b08506563d8d1ffcc15ce98ddd", 1824009),
		archived("physicaliqa-train-dev/dev.jsonl", "physicaliqa-train-dev/dev-labels.lst", piqaItem)},
	"social-iqa": {mosaicFile("socialiqa/socialiqa-train-dev.zip",
		"ee073914a0fc33265cfbcfc50ec20df9b2e07809c3f420f599138d1f394ef5c3", 2198056),
		archived("socialiqa-train-dev/dev.jsonl", "socialiqa-train-dev/dev-labels.lst", socialItem)},
	"winogrande": {mosaicFile("winogrande/winogrande_1.1.zip",
		"3619ab104d8be2977b25c90ff420cb42d491707dcc75362a1e5d22bc082b7318", 3395492),
		archived("winogrande_1.1/dev.jsonl", "winogrande_1.1/dev-labels.lst", winograndeItem)},
}

type release struct {
	source Source
	open   func(path string) ([]Item, error)
}

const arcRevision = "210d026faf9955653af8916fad021475a3f00453"

// mosaicFile returns an archive of AllenAI's Mosaic group. Its address names no commit, so only the digest
// identifies it.
func mosaicFile(file, sum string, size int64) Source {
	return Source{URL: "https://storage.googleapis.com/ai2-mosaic/public/" + file, SHA256: sum, Size: size}
}

// rows returns a loader for a release with one JSON object on each line.
func rows[T any](use func(T) (Item, error)) func(string) ([]Item, error) {
	return func(path string) ([]Item, error) {
		name := namer{}
		return ReadRows(path, func(_ int, row T) (Item, error) { return name.of(use(row)) })
	}
}

// archived returns a loader for a release that is a zip archive with questions, one object on each line, and
// labels, one on each line.
func archived[T any](questions, labels string, use func(row T, label string) (Item, error)) func(string) ([]Item,
	error) {
	return func(path string) ([]Item, error) {
		rows, err := readMember(path, questions)
		if err != nil {
			return nil, err
		}
		keys, err := readMember(path, labels)
		if err != nil {
			return nil, err
		}
		right, name := strings.Fields(string(keys)), namer{}
		if n := bytes.Count(bytes.TrimSpace(rows), []byte("\n")) + 1; n != len(right) {
			return nil, fmt.Errorf("task: %s: %d questions and %d labels", path, n, len(right))
		}
		return parseRows(path+" "+questions, rows, func(n int, row T) (Item, error) {
			return name.of(use(row,
				right[n]))
		})
	}
}

// namer gives ids to items that have none, made from their text. Some questions appear twice in the public
// files, with different choices marked right; the second gets a number.
type namer map[string]int

func (seen namer) of(it Item, err error) (Item, error) {
	q := &it.Question
	if q.ID == "" {
		words := []string{q.Text}
		for _, o := range q.Options {
			words = append(words, o.Text)
		}
		q.ID = qid(strings.Join(words, "\n"))
	}
	if seen[q.ID]++; seen[q.ID] > 1 {
		q.ID = fmt.Sprintf("%s-%d", q.ID, seen[q.ID])
	}
	return it, err
}

// choices returns a question with unlabelled choices, of which the one at index right is right.
func choices(id, text string, right int, options ...string) (Item, error) {
	all, err := lettered(options)
	if err != nil {
		return Item{}, err
	}
	if right < 0 || right >= len(all) {
		return Item{}, fmt.Errorf("the right choice is number %d of %d", right+1, len(all))
	}
	return Item{Question: synod.Question{ID: id, Text: text, Form: synod.Choice, Options: all},
		key: all[right].Label}, nil
}

// numbered does what choices does for a label that counts from first.
func numbered(id, text, label string, first int, options ...string) (Item, error) {
	n, err := strconv.Atoi(label)
	if err != nil {
		return Item{}, fmt.Errorf("the label %q is not a number", label)
	}
	return choices(id, text, n-first, options...)
}

type arcRow struct {
	ID        string  `json:"id"`
	Question  string  `json:"question"`
	Choices   columns `json:"choices"`
	AnswerKey string  `json:"answerKey"`
}

func arcItem(r arcRow) (Item, error) {
	options, err := r.Choices.options()
	return Item{Question: synod.Question{ID: r.ID, Text: r.Question, Form: synod.Choice, Options: options},
		key: r.AnswerKey}, err
}

type openbookRow struct {
	ID        string  `json:"id"`
	Stem      string  `json:"question_stem"`
	Choices   columns `json:"choices"`
	AnswerKey string  `json:"answerKey"`
}

func openbookItem(r openbookRow) (Item, error) {
	return arcItem(arcRow{r.ID, r.Stem, r.Choices, r.AnswerKey})
}

type boolqRow struct {
	Question string `json:"question"`
	Answer   *bool  `json:"answer"`
	Passage  string `json:"passage"`
}

func boolqItem(r boolqRow) (Item, error) {
	if r.Answer == nil {
		return Item{}, errors.New("there is no answer")
	}
	text := strings.TrimSuffix(strings.TrimSpace(r.Question), "?") + "?"
	return Item{Question: synod.Question{Text: text, Form: synod.Bool}, key: strconv.FormatBool(*r.Answer)}, nil
}

type hellaswagRow struct {
	Ind       int      `json:"ind"`
	Activity  string   `json:"activity_label"`
	CtxA      string   `json:"ctx_a"`
	CtxB      string   `json:"ctx_b"`
	Ctx       string   `json:"ctx"`
	Endings   []string `json:"endings"`
	SourceID  string   `json:"source_id"`
	Split     string   `json:"split"`
	SplitType string   `json:"split_type"`
	Label     label    `json:"label"`
}

// label is a string on the public hub and a number in the authors' file.
type label string

// UnmarshalJSON accepts a string or a number.
func (l *label) UnmarshalJSON(data []byte) error {
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("the label %s is not a number", data)
	}
	*l = label(n)
	return nil
}

func hellaswagItem(r hellaswagRow) (Item, error) {
	return numbered("", r.Activity+": "+r.Ctx, string(r.Label), 0, r.Endings...)
}

type piqaRow struct {
	ID   string `json:"id"`
	Goal string `json:"goal"`
	Sol1 string `json:"sol1"`
	Sol2 string `json:"sol2"`
}

func piqaItem(r piqaRow, label string) (Item, error) {
	return numbered(r.ID, r.Goal, label, 0, r.Sol1, r.Sol2)
}

type socialRow struct {
	Context  string `json:"context"`
	Question string `json:"question"`
	AnswerA  string `json:"answerA"`
	AnswerB  string `json:"answerB"`
	AnswerC  string `json:"answerC"`
}

func socialItem(r socialRow, label string) (Item, error) {
	return numbered("", r.Context+" "+r.Question, label, 1, r.AnswerA, r.AnswerB, r.AnswerC)
}

type winograndeRow struct {
	ID       string `json:"qID"`
	Sentence string `json:"sentence"`
	Option1  string `json:"option1"`
	Option2  string `json:"option2"`
	Answer   string `json:"answer"`
}

func winograndeItem(r winograndeRow, label string) (Item, error) {
	if r.Answer != "" && r.Answer != label {
		return Item{}, fmt.Errorf("the answer is %q and the label %q", r.Answer, label)
	}
	return numbered(r.ID, r.Sentence, label, 1, r.Option1, r.Option2)
}
