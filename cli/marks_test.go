package cli

import (
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// marked is the stub's marks of what it is shown: 18 by every criterion for the
// number in the model's name, 4 for others; spoilt as the name begins.
func marked(c llmtest.Call, mine string) string {
	how, _, _ := strings.Cut(c.Model, "-")
	if how == "prose" {
		return "I would give it 18 of 20."
	}
	if _, all, is := strings.Cut(c.User, "\nProposed answers:"); is {
		reply := `{"reasoning": ""`
		for i := 1; strings.Contains(all, fmt.Sprintf("answer_%d:", i)); i++ {
			_, line, _ := strings.Cut(all, fmt.Sprintf("answer_%d:", i))
			line, _, _ = strings.Cut(line, "\n")
			reply += fmt.Sprintf(`, "answer_%d": {%s}`, i, marksOf(line, mine, how))
		}
		return reply + "}"
	}
	return `{"reasoning": "", ` + marksOf(c.User[strings.LastIndex(c.User, "roposed answer:"):], mine, how) + "}"
}

func marksOf(shown, mine, how string) string {
	mark := "4"
	if strings.Contains(shown, mine) {
		mark = "18"
	}
	var pairs []string
	for _, name := range synod.Criteria() {
		pairs = append(pairs, fmt.Sprintf("%q: %s", name, mark))
	}
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
	}
	return strings.Join(pairs, ", ")
}
