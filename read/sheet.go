package read

import (
	"fmt"

	"synod.dev/synod"
)

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
