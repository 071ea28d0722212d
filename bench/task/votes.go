package task

import (
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/fetch"
)

// VotesPrefix begins the names of the conversions that make recorded votes, those of docs/worth-it.md.
const VotesPrefix = "votes/"

// voteQuestions are the questions of the sets: half of each. The digest is the beginning of the SHA-256 of its id, its
// right answer, and the models that gave it (see voteRow.digest).
//
//go:embed votequestions.csv
var voteQuestions string

// voteModels are the models of the sets with the names of their files.
//
//go:embed votemodels.csv
var voteModels string

// listed is a set as the two lists have it.
type listed struct {
	ids, digests  []string // by question, in the order of the file that is made
	models, files []string
}

// listedVotes reads the lists once.
var listedVotes = sync.OnceValue(func() map[string]*listed {
	sets := map[string]*listed{}
	each := func(text string, add func(set *listed, row []string)) {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			panic(err) // the list is part of the program
		}
		for _, row := range rows[1:] {
			if sets[row[0]] == nil {
				sets[row[0]] = &listed{}
			}
			add(sets[row[0]], row)
		}
	}
	each(voteQuestions, func(l *listed, row []string) {
		l.ids, l.digests = append(l.ids, row[1]), append(l.digests, row[2])
	})
	each(voteModels, func(l *listed, row []string) {
		l.models, l.files = append(l.models, row[1]), append(l.files, row[2])
	})
	return sets
})

// voteSource is where the files of a set are, and how its answers are read.
type voteSource struct {
	set, folder, from string
	canonical         func(answer, gold string) string // of an answer to a question with this right answer
}

const (
	zeroEval     = "https://raw.githubusercontent.com/yuchenlin/ZeroEval/570c6269a2e4930ee06a17e713fece1ba52cf1dd/"
	mmluProFiles = "https://raw.githubusercontent.com/TIGER-AI-Lab/MMLU-Pro/f418b116db00b065c2aea046518d8fcf74d39872/"
	aboutVotes   = " (Apache-2.0): greedy replies of models of 2024 to one prompt. Which questions are taken, half " +
		"of the set, is listed in the program, with digests of who was right."
)

var (
	gsm8kVotes = votesOf(voteSource{"gsm8k", zeroEval + "result_dirs/gsm/",
		"result_dirs/gsm of yuchenlin/ZeroEval at 570c626", voteNumber})
	mathVotes = votesOf(voteSource{"math-l5", zeroEval + "result_dirs/math-l5/",
		"result_dirs/math-l5 of yuchenlin/ZeroEval at 570c626", voteNumber})
	cruxVotes = votesOf(voteSource{"crux", zeroEval + "result_dirs/crux/",
		"result_dirs/crux of yuchenlin/ZeroEval at 570c626", voteLiteral})
	mmluVotes = votesOf(voteSource{"mmlu-pro", mmluProFiles + "eval_results/",
		"eval_results of TIGER-AI-Lab/MMLU-Pro at f418b11", nil})
)

func votesOf(v voteSource) Conversion {
	c := Conversion{Entry: synod.Entry{Name: VotesPrefix + v.set, Summary: "recorded votes on " + v.set +
		", for synod bench run worth-it"}, About: v.from + aboutVotes, Input: "the folder " + v.from,
		File: VotesPrefix + v.set + ".jsonl", Make: v.make}
	for _, file := range listedVotes()[v.set].files {
		c.From = append(c.From, Source{URL: v.folder + url.PathEscape(file)})
	}
	return c
}

// voteRow is a line of the file that is made.
type voteRow struct {
	ID    string             `json:"id"`
	Gold  string             `json:"gold"`
	Votes map[string]*string `json:"votes"` // by model; nil: no answer was found in its reply
}

// digest says who was right.
func (r *voteRow) digest() string {
	var right []string
	for model, vote := range r.Votes {
		if vote != nil && *vote == r.Gold {
			right = append(right, model)
		}
	}
	slices.Sort(right)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{r.ID, r.Gold}, right...), "\n")))
	return hex.EncodeToString(sum[:2])
}

