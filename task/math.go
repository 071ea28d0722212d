package task

import (
	"synod.dev/synod"
	"synod.dev/synod/prompt"
)

func readMath(s string) (reading, bool) {
	a, ok := prompt.Canonical(&synod.Question{Form: synod.Math}, s)
	return reading{shown: string(a), answer: a}, ok
}

func strictMath(q *synod.Question, reply string) (reading, bool) {
	a, _, ok := prompt.ReadAnswer(q, reply)
	return reading{shown: string(a), answer: a}, ok
}

func looseMath(q *synod.Question, reply string) (reading, bool) {
	a, _, ok := prompt.ReadAnswerPaper(q, reply)
	return reading{shown: string(a), answer: a}, ok
}

func sameMath(want, got reading) (bool, string) {
	return want.answer == got.answer, "spelling"
}
