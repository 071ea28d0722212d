// Package grade is how evaluators grade answers by DecentLLMs' five criteria (DL-1):
// the grades, the prompts that ask for them, and the reader of the replies.
//
// DecentLLMs and the leader-based protocols use the same prompts, so that a
// comparison of them measures the protocols and not their wording.
package grade

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
)

// The purposes of prompts that ask for grades. Both carry a Detail.
const (
	One synod.Purpose = "grade"     // the Grades of Candidate
	All synod.Purpose = "grade-all" // the Grades of the answer of each of Peers
)

// Max is the best grade for one criterion. 0 is the worst, and half of Max is neutral.
const Max = 20

// Best is the sum of the best grades for all criteria.
const Best = float64(Max * len(Grades{}))

// Grades are an evaluator's grades of one answer, in the order of Criteria, each in
// [0, Max].
type Grades [5]float64

// Criteria returns the names of the criteria: an answer is graded by how free it is
// of each of these faults.
func Criteria() [len(Grades{})]string {
	return [...]string{"factual_contradiction", "factual_fabrication", "instruction_inconsistency",
		"context_inconsistency", "logical_inconsistency"}
}

// Valid reports whether every grade is in its range. NaN is not.
func (g *Grades) Valid() bool { return g.check() == nil }

func (g *Grades) check() error {
	for i, x := range g {
		if !(x >= 0 && x <= Max) { // true for NaN
			return fmt.Errorf("%s is %v, outside 0 to %d", Criteria()[i], x, Max)
		}
	}
	return nil
}

// Sum returns the sum of the grades.
func (g *Grades) Sum() (sum float64) {
	for _, x := range g {
		sum += x
	}
	return sum
}

// Uniform returns Grades that are all x.
func Uniform(x float64) (g Grades) {
	for i := range g {
		g[i] = x
	}
	return g
}

