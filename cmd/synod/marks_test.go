package main

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/llmtest"
)

// marked is the stub's marks: 18 by every criterion for the number in the model's
// name, 4 for others; spoilt as the name begins.
func marked(c llmtest.Call, mine string) string {
	mark := "4"
	if strings.Contains(c.User[strings.LastIndex(c.User, "roposed answer:"):], mine) {
		mark = "18"
	}
	var pairs []string
	for _, name := range synod.Criteria() {
		pairs = append(pairs, fmt.Sprintf("%q: %s", name, mark))
	}
	how, _, _ := strings.Cut(c.Model, "-")
	switch how {
	case "above":
		pairs[1] = `"factual_fabrication": 20.5`
	case "below":
		pairs[0] = `"factual_contradiction": -1`
	case "missing":
		pairs = pairs[:4]
	case "extra":
		pairs = append(pairs, `"style": 7`)
	case "twice":
		pairs = append(pairs, pairs[0])
	case "nan":
		pairs[2] = `"instruction_inconsistency": NaN`
	case "prose":
		return "I would give it 18 of 20."
	}
	return `{"reasoning": "", ` + strings.Join(pairs, ", ") + "}"
}
