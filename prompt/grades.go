package prompt

import (
	"encoding/json"
	"strconv"
	"strings"

	"synod.dev/synod"
)

// GradesOf are the marks that a reply to a Grading prompt gives. Prose is read
// strictly and whole (DL-1): a JSON object with one number in [0, MaxGrade] under
// each of synod.Criteria, perhaps "reasoning", and nothing else. What misses a
// criterion, has one twice, one more, or one out of its range gives no marks.
func GradesOf(r *synod.Reply) (synod.Grades, bool) {
	if r.Status != synod.OK {
		return synod.Grades{}, false
	}
	if r.Typed {
		if r.Grades == nil || !r.Grades.Valid() {
			return synod.Grades{}, false
		}
		return *r.Grades, true
	}
	return ReadGrades(r.Text)
}

// ReadGrades reads marks as GradesOf does.
func ReadGrades(text string) (g synod.Grades, ok bool) {
	body, wants := jsonObject(spoken(text))
	if !wants {
		return g, false
	}
	want := 0
	if _, has := member(body, "reasoning"); has {
		want = 1
	}
	for i, name := range synod.Criteria() {
		v, has := member(body, name)
		if !has || len(v) == 0 || v[0] == '"' {
			return synod.Grades{}, false
		}
		x, err := strconv.ParseFloat(string(v), 64)
		if err != nil {
			return synod.Grades{}, false
		}
		g[i] = x + 0 // -0 becomes 0
		want++
	}
	if !g.Valid() || count(body) != want {
		return synod.Grades{}, false
	}
	return g, true
}

// count is how many keys a well-formed object has.
func count(body string) (n int) {
	var keys map[string]json.RawMessage
	if json.NewDecoder(strings.NewReader(body)).Decode(&keys) != nil {
		return -1
	}
	return len(keys)
}

func gradeFields() (all []field) {
	for _, name := range synod.Criteria() {
		all = append(all, field{name, map[string]any{"type": "number"}})
	}
	return all
}
