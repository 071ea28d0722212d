package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod"
)

var gsm8k = Entry{
	Entry: synod.Entry{Name: "gsm8k", Summary: "grade-school word problems, test split"},
	Form:  string(synod.Number), Items: 1319,
	About: "Cobbe et al. 2021, MIT. The key is what follows #### in the worked solution.",
	Source: Source{
		URL: "https://raw.githubusercontent.com/openai/grade-school-math/3101c7d5072418e28b9008a6636bde82a006892c/" +
			"grade_school_math/data/test.jsonl",
		SHA256: "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14", Size: 749738,
	},
	Layout: `one JSON object on each line: question, answer (worked, with the last line "#### N")`,
	Files:  []string{"gsm8k-test.jsonl", "test.jsonl"},
	Load:   func(path string, _ Options) ([]Item, error) { return ReadRows(path, gsm8kItem) },
}

type gsm8kRow struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// gsm8kItem reads a row. The id of an item is its place in the file, as in recorded replies.
func gsm8kItem(n int, row gsm8kRow) (Item, error) {
	_, key, found := strings.Cut(row.Answer, "\n#### ")
	if !found {
		return Item{}, errors.New(`the answer has no last line "#### N"`)
	}
	q := synod.Question{ID: fmt.Sprintf("test-%d", n), Text: row.Question, Form: synod.Number}
	return Item{Question: q, key: strings.TrimSpace(key)}, nil
}

var math500 = Entry{
	Entry: synod.Entry{Name: "math500", Summary: "500 competition problems of five levels"},
	Form:  string(synod.Math), Items: 500,
	About: "MATH (Hendrycks et al. 2021) in the split of Lightman et al. 2023, MIT.",
	Source: Source{
		URL: "https://media.githubusercontent.com/media/openai/prm800k/7ecc794703b2877f63226f2477a49b34f9b25163/" +
			"prm800k/math_splits/test.jsonl",
		SHA256: "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132", Size: 446564,
	},
	Layout: "one JSON object on each line: problem, solution, answer, subject, level (1 to 5), unique_id",
	Files:  []string{"math500.jsonl", "test.jsonl"},
	Load:   func(path string, _ Options) ([]Item, error) { return ReadRows(path, math500Item) },
}

type math500Row struct {
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
	Answer   string `json:"answer"`
	Subject  string `json:"subject"`
	Level    int    `json:"level"`
	UniqueID string `json:"unique_id"`
}

func math500Item(_ int, row math500Row) (Item, error) {
	if row.Level < 1 || row.Level > 5 {
		return Item{}, fmt.Errorf("the level is %d; it must be from 1 to 5", row.Level)
	}
	if row.UniqueID == "" {
		return Item{}, fmt.Errorf("there is no unique_id")
	}
	q := synod.Question{ID: row.UniqueID, Text: row.Problem, Form: synod.Math}
	return Item{Question: q, Level: row.Level, Topic: row.Subject, key: row.Answer}, nil
}

var sacMath = Entry{
	Entry: synod.Entry{Name: "sac-math", Summary: "the SAC paper's 30 MATH problems of level 4"},
	Form:  string(synod.Math), Items: 30,
	About: "arXiv 2605.09076, Appendix C; texts and keys of MATH. The key is the data set's: for de4ec0fd the paper " +
		"prints 8√33/3, which is wrong (√(14²−13²) = 3√3). Only one of the 30 is in MATH500.",
	Made:   "sac-math",
	Layout: "one JSON object on each line: qid, problem, answer, paper_answer, level, subject, unique_id, in_math500",
	Files:  []string{"sac-math500-l4.jsonl"},
	Load:   func(path string, _ Options) ([]Item, error) { return ReadRows(path, sacMathItem) },
}

type sacMathRow struct {
	QID         string `json:"qid"`
	Problem     string `json:"problem"`
	Answer      string `json:"answer"`
	PaperAnswer string `json:"paper_answer"`
	Level       int    `json:"level"`
	Subject     string `json:"subject"`
	UniqueID    string `json:"unique_id"`
	InMATH500   bool   `json:"in_math500"`
}

func sacMathItem(_ int, row sacMathRow) (Item, error) {
	if got := qid(row.Problem); got != row.QID {
		return Item{}, fmt.Errorf("the qid of this text is %s, and %q is given: the text has been changed", got,
			row.QID)
	}
	q := synod.Question{ID: row.QID, Text: row.Problem, Form: synod.Math}
	it := Item{Question: q, Level: row.Level, Topic: row.Subject, key: row.Answer}
	if row.PaperAnswer != "" && it.GradeReply(row.PaperAnswer).Verdict != Right {
		it.Note = "the paper prints another answer, " + row.PaperAnswer
	}
	return it, nil
}

var sacCommonsense = Entry{
	Entry: synod.Entry{Name: "sac-commonsense", Summary: "the SAC paper's 30 commonsense questions"},
	Form:  "mixed", Items: 30,
	About: "arXiv 2605.09076, Appendix C; training items of eight sets in LLM-Adapters' wording. For ten of them the " +
		"exact text is not known: they are asked in the paper's shortened wording, and their note says so. A file " +
		"that was pulled or converted has the questions whose text LLM-Adapters contains, and no others.",
	Made: "sac-commonsense",
	Layout: "one JSON object on each line: qid, format, source, instruction (or null), answer, choices [{label, " +
		"text}], paper_question, text_verified, recovered_from",
	Files: []string{"sac-commonsense.jsonl", "sac-commonsense/sac-commonsense.jsonl"},
	Load:  func(path string, _ Options) ([]Item, error) { return ReadRows(path, sacCommonsenseItem) },
}

