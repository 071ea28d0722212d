package computed

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
)

// votes is one set of recorded votes.
type votes struct {
	set       string
	models    []string // ascending
	questions []voted
	choice    bool
}

// voted is the answers to one question, by model.
type voted struct {
	id      string
	gold    synod.Answer
	answers []synod.Answer
	asked   []bool // whether the recording has the model
}

// voteRow is a line of the file. The vote of a model whose answer could not be read is null.
type voteRow struct {
	ID    string             `json:"id"`
	Gold  string             `json:"gold"`
	Votes map[string]*string `json:"votes"`
}

// errNoVotes is the error for a computation on recorded votes without a folder that has them.
var errNoVotes = errors.New("it needs recorded votes; give their folder with --data FOLDER")

// realVotes returns a set of recorded votes.
func (w *Work) realVotes(folder, set string) (v *votes, err error) {
	if folder == "" {
		return nil, errNoVotes
	}
	return w.readVotes(folder, set)
}

// votesOf returns a set of recorded votes in a folder, or simulated ones if there is no folder, and what it returned.
func (w *Work) votesOf(folder, set string, seed uint64) (v *votes, how string, err error) {
	if folder != "" {
		v, err = w.readVotes(folder, set)
		return v, "recorded votes of " + set, err
	}
	drawn, err := drawTraces(seed)
	if err != nil {
		return nil, "", err
	}
	v = &votes{set: set, models: drawn.models}
	for _, q := range drawn.questions {
		v.questions = append(v.questions, voted{q.id, q.gold, q.answers, slices.Repeat([]bool{true}, len(v.models))})
	}
	return v, "answers of simulated members, not the votes of " + set, nil
}

// readVotes returns a set, which is read once.
func (w *Work) readVotes(folder, set string) (v *votes, err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	key := filepath.Join(folder, set)
	if w.votes[key] == nil {
		if v, err = readVotes(folder, set); err != nil {
			return nil, err
		}
		if w.votes == nil {
			w.votes = map[string]*votes{}
		}
		w.votes[key] = v
	}
	return w.votes[key], nil
}

// openVotes opens SET.jsonl.gz in a folder or in its folder votes, or votes/SET.jsonl, as votes that were pulled are.
func openVotes(folder, set string) (io.ReadCloser, string, error) {
	for _, name := range []string{set + ".jsonl.gz", "votes/" + set + ".jsonl.gz", "votes/" + set + ".jsonl"} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		file, err := durable.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		return file, path, err
	}
	return nil, "", fmt.Errorf("%s has no %s.jsonl.gz; fetch the votes with synod data pull votes: %w", folder, set,
		os.ErrNotExist)
}

// readVotes reads a set of recorded votes.
func readVotes(folder, set string) (*votes, error) {
	file, path, err := openVotes(folder, set)
	if err != nil {
		return nil, fmt.Errorf("recorded votes: %w", err)
	}
	defer file.Close()
	text := io.Reader(file)
	if filepath.Ext(path) == ".gz" {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("recorded votes: %s: %w", path, err)
		}
	}
	v := &votes{set: set}
	var rows []voteRow
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r voteRow
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("recorded votes: %s: line %d: %w", path, len(rows)+1, err)
		}
		rows = append(rows, r)
		for model := range r.Votes {
			v.models = append(v.models, model)
		}
		if len(rows)%256 == 0 {
			v.models = distinct(v.models)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("recorded votes: %s: %w", path, err)
	}
	v.models = distinct(v.models)
	for _, r := range rows {
		v.add(r)
	}
	return v, nil
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func (v *votes) add(r voteRow) {
	one := voted{r.ID, synod.Answer(r.Gold), make([]synod.Answer, len(v.models)), make([]bool, len(v.models))}
	v.choice = v.choice || len(r.Gold) == 1 && r.Gold >= "A" && r.Gold <= "Z"
	for i, model := range v.models {
		answer, ok := r.Votes[model]
		one.asked[i] = ok
		if answer != nil {
			one.answers[i] = synod.Answer(*answer)
		}
	}
	v.questions = append(v.questions, one)
}

// makers are the beginnings of models' names, in small letters, by who made them.
var makers = map[string][]string{
	"meta": {"meta-llama", "llama"}, "mistral": {"mistral", "mixtral", "mathstral"}, "microsoft": {"phi"},
	"alibaba": {"qwen"}, "01": {"yi"}, "anthropic": {"claude"}, "cohere": {"command", "c4ai"},
	"google": {"gemini", "gemma"}, "openai": {"gpt", "chatgpt", "o1"}, "deepseek": {"deepseek"}, "reka": {"reka"},
	"ai21": {"jamba"}, "nexusflow": {"athene"},
}

// makerOf returns who made a model; its name, if that is not known.
func makerOf(model string) string {
	small := strings.ToLower(model)
	for maker, names := range makers {
		if slices.ContainsFunc(names, func(begin string) bool { return strings.HasPrefix(small, begin) }) {
			return maker
		}
	}
	return model
}

// drawCast draws n models of different makers: the makers first, then a model of each, all with equal probability.
func (v *votes) drawCast(chance *rand.Rand, n int) (models []int, err error) {
	by := map[string][]int{}
	var names []string
	for i, model := range v.models {
		maker := makerOf(model)
		if by[maker] == nil {
			names = append(names, maker)
		}
		by[maker] = append(by[maker], i)
	}
	if len(names) < n {
		return nil, fmt.Errorf("recorded votes: %s has models of %d makers, and a cast of %d different ones is wanted",
			v.set, len(names), n)
	}
	for _, k := range chance.Perm(len(names))[:n] {
		list := by[names[k]]
		models = append(models, list[chance.IntN(len(list))])
	}
	return models, nil
}

// of returns the questions for which all of the models are recorded.
func (v *votes) of(models []int) (questions []int) {
	for q := range v.questions {
		if !slices.ContainsFunc(models, func(m int) bool { return !v.questions[q].asked[m] }) {
			questions = append(questions, q)
		}
	}
	return questions
}
