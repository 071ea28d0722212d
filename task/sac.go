package task

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"

	"synod.dev/synod"
)

var sacMath = Entry{
	Entry: synod.Entry{Name: "sac-math", Summary: "the SAC paper's 30 MATH problems of level 4"},
	Form:  string(synod.Math), Items: 30,
	About: "arXiv 2605.09076, Appendix C; texts and keys of MATH. The key is the data set's: for de4ec0fd the paper " +
		"prints 8√33/3, which is wrong (√(14²−13²) = 3√3). Only one of the 30 is in MATH500.",
	Layout: "one JSON object a line: qid, problem, answer, paper_answer, level, subject, unique_id, in_math500",
	files:  []string{"sac-math500-l4.jsonl"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, sacMathItem) },
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
		return Item{}, fmt.Errorf("the qid of this text is %s, and %q is given: the text was changed", got, row.QID)
	}
	q := synod.Question{ID: row.QID, Text: row.Problem, Form: synod.Math}
	it := Item{Question: q, Level: row.Level, Topic: row.Subject, key: row.Answer}
	if row.PaperAnswer != "" && it.GradeReply(row.PaperAnswer).Verdict != Right {
		it.Note = "the paper prints another answer, " + row.PaperAnswer
	}
	return it, nil
}

// qid is how the SAC paper names an item: the first eight hexadecimal digits of
// the text's MD5.
func qid(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:4])
}

var sacCommonsense = Entry{
	Entry: synod.Entry{Name: "sac-commonsense", Summary: "the SAC paper's 30 commonsense questions"},
	Form:  "mixed", Items: 30,
	About: "arXiv 2605.09076, Appendix C; training items of eight sets in LLM-Adapters' wording. Of ten the exact " +
		"text was not recovered; they are asked in the paper's shortened wording, and their note says so.",
	Layout: "one JSON object a line: qid, format, source, instruction (or null), answer, choices [{label, text}], paper_question, text_verified, recovered_from",
	files:  []string{"sac-commonsense.jsonl"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, sacCommonsenseItem) },
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
		return Item{}, fmt.Errorf("the qid of this text is %s, and %q is given: the text was changed", got, row.QID)
	}
	q, err := readInstruction(*row.Instruction)
	q.ID = row.QID
	it.Question = q
	return it, err
}