type sacCommonsenseRow struct {
	QID           string         `json:"qid"`
	Format        string         `json:"format"`
	Source        string         `json:"source"`
	Instruction   *string        `json:"instruction"`
	Answer        string         `json:"answer"`
	Choices       []synod.Option `json:"choices"`
	PaperQuestion string         `json:"paper_question"`
	Verified      bool           `json:"text_verified"`
	RecoveredFrom *string        `json:"recovered_from"`
}

func sacCommonsenseItem(_ int, row sacCommonsenseRow) (Item, error) {
	if row.QID == "" {
		return Item{}, fmt.Errorf("there is no qid")
	}
	topic, _, _ := strings.Cut(row.Source, "/")
	it := Item{Topic: topic, key: row.Answer}
	if row.Instruction == nil {
		it.Question = synod.Question{ID: row.QID, Text: row.PaperQuestion, Form: synod.Choice, Options: row.Choices}
		if row.Format == "true_false" {
			it.Question.Form, it.Question.Options = synod.Bool, nil
		}
		it.Note = "the paper's shortened wording; the exact text was not recovered"
		return it, nil
	}
	if got := qid(*row.Instruction); row.Verified && got != row.QID {
		return Item{}, fmt.Errorf("the qid of this text is %s, and %q is given: the text has been changed", got,
			row.QID)
	}
	q, err := readInstruction(*row.Instruction)
	q.ID = row.QID
	it.Question = q
	return it, err
}

var csqa = Entry{
	Entry: synod.Entry{Name: "csqa", Summary: "CommonsenseQA, five choices, dev split"},
	Form:  string(synod.Choice), Items: 1221,
	About: "Talmor et al. 2019. Files of the release, with question.stem, and of the hub, without it, can be read.",
	Source: Source{
		URL:    "https://s3.amazonaws.com/commensenseqa/dev_rand_split.jsonl",
		SHA256: "3210497fdaae614ac085d9eb873dd7f4d49b6f965a93adadc803e1229fd8a02a", Size: 471653,
	},
	Layout: "one JSON object on each line: id, question, question_concept, choices {label: […], text: […]}, " +
		"answerKey; or the release's: id, question {stem, question_concept, choices: [{label, text}]}, answerKey",
	Files: []string{"csqa-dev.jsonl", "dev_rand_split.jsonl", "csqa-dev-nested-sample.jsonl"},
	Load:  func(path string, _ Options) ([]Item, error) { return ReadRows(path, csqaItem) },
}

type csqaRow struct {
	ID        string          `json:"id"`
	Question  json.RawMessage `json:"question"`
	Concept   string          `json:"question_concept"`
	Choices   *columns        `json:"choices"`
	AnswerKey string          `json:"answerKey"`
}

// nested is a question in the layout of the release.
type nested struct {
	Concept string         `json:"question_concept"`
	Choices []synod.Option `json:"choices"`
	Stem    string         `json:"stem"`
}

func csqaItem(_ int, row csqaRow) (Item, error) {
	if row.ID == "" {
		return Item{}, errors.New("there is no id")
	}
	it := Item{Topic: row.Concept, key: row.AnswerKey}
	it.Question = synod.Question{ID: row.ID, Form: synod.Choice}
	if bytes.HasPrefix(bytes.TrimSpace(row.Question), []byte("{")) {
		var n nested
		if err := decodeRow(row.Question, &n); err != nil {
			return Item{}, fmt.Errorf("in question: %w", err)
		}
		it.Topic, it.Question.Text, it.Question.Options = n.Concept, n.Stem, n.Choices
		return it, nil
	}
	if err := json.Unmarshal(row.Question, &it.Question.Text); err != nil {
		return Item{}, errors.New(`"question" must be a string or an object`)
	}
	if row.Choices == nil {
		return Item{}, errors.New("there are no choices")
	}
	options, err := row.Choices.options()
	it.Question.Options = options
	return it, err
}

var mmluPro = Entry{
	Entry: synod.Entry{Name: "mmlu-pro", Summary: "MMLU-Pro, up to ten choices, 14 subjects"},
	Form:  string(synod.Choice), Items: 12032,
	About: "Wang et al. 2024, Apache-2.0. Most questions have ten options, some as few as three. An answer that " +
		"cannot be read stays unread; the script of the authors draws a random letter for it.",
	Source: hubRows("TIGER-Lab/MMLU-Pro", "default", "test", "b189ec765aa7ed75c8acfea42df31fdae71f97be", 12032),
	Layout: "one JSON object on each line: question_id, question, options (a list), answer (a letter), answer_index, " +
		"cot_content, category, src",
	Files: []string{"mmlu-pro.jsonl", "mmlu-pro/" + rowsFile, "mmlu-pro/test-00000-of-00001.parquet"},
	Load:  func(path string, _ Options) ([]Item, error) { return ReadRows(path, mmluProItem) },
}

type mmluProRow struct {
	QuestionID  int      `json:"question_id"`
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	Answer      string   `json:"answer"`
	AnswerIndex int      `json:"answer_index"`
	CotContent  string   `json:"cot_content"`
	Category    string   `json:"category"`
	Src         string   `json:"src"`
}

func mmluProItem(_ int, row mmluProRow) (Item, error) {
	options, err := lettered(row.Options)
	if err != nil {
		return Item{}, err
	}
	if i := row.AnswerIndex; i < 0 || i >= len(options) || options[i].Label != row.Answer {
		return Item{}, fmt.Errorf("answer %q and answer_index %d disagree", row.Answer, i)
	}
	q := synod.Question{ID: strconv.Itoa(row.QuestionID), Text: row.Question, Form: synod.Choice, Options: options}
	return Item{Question: q, Topic: row.Category, key: row.Answer}, nil
}