// mostDifferent is the largest share of questions whose digests may differ. Answers are read from replies once more,
// and a few replies can be read in several ways.
const mostDifferent = 0.02

// make reads the files of all models, in the order of the list or by their names. It refuses files of which more than a
// few questions differ from those that docs/worth-it.md was made from.
func (v voteSource) make(in []string) ([]byte, string, error) {
	l := listedVotes()[v.set]
	files, err := l.find(in)
	if err != nil {
		return nil, "", fmt.Errorf("task: %s: %w", v.set, err)
	}
	rows := make([]voteRow, len(l.ids))
	at := map[string]int{}
	for i, id := range l.ids {
		rows[i], at[id] = voteRow{ID: v.set + "-" + id, Votes: map[string]*string{}}, i
	}
	for k, file := range files {
		if err := v.read(file, l.models[k], rows, at); err != nil {
			return nil, "", err
		}
	}
	var differ []string
	for i := range rows {
		if rows[i].digest() != l.digests[i] {
			differ = append(differ, rows[i].ID)
		}
	}
	note := ""
	if len(differ) > 0 {
		note = fmt.Sprintf("%d of %d questions differ from those of docs/worth-it.md in who was right, %s first",
			len(differ), len(rows), differ[0])
	}
	if float64(len(differ)) > mostDifferent*float64(len(rows)) {
		return nil, "", fmt.Errorf("task: %s: %w: %s", v.set, fetch.ErrDigest, note)
	}
	made, err := writeLines(rows)
	return made, note, err
}

// find returns the files of the models. Those that were fetched come in the order of the list.
func (l *listed) find(in []string) ([]string, error) {
	if len(in) == len(l.files) && !slices.ContainsFunc(in, func(p string) bool { return filepath.Ext(p) != ".part" }) {
		return in, nil
	}
	all, err := inputs(in, "*")
	if err != nil {
		return nil, err
	}
	files := make([]string, len(l.files))
	for k, name := range l.files {
		i := slices.IndexFunc(all, func(p string) bool { return filepath.Base(p) == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no file %s", name)
		}
		files[k] = all[i]
	}
	return files, nil
}

// zeroReply is a reply in the files of ZeroEval. Answer is a text or a number.
type zeroReply struct {
	Session string   `json:"session_id"`
	Output  []string `json:"output"`
	Answer  any      `json:"answer"`
}

// lastNumber is the number of a question at the end of its name.
var lastNumber = regexp.MustCompile(`[0-9]+$`)

// read adds the votes of a model to the rows of the questions that are listed.
func (v voteSource) read(file, model string, rows []voteRow, at map[string]int) error {
	add := func(id, gold string, vote *string) error {
		i, ok := at[id]
		if !ok {
			return nil
		}
		if rows[i].Gold != "" && rows[i].Gold != gold {
			return fmt.Errorf("task: %s: the right answer to question %s is %.40q, and in another file %.40q", file, id,
				gold, rows[i].Gold)
		}
		rows[i].Gold, rows[i].Votes[model] = gold, vote
		return nil
	}
	if v.canonical == nil {
		replies, err := mmluReplies(file)
		for _, r := range replies {
			if r.Pred != nil && *r.Pred == "" {
				r.Pred = nil
			}
			if err := add(fmt.Sprint(r.ID), r.Answer, r.Pred); err != nil {
				return err
			}
		}
		return err
	}
	replies, err := rowsOf[zeroReply](file)
	for _, r := range replies {
		id := lastNumber.FindString(r.Session)
		if id == "" || len(r.Output) == 0 {
			return fmt.Errorf("task: %s: a reply needs a session_id that ends in a number, and an output", file)
		}
		gold := fmt.Sprint(r.Answer)
		gold = v.canonical(gold, gold)
		var vote *string
		if said, ok := saidAnswer(r.Output[0]); ok {
			if read := v.canonical(said, gold); read != "" {
				vote = &read
			}
		}
		if err := add(id, gold, vote); err != nil {
			return err
		}
	}
	return err
}
