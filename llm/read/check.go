package read

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/compiled"
	"synod.dev/synod/llm/structured"
)

// Failed returns the first check of a question that an answer in canonical form fails; nil: it fails none. Commands
// are not run here. A check that cannot be evaluated fails.
func Failed(q *synod.Question, a synod.Answer) *synod.Failure {
	for i := range q.Checks {
		c := &q.Checks[i]
		text, applies := Checked(q, c, a)
		if !applies || len(c.Command) > 0 {
			continue
		}
		if why := fails(q, c, text); why != "" {
			return Failure(c, why)
		}
	}
	return nil
}

// Failure says why an answer failed a check: in the operator's words, if it has some.
func Failure(c *synod.Check, why string) *synod.Failure {
	if c.Says != "" {
		why = c.Says
	}
	return &synod.Failure{Check: c.Name, Reason: clean.Line(why, synod.MaxReason)}
}

// Checked returns the text of an answer that a check is about: the answer, or the arguments of a call of the check's
// tool. applies is false for calls of other tools.
func Checked(q *synod.Question, c *synod.Check, a synod.Answer) (text string, applies bool) {
	if c.Tool == "" {
		return string(a), true
	}
	if q.Form != synod.Action {
		return "", false
	}
	v, err := structured.Parse([]byte(a))
	if err != nil || v.Member("name") == nil || v.Member("name").Text() != c.Tool {
		return "", false
	}
	if args := v.Member("arguments"); args != nil {
		return args.String(), true
	}
	return "{}", true
}

// CompileChecks reports why a check cannot be evaluated; nil if all can.
func CompileChecks(all []synod.Check) error {
	if err := synod.ValidateChecks(all); err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		var err error
		switch {
		case c.CEL != "":
			_, err = compiled.Condition(c.CEL)
		case c.Schema != nil:
			_, err = schemaOf(c)
		case c.Regex != "":
			_, err = compiled.Pattern(c.Regex)
		}
		if err != nil {
			return fmt.Errorf("check %s: %s", c.Name, strings.TrimPrefix(err.Error(), "structured: "))
		}
	}
	return nil
}

func schemaOf(c *synod.Check) (*structured.Schema, error) {
	text, err := json.Marshal(c.Schema)
	if err != nil {
		return nil, err
	}
	return compiled.Schema(text)
}

// conditionFault returns why a text fails a condition in CEL, from the fault of its value.
func conditionFault(cel, fault string) string {
	switch {
	case fault == "":
		return ""
	case strings.HasPrefix(fault, compiled.TooCostly):
		return "the condition takes too many steps for it, so it counts as not met: simplify the condition " + cel
	}
	return "it does not meet the condition " + cel
}

// fails returns why a text fails a check that is no command; "": it passes.
func fails(q *synod.Question, c *synod.Check, text string) string {
	if c.Regex != "" {
		if x, err := compiled.Pattern(c.Regex); err != nil || !x.MatchString(text) {
			return "it does not match the regular expression " + c.Regex
		}
		return ""
	}
	v, err := valueToCheck(q, text)
	if err != nil {
		return "it cannot be checked: " + err.Error()
	}
	if c.CEL != "" {
		x, err := compiled.Condition(c.CEL)
		if err != nil {
			return "it does not meet the condition " + c.CEL
		}
		return conditionFault(c.CEL, x.Fault(v))
	}
	s, err := schemaOf(c)
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		return "it is not valid: " + strings.TrimPrefix(err.Error(), "structured: ")
	}
	return ""
}

// valueToCheck returns an answer as a JSON value: a number of the form number, and a text of all other short forms.
func valueToCheck(q *synod.Question, text string) (*structured.Value, error) {
	switch q.Form {
	case synod.JSON, synod.Action, synod.Bool:
		return structured.Parse([]byte(text))
	case synod.Number, synod.Math:
		if n, ok := new(big.Rat).SetString(text); ok {
			if f, _ := n.Float64(); !math.IsInf(f, 0) {
				return structured.Parse(strconv.AppendFloat(nil, f, 'g', -1, 64))
			}
		}
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	return structured.Parse(quoted)
}
