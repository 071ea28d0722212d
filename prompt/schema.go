package prompt

import (
	"encoding/json"
	"fmt"

	"synod.dev/synod"
)

// The longest strings, in characters, of a reply. Engines that generate by a grammar enforce them,
// which keeps small models from writing without end.
const (
	maxReasoning = 600
	maxAnswer    = 120
)

// schemaFor returns the JSON schema of the reply to p: first the reasoning, so that a model thinks
// before it commits, then the fields that are read. It returns nil if free text is wanted.
func schemaFor(p *synod.Prompt) json.RawMessage {
	switch p.Purpose {
	case synod.Answering, synod.Refining:
		if p.Confide == synod.ConfideStated {
			return object(reasoning, field{"answer", answerSchema(p.Question)}, confidenceField)
		}
		switch p.Question.Form {
		case synod.Choice:
			return object(reasoning, field{"answer", answerSchema(p.Question)})
		case synod.Bool:
			return boolSchema
		case synod.Stance:
			return stanceSchema
		default:
			return textSchema
		}
	case synod.Scoring:
		return scoreSchema
	case synod.Grading:
		return gradeSchema
	case synod.GradeAll:
		return allGradesSchema(len(p.Peers))
	case synod.Proposing:
		return proposalSchema(p)
	case synod.Voting:
		return voteSchema(p)
	default:
		return nil
	}
}

var reasoning = field{"reasoning", map[string]any{"type": "string", "maxLength": maxReasoning}}

// confidenceField has no bounds, because some servers reject them; the reader checks the range.
var confidenceField = field{"confidence", map[string]any{"type": "number"}}

// Schemas that are the same for every question are made once. They must not be changed.
var (
	scoreSchema  = object(reasoning, field{"score", map[string]any{"type": "number"}})
	gradeSchema  = object(append([]field{reasoning}, gradeFields()...)...)
	boolSchema   = object(reasoning, field{"answer", answerSchema(&synod.Question{Form: synod.Bool})})
	textSchema   = object(reasoning, field{"answer", answerSchema(&synod.Question{Form: synod.Text})})
	stanceSchema = object(reasoning, field{"answer", answerSchema(&synod.Question{Form: synod.Stance})})
)

func answerSchema(q *synod.Question) map[string]any {
	switch q.Form {
	case synod.Choice:
		labels := make([]string, len(q.Options))
		for i, o := range q.Options {
			labels[i] = o.Label
		}
		return map[string]any{"type": "string", "enum": labels}
	case synod.Bool:
		return map[string]any{"type": "string", "enum": []string{"true", "false"}}
	case synod.Stance: // a whole reply
		return map[string]any{"type": "string", "maxLength": maxReasoning}
	default:
		return map[string]any{"type": "string", "maxLength": maxAnswer}
	}
}

type field struct {
	name  string
	shape any // its schema
}

// object returns the schema of an object with exactly these fields. It keeps their order, which
// encoding/json would not: models fill in a schema from first to last.
func object(fields ...field) json.RawMessage {
	b := []byte(`{"type":"object","properties":{`)
	required := make([]string, len(fields))
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(f.name)
		shape, _ := json.Marshal(f.shape)
		b = append(append(append(b, name...), ':'), shape...)
		required[i] = f.name
	}
	names, _ := json.Marshal(required)
	b = append(append(b, `},"required":`...), names...)
	return append(b, `,"additionalProperties":false}`...)
}

// gradeFields returns one field for each criterion. The schema allows whole grades only; the reader
// accepts fractions too.
func gradeFields() (all []field) {
	for _, name := range synod.Criteria() {
		all = append(all, field{name, map[string]any{"type": "integer", "enum": wholeGrades}})
	}
	return all
}

// wholeGrades lists every whole grade, because some servers reject bounds.
var wholeGrades = func() (all []int) {
	for i := range synod.MaxGrade + 1 {
		all = append(all, i)
	}
	return all
}()

func allGradesSchema(answers int) json.RawMessage {
	fields := []field{reasoning}
	for i := range answers {
		fields = append(fields, field{gradesKey(i), object(gradeFields()...)})
	}
	return object(fields...)
}

// proposalSchema is the schema of a reply to Proposing. Only a hostile player may abstain.
func proposalSchema(p *synod.Prompt) json.RawMessage {
	value := map[string]any{"type": "integer", "minimum": p.Table.Low, "maximum": p.Table.High}
	if p.Hostile && p.Table.High-p.Table.Low <= 100 {
		values := []any{}
		for v := p.Table.Low; v <= p.Table.High; v++ {
			values = append(values, v)
		}
		value = map[string]any{"enum": append(values, synod.Abstain)}
	}
	return object(
		field{"internal_strategy", map[string]any{"type": "string", "maxLength": synod.MaxNotes / 2}},
		field{"value", value},
		field{"public_reasoning", map[string]any{"type": "string", "maxLength": synod.MaxReason / 2}},
	)
}

// voteSchema is the schema of a reply to Voting. Only a hostile player may abstain.
func voteSchema(p *synod.Prompt) json.RawMessage {
	votes := []synod.Vote{synod.Stop, synod.Continue}
	if p.Hostile {
		votes = append(votes, synod.Abstain)
	}
	return object(field{"decision", map[string]any{"type": "string", "enum": votes}})
}

// gradesKey names the i-th answer in a reply that grades all answers at once.
func gradesKey(i int) string { return fmt.Sprintf("answer_%d", i+1) }
