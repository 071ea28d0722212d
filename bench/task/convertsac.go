package task

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm/read/notation"
)

// sacItems names the SAC paper's 60 items (arXiv 2605.09076, Appendix C): qid, the item's name in MATH or its format
// and set, the answer, the answer that the paper prints if it is another one, and the SHA-256 of the text. Of ten
// texts only the qid is known, which is 32 bits of their MD5.
//
//go:embed sacitems.csv
var sacItems []byte

type sacItem struct{ set, qid, name, answer, paper, sum string }

// listedItems returns the items of a set.
func listedItems(set string) (items []sacItem, err error) {
	rows, err := csv.NewReader(bytes.NewReader(sacItems)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("task: sacitems.csv: %w", err)
	}
	for _, r := range rows[1:] {
		if r[0] == set {
			items = append(items, sacItem{r[0], r[1], r[2], r[3], r[4], r[5]})
		}
	}
	return items, nil
}

// is reports whether a text is that of the item.
func (it sacItem) is(text string) bool {
	if it.sum == "" {
		return qid(text) == it.qid
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) == it.sum
}

var sacMathFile = Conversion{
	Entry: synod.Entry{Name: "sac-math", Summary: "MATH to the SAC paper's 30 problems"},
	About: "MATH (Hendrycks et al. 2021, MIT), test split. The 30 problems are found by the paper's qid; their texts " +
		"have pinned digests.",
	Input: "MATH.tar, the folder MATH, or files of rows with problem and solution",
	File:  "sac-math/sac-math500-l4.jsonl",
	From: []Source{{URL: "https://people.eecs.berkeley.edu/~hendrycks/MATH.tar",
		SHA256: "0fbe4fad0df66942db6c221cdcc95b298cc7f4595a2f0f518360cce84e90d9ac"}},
	Make: makeSACMath,
}

// mathRow is a problem of MATH.
type mathRow struct {
	Problem  string `json:"problem"`
	Level    string `json:"level"`
	Type     string `json:"type"`
	Solution string `json:"solution"`
}

func makeSACMath(in []string) ([]byte, string, error) {
	listed, err := listedItems("math")
	if err != nil {
		return nil, "", err
	}
	found := map[string]mathRow{} // by qid
	use := func(row mathRow) { found[qid(row.Problem)] = row }
	for _, file := range in {
		if err := eachMath(file, use); err != nil {
			return nil, "", err
		}
	}
	var rows []sacMathRow
	var missing []string
	for _, it := range listed {
		row, ok := found[it.qid]
		if !ok || !it.is(row.Problem) {
			missing = append(missing, it.qid)
			continue
		}
		answer, ok := boxed(row.Solution)
		if !ok || answer != it.answer {
			return nil, "", fmt.Errorf("task: the solution of %s ends with %q; its answer is %q", it.name, answer,
				it.answer)
		}
		level, _ := strconv.Atoi(strings.TrimPrefix(row.Level, "Level "))
		made := sacMathRow{QID: it.qid, Problem: row.Problem, Answer: it.answer, PaperAnswer: it.paper, Level: level,
			Subject: row.Type, UniqueID: it.name}
		if made.PaperAnswer == "" {
			made.PaperAnswer = it.answer
		}
		rows = append(rows, made)
	}
	if len(missing) > 0 {
		return nil, "", fmt.Errorf("task: %d of the 30 problems are not in %s: %s", len(missing),
			strings.Join(in, ", "), strings.Join(missing, ", "))
	}
	made, err := writeLines(rows)
	return made, "", err
}

// eachMath calls use with each problem of an archive, a folder or a file of rows.
func eachMath(file string, use func(mathRow)) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("task: %w", err)
	case info.IsDir():
		files, err := inputs([]string{file}, "*.json")
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := eachMathRow(f, use); err != nil {
				return err
			}
		}
		return nil
	}
	err = eachArchived(file, use)
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) {
		return eachMathRow(file, use)
	}
	return err
}

// eachArchived reads the problems of the test split in MATH.tar.
func eachArchived(file string, use func(mathRow)) error {
	f, err := durable.Open(file)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("task: %s: %w", file, err)
		}
		if h.Typeflag != tar.TypeReg || path.Ext(h.Name) != ".json" || strings.HasPrefix(path.Base(h.Name), "._") ||
			!strings.Contains(h.Name, "/test/") {
			continue
		}
		data, err := readAll(file+" "+h.Name, r)
		if err != nil {
			return err
		}
		var row mathRow
		if err := json.Unmarshal(data, &row); err != nil {
			return fmt.Errorf("task: %s: %s: %w", file, h.Name, err)
		}
		use(row)
	}
}

// eachMathRow reads a file with one problem, a list, or one object on each line.
func eachMathRow(file string, use func(mathRow)) error {
	rows, err := rowsOf[struct {
		mathRow
		Level json.RawMessage `json:"level"` // "Level 4", or 4 in copies of MATH
		Also  string          `json:"subject"`
	}](file)
	for _, r := range rows {
		r.mathRow.Level = strings.Trim(string(r.Level), `"`)
		if r.Type == "" {
			r.Type = r.Also
		}
		use(r.mathRow)
	}
	return err
}

