package bench

import (
	"fmt"

	"synod.dev/synod/council/seating"
)

// leastForChoices is how many graded questions a recommendation needs.
const leastForChoices = 30

// recommendation is what a council is recommended for, and what that is called.
type recommendation struct {
	name string
	aim  seating.Aim
}

// aims are what a calibration recommends.
var aims = []recommendation{
	{"cheapest", seating.Aim{Cheapest: true}},
	{"most right", seating.Aim{}},
	{"withstands one", seating.Aim{F: 1}},
}

func unknownAim(aim string) error {
	return fmt.Errorf("--choose is %q; it must be cheapest, \"most right\" or \"withstands one\"", aim)
}

// fewQuestions says what a recommendation needs.
func fewQuestions() string {
	return fmt.Sprintf("ask at least %d questions with known answers to two models or more", leastForChoices)
}
