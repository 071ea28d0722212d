package task

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"synod.dev/synod"
)

// adapters are the eight sets of Commonsense170k in LLM-Adapters' layout: one
// instruction that holds question, choices and answer format.
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
			About: "In the layout of LLM-Adapters, whose files the SAC paper took (Hu et al. 2023; data ODC-By, the underlying sets on their own terms), " +
				"or as its authors publish it, which is what is pulled: the same questions, with other labels and ids.",
			Source: releases[a.name].source,
			Layout: "one JSON object a line, or one JSON array of them: instruction, input (empty), output, answer; or " + path.Base(releases[a.name].source.URL) + " as the authors publish it",
			files:  []string{"llm-adapters/" + a.file + ".jsonl", a.file + ".jsonl", a.folder + "/test.json", a.name + "/" + path.Base(releases[a.name].source.URL)},
			open:   openCommon(releases[a.name].open),
		})
	}
	return all
}

type adapterRow struct {
	Instruction string `json:"instruction"`
	Input       string `json:"input"`
	Output      string `json:"output"`
	Answer      string `json:"answer"`
}

// openCommon reads a set from its own release or in LLM-Adapters' layout.
func openCommon(release func(path string) ([]Item, error)) func(string, Options) ([]Item, error) {
	return func(path string, _ Options) ([]Item, error) {
		if released(path) {
			return release(path)
		}
		return openAdapter(path)
	}
}

// openAdapter names items as the SAC paper does, by their text.
func openAdapter(path string) ([]Item, error) {
	name := namer{}
	return readRows(path, func(_ int, row adapterRow) (Item, error) {
		if row.Input != "" {
			return Item{}, errors.New("the input is not empty; in these sets the instruction is the whole question")
		}
		q, err := readInstruction(row.Instruction)
		q.ID = qid(row.Instruction)
		return name.of(Item{Question: q, key: row.Answer}, err)
	})
}

var (
	preamble  = regexp.MustCompile(`^Please (?:choose the correct \w+ (?:to|to fill in the blank to complete) the (?:given )?(?:question|sentence)|answer the following question with true or false, question): `)
	formatEnd = regexp.MustCompile(`\s*Answer format: ([a-z0-9/]+)\s*$`)
)

// readInstruction takes question and choices out of an instruction. Its last
// words, "Answer format: answer1/answer2", say which choices there are.
func readInstruction(s string) (synod.Question, error) {
	end := formatEnd.FindStringSubmatchIndex(s)
	if end == nil {
		return synod.Question{}, errors.New(`the instruction does not end with "Answer format: …"`)
	}
	labels := strings.Split(s[end[2]:end[3]], "/")
	s = preamble.ReplaceAllString(s[:end[0]], "")
	if len(labels) == 2 && labels[0] == "true" && labels[1] == "false" {
		return synod.Question{Text: strings.TrimSpace(s), Form: synod.Bool}, nil
	}
	q := synod.Question{Form: synod.Choice, Options: make([]synod.Option, len(labels))}
	for i := len(labels) - 1; i >= 0; i-- { // from the end, where the labels surely are labels
		mark := strings.ToUpper(labels[i][:1]) + labels[i][1:] + ":"
		at := strings.LastIndex(s, mark)
		if at < 0 {
			return synod.Question{}, fmt.Errorf("the instruction names the choice %s and has no %q", labels[i], mark)
		}
		q.Options[i] = synod.Option{Label: labels[i], Text: strings.TrimSpace(s[at+len(mark):])}
		s = s[:at]
	}
	q.Text = strings.TrimSpace(s)
	return q, nil
}

// commonsense is an even mix of the eight, as Commonsense170k puts them together.
var commonsense = Entry{
	Entry: synod.Entry{Name: "commonsense170k", Summary: "the eight sets of Commonsense170k, taking turns"},
	Form:  "mixed",
	About: "One question of each of arc-challenge, arc-easy, boolq, hellaswag, openbookqa, piqa, social-iqa and winogrande in turn, until the " +
		"shortest is used up, so that the first n questions are an even mix for every n. These are the sets' test items; the paper's are training items.",
	Layout: "a folder with the files of those eight",
	open:   openCommonsense,
}

// Parts are the sets that e is put together from: itself, for all but the mix.
func (e Entry) Parts() []Entry {
	if e.Name == commonsense.Name {
		return adapters()
	}
	return []Entry{e}
}

func openCommonsense(_ string, o Options) ([]Item, error) {
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
