package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod"
)

// Grades reads the five grades of a reply to a Grading prompt (DL-1). The text of a reply must be a JSON
// object with one number in [0, synod.MaxGrade] under each of synod.Criteria, optionally "reasoning", and
// nothing else; a missing, repeated, additional or out-of-range value is an error. The error quotes nothing
// of the reply.
func Grades(r *synod.Reply) (synod.Grades, error) {
	switch {
	case r.Status != synod.OK:
		return synod.Grades{}, fmt.Errorf("the call failed (%s)", r.Status)
	case !r.Typed:
		return GradesIn(r.Text)
	case r.Grades == nil:
		return synod.Grades{}, errors.New("there are no marks")
	}
	return *r.Grades, inRange(r.Grades)
}

// GradesIn reads grades from the text of a reply as Grades does.
func GradesIn(text string) (synod.Grades, error) {
	body, wants := jsonObject(spoken(text))
	if !wants || count(body) < 0 {
		return synod.Grades{}, errNoObject
	}
	return gradesIn(body, reasoned(body))
}

var (
	errNoObject = errors.New("it is no JSON object")
	errMore     = errors.New("it has more than the five marks")
)

// reasoned is how many keys of an object are its reasoning.
func reasoned(body string) int {
	if _, has := member(body, "reasoning"); has {
		return 1
	}
	return 0
}

// gradesIn reads the five marks of an object that has so many other keys.
func gradesIn(body string, others int) (g synod.Grades, err error) {
	for i, name := range synod.Criteria() {
		v, has := member(body, name)
		if !has || len(v) == 0 || v[0] == '"' {
			return synod.Grades{}, fmt.Errorf("%s is missing, no number, or stands twice", name)
		}
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return synod.Grades{}, fmt.Errorf("%s is no number", name)
		}
		g[i] = x + 0 // -0 becomes 0
	}
	if err := inRange(&g); err != nil {
		return synod.Grades{}, err
	}
	if count(body) != len(g)+others {
		return synod.Grades{}, errMore
	}
	return g, nil
}

// inRange names the first mark that is not in its range.
func inRange(g *synod.Grades) error {
	if g.Valid() {
		return nil
	}
	for i, x := range g {
		if !(x >= 0 && x <= synod.MaxGrade) { // NaN too
			return fmt.Errorf("%s is %v, outside 0 to %d", synod.Criteria()[i], x, synod.MaxGrade)
		}
	}
	return nil
}

// count is how many keys a well-formed object has.
func count(body string) (n int) {
	var keys map[string]json.RawMessage
	if json.NewDecoder(strings.NewReader(body)).Decode(&keys) != nil {
		return -1
	}
	return len(keys)
}

// AllGrades are the marks that a reply to a GradeAll prompt gives to so many answers,
// in their order. Prose is read as Grades reads it: a JSON object with an object
// of five marks under each of "answer_1" and so on, perhaps "reasoning", and nothing
// else, whole or not at all. The error says, for people and in our words only, why
// there are none.
func AllGrades(r *synod.Reply, answers int) ([]synod.Grades, error) {
	switch {
	case r.Status != synod.OK:
		return nil, fmt.Errorf("the call failed (%s)", r.Status)
	case !r.Typed:
		return readSheet(r.Text, answers)
	case len(r.Sheet) != answers:
		return nil, fmt.Errorf("there are marks of %d answers, and there are %d", len(r.Sheet), answers)
	}
	for i := range r.Sheet {
		if err := inRange(&r.Sheet[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", sheetKey(i), err)
		}
	}
	return r.Sheet, nil
}

func readSheet(text string, answers int) ([]synod.Grades, error) {
	body, wants := jsonObject(spoken(text))
	if !wants || count(body) < 0 {
		return nil, errNoObject
	}
	sheet := make([]synod.Grades, answers)
	for i := range sheet {
		v, has := member(body, sheetKey(i))
		if !has || len(v) == 0 || v[0] != '{' {
			return nil, fmt.Errorf("%s is missing, no object, or stands twice", sheetKey(i))
		}
		var err error
		if sheet[i], err = gradesIn(string(v), 0); err != nil {
			return nil, fmt.Errorf("%s: %w", sheetKey(i), err)
		}
	}
	if count(body) != answers+reasoned(body) {
		return nil, fmt.Errorf("it has more than the marks of %d answers", answers)
	}
	return sheet, nil
}

// sheetKey is what the answer at a place is called.
func sheetKey(i int) string { return fmt.Sprintf("answer_%d", i+1) }