// Text returns the grades as a model writes them in reply to One.
func (g Grades) Text() string {
	fields := make([]string, len(g))
	for i, name := range Criteria() {
		fields[i] = fmt.Sprintf("%q: %s", name, strconv.FormatFloat(g[i], 'f', -1, 64))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// TextOfAll returns the grades as a model writes them in reply to All.
func TextOfAll(all []Grades) string {
	fields := make([]string, len(all))
	for i, g := range all {
		fields[i] = fmt.Sprintf("%q: %s", key(i), g.Text())
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// key is the name of the answer with index i of Peers.
func key(i int) string { return fmt.Sprintf("answer_%d", i+1) }

// Templates has the folder prompts with the template of One.
//
//go:embed prompts/*.tmpl
var Templates embed.FS

// Detail makes a prompt of purpose One or All answerable: it has the schema of the
// reply, the names that the template uses, and the reply of a simulated member.
type Detail struct {
	// Examples reports whether the prompt shows marks of a good, a moderate and a bad answer to another question
	// (few-shot examples; DecentLLMs, §IV and Fig. 5).
	Examples bool `json:"examples,omitempty"`
}

// Same reports whether both prompts show examples, or neither: their other fields say the rest.
func (d Detail) Same(other synod.Detail) bool { return other == d }

// String says that there are examples; "" if there are none.
func (d Detail) String() string {
	if d.Examples {
		return "with examples"
	}
	return ""
}

// Key returns the name of the answer with index i of Peers.
func (Detail) Key(i int) string { return key(i) }

// Schema returns the schema of the reply. It allows whole grades only; the reader
// accepts fractions too.
func (Detail) Schema(p *synod.Prompt) json.RawMessage {
	if p.Purpose == One {
		return schemaOfOne
	}
	fields := []prompt.Field{prompt.ReasoningField}
	for i := range p.Peers {
		fields = append(fields, prompt.Field{Name: key(i), Schema: prompt.Object(criteriaFields()...)})
	}
	return prompt.Object(fields...)
}

var schemaOfOne = prompt.Object(append([]prompt.Field{prompt.ReasoningField}, criteriaFields()...)...)

// criteriaFields enumerates the grades, because not every server accepts bounds.
func criteriaFields() (fields []prompt.Field) {
	for _, name := range Criteria() {
		fields = append(fields, prompt.Field{Name: name, Schema: wholeGrade})
	}
	return fields
}

var wholeGrade = func() map[string]any {
	var values []int
	for i := range Max + 1 {
		values = append(values, i)
	}
	return map[string]any{"type": "integer", "enum": values}
}()

// Reads implements synod.Readable.
func (Detail) Reads(p *synod.Prompt, r *synod.Reply) bool {
	if p.Purpose == One {
		_, err := Read(r)
		return err == nil
	}
	_, err := ReadAll(r, len(p.Peers))
	return err == nil
}

// Simulate draws a score for each criterion and writes whole grades. Of a list, the first answer gets the best ones
// with probability Primacy.
func (Detail) Simulate(p *synod.Prompt, m synod.Simulation) synod.Reply {
	first := p.Purpose == All && m.Primacy > 0 && len(p.Peers) > 0 && float64(m.Rand.Uint64()>>11)/(1<<53) < m.Primacy
	draw := func(a synod.Answer) (g Grades) {
		if first && a == p.Peers[0].Answer {
			return Uniform(Max)
		}
		rationale := rationaleOf(p, a)
		for i := range g {
			g[i] = math.Round(Max * m.Score(a, rationale))
		}
		return g
	}
	return Reply(p, draw)
}

// rationaleOf returns the reasoning that a prompt of purpose One or All shows beside an
// answer; the first one, if several members gave the answer.
func rationaleOf(p *synod.Prompt, a synod.Answer) string {
	if p.Purpose == One {
		return p.Rationale
	}
	for _, peer := range p.Peers {
		if peer.Answer == a {
			return peer.Rationale
		}
	}
	return ""
}

// Reply returns the reply to a prompt of purpose One or All by a member that grades
// answers with a function.
func Reply(p *synod.Prompt, grade func(synod.Answer) Grades) synod.Reply {
	if p.Purpose == One {
		return synod.Reply{Status: synod.OK, Text: grade(p.Candidate).Text()}
	}
	all := make([]Grades, len(p.Peers))
	for i, peer := range p.Peers {
		all[i] = grade(peer.Answer)
	}
	return synod.Reply{Status: synod.OK, Text: TextOfAll(all)}
}

var (
	errNoObject = errors.New("it is not a JSON object")
	errMore     = errors.New("it has more than the five grades")
)

// Read reads a reply to One (DL-1): a JSON object with one number in [0, Max] under
// each of Criteria, perhaps "reasoning", and nothing else. The error says why there
// are no grades, and contains no text of the reply.
func Read(r *synod.Reply) (Grades, error) {
	body, err := object(r)
	if err != nil {
		return Grades{}, err
	}
	all := read.Object(body)
	return gradesIn(all, reasonings(all))
}

// ReadAll reads a reply to All for n answers, in their order: a JSON object with an
// object of five grades under each of "answer_1" and so on, perhaps "reasoning", and
// nothing else. It returns all grades or none.
func ReadAll(r *synod.Reply, n int) ([]Grades, error) {
	body, err := object(r)
	if err != nil {
		return nil, err
	}
	all, members := make([]Grades, n), read.Object(body)
	for i := range all {
		v, ok := members.Member(key(i))
		if !ok || len(v) == 0 || v[0] != '{' {
			return nil, fmt.Errorf("%s is missing, not an object, or occurs twice", key(i))
		}
		if all[i], err = gradesIn(read.Object(string(v)), 0); err != nil {
			return nil, fmt.Errorf("%s: %w", key(i), err)
		}
	}
	if len(members) != n+reasonings(members) {
		return nil, fmt.Errorf("it has more than the grades of %d answers", n)
	}
	return all, nil
}

// object returns the JSON object of a reply.
func object(r *synod.Reply) (string, error) {
	if r.Status != synod.OK {
		return "", fmt.Errorf("the call failed (%s)", r.Status)
	}
	body, ok := read.JSONObject(r)
	if !ok || count(body) < 0 {
		return "", errNoObject
	}
	return body, nil
}

// count returns the number of keys of an object, or -1 if it is malformed.
func count(body string) int {
	var keys map[string]json.RawMessage
	if json.NewDecoder(strings.NewReader(body)).Decode(&keys) != nil {
		return -1
	}
	return len(keys)
}

// reasonings returns how many keys of an object are "reasoning": 0 or 1.
func reasonings(members read.Members) int {
	if _, ok := members.Member(prompt.ReasoningField.Name); ok {
		return 1
	}
	return 0
}

// gradesIn reads the five grades of an object that has the given number of other keys.
func gradesIn(members read.Members, others int) (g Grades, err error) {
	for i, name := range Criteria() {
		v, ok := members.Member(name)
		if !ok || len(v) == 0 || v[0] == '"' {
			return Grades{}, fmt.Errorf("%s is missing, not a number, or occurs twice", name)
		}
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return Grades{}, fmt.Errorf("%s is not a number", name)
		}
		g[i] = x + 0 // turns -0 into 0
	}
	if err := g.check(); err != nil {
		return Grades{}, err
	}
	if len(members) != len(g)+others {
		return Grades{}, errMore
	}
	return g, nil
}
