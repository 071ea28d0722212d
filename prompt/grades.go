package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"synod.dev/synod"
)

// GradesOf are the marks that a reply to a Grading prompt gives. Prose is read
// strictly and whole (DL-1): a JSON object with one number in [0, MaxGrade] under
// each of synod.Criteria, perhaps "reasoning", and nothing else. What misses a
// criterion, has one twice, one more, or one out of its range gives no marks.
func GradesOf(r *synod.Reply) (synod.Grades, bool) {
	g, err := gradesOf(r)
	return g, err == nil
}

// NoGrades says, for people and in our words only, why GradesOf reads nothing; "" if
// it does.
func NoGrades(r *synod.Reply) string {
	if _, err := gradesOf(r); err != nil {
		return err.Error()
	}
	return ""
}

func gradesOf(r *synod.Reply) (synod.Grades, error) {
	switch {
	case r.Status != synod.OK:
		return synod.Grades{}, fmt.Errorf("the call failed (%s)", r.Status)
	case !r.Typed:
		return readGrades(r.Text)
	case r.Grades == nil:
		return synod.Grades{}, errors.New("there are no marks")
	}
	return *r.Grades, inRange(r.Grades)
}

// ReadGrades reads marks as GradesOf does.
func ReadGrades(text string) (synod.Grades, bool) {
	g, err := readGrades(text)
	return g, err == nil
}

func readGrades(text string) (synod.Grades, error) {
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
	if _, has := member(body, reasoning.name); has {
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

// gradeFields are whole marks, so that a grammar made of them yields no other; the
// reader takes fractions too.
func gradeFields() (all []field) {
	for _, name := range synod.Criteria() {
		all = append(all, field{name, map[string]any{"type": "integer", "enum": wholeMarks}})
	}
	return all
}

// wholeMarks are spelled out, because not every server takes bounds.
var wholeMarks = func() (all []int) {
	for i := range synod.MaxGrade + 1 {
		all = append(all, i)
	}
	return all
}()