// boxed returns the content of the last box in a solution, which is MATH's answer.
func boxed(solution string) (string, bool) {
	at := max(strings.LastIndex(solution, `\boxed`), strings.LastIndex(solution, `\fbox`))
	if at < 0 {
		return "", false
	}
	rest := solution[at:]
	if inner, _, ok := notation.CutBox(rest); ok {
		return inner, true
	}
	short, ok := strings.CutPrefix(rest, `\boxed `) // \boxed 7$
	inner, _, _ := strings.Cut(short, "$")
	return inner, ok
}

var sacCommonsenseFile = Conversion{
	Entry: synod.Entry{Name: "sac-commonsense", Summary: "Commonsense170k to the SAC paper's 30 questions"},
	About: "LLM-Adapters (Hu et al. 2023; data ODC-By, the underlying sets under their own licences). The 30 " +
		"questions are found by the paper's qid. The texts of 20 have pinned digests; of ten only the qid is known " +
		"(32 bits).",
	Input: "commonsense_170k.json, or the train.json files of LLM-Adapters",
	File:  "sac-commonsense/sac-commonsense.jsonl",
	From: []Source{{URL: "https://raw.githubusercontent.com/AGI-Edgerunners/LLM-Adapters/" +
		"816657208af4db747803f87ba40a4c71383fed7a/ft-training_set/commonsense_170k.json"}},
	Make: makeSACCommonsense,
}

func makeSACCommonsense(in []string) ([]byte, string, error) {
	listed, err := listedItems("commonsense")
	if err != nil {
		return nil, "", err
	}
	files, err := inputs(in, "*.json")
	if err != nil {
		return nil, "", err
	}
	found, err := findInstructions(listed, files)
	if err != nil {
		return nil, "", err
	}
	var rows []sacCommonsenseRow
	var missing, unsure []string
	for _, it := range listed {
		r, ok := found[it.qid]
		switch {
		case ok:
			row, err := sacQuestion(it, r)
			if err != nil {
				return nil, "", err
			}
			rows = append(rows, row)
		case it.sum == "":
			unsure = append(unsure, it.qid)
		default:
			missing = append(missing, it.qid)
		}
	}
	if len(missing) > 0 {
		return nil, "", fmt.Errorf("task: %d of the 30 questions are not in %s: %s", len(missing),
			strings.Join(files, ", "), strings.Join(missing, ", "))
	}
	note := ""
	if len(unsure) > 0 {
		note = fmt.Sprintf("%d of the 30 questions are left out: no text with this qid and the paper's answer was "+
			"found (%s)", len(unsure), strings.Join(unsure, ", "))
	}
	made, err := writeLines(rows)
	return made, note, err
}

// findInstructions returns the rows of the listed items by qid.
func findInstructions(listed []sacItem, files []string) (map[string]adapterRow, error) {
	found := map[string]adapterRow{}
	for _, f := range files {
		rows, err := rowsOf[adapterRow](f)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			id := qid(r.Instruction)
			if slices.ContainsFunc(listed, func(it sacItem) bool {
				return it.qid == id && it.answer == r.Answer && it.is(r.Instruction)
			}) {
				found[id] = r
			}
		}
	}
	return found, nil
}

// sacQuestion returns the row of a question whose text was found.
func sacQuestion(it sacItem, r adapterRow) (sacCommonsenseRow, error) {
	q, err := readInstruction(r.Instruction)
	if err != nil {
		return sacCommonsenseRow{}, fmt.Errorf("task: %s: %w", it.qid, err)
	}
	format, source, _ := strings.Cut(it.name, " ")
	from := "LLM-Adapters"
	return sacCommonsenseRow{QID: it.qid, Format: format, Source: source, Instruction: &r.Instruction,
		Answer: it.answer, Choices: q.Options, Verified: true, RecoveredFrom: &from}, nil
}

var sacRepository = Conversion{
	Entry: synod.Entry{Name: "sac-repository", Summary: "question files of the SAC authors' repository to questions " +
		"of your own"},
	About: "daniel-eai/Robust-Multi-Agent-LLMs-under-Byzantine-Faults. It contains no data: its scripts in tools/ " +
		"make the files from public sets.",
	Input: "a file that tools/make_commonsense.py or tools/make_math500_full.py wrote",
	File:  "sac-repository.jsonl",
	Make:  makeSACRepository,
}

// makeSACRepository writes questions in the layout of a user's own file.
func makeSACRepository(in []string) ([]byte, string, error) {
	type own struct {
		ID       string         `json:"id"`
		Question string         `json:"question"`
		Answer   string         `json:"answer"`
		Choices  []synod.Option `json:"choices,omitempty"`
	}
	var out []own
	files, err := inputs(in, "*.json")
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		if filepath.Base(f) == "manifest.json" {
			continue
		}
		rows, err := rowsOf[struct {
			ID       string `json:"question_id"`
			Question string `json:"question"`
			Answer   string `json:"correct_answer"`
			Type     string `json:"dataset_type"`
		}](f)
		if err != nil {
			return nil, "", err
		}
		for i, r := range rows {
			if r.ID == "" || r.Question == "" || r.Answer == "" {
				return nil, "", fmt.Errorf("task: %s: row %d needs question_id, question and correct_answer", f, i)
			}
			o := own{ID: r.ID, Question: r.Question, Answer: r.Answer}
			if r.Type == "commonsense170k_mix" {
				q, err := readInstruction(r.Question)
				if err != nil {
					return nil, "", fmt.Errorf("task: %s: row %d: %w", f, i, err)
				}
				o.Question, o.Choices = q.Text, q.Options
			}
			out = append(out, o)
		}
	}
	made, err := writeLines(out)
	return made, "", err
}
