package reliability

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A member whose answers do not change is suspected at most once in FalseAlarms answers in the mean, and one that
// defects after a record is suspected within a few dozen.
func TestDrift(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 5))
	for _, p := range []float64{0.5, 0.7, 0.95} {
		alarms, late, runs, length := 0, 0, 400, 500
		for range runs {
			credits := make([]float64, length)
			for i := range credits {
				if chance.Float64() < p {
					credits[i] = 1
				}
			}
			for from := 0; from < len(credits); {
				since := drift(credits[from:])
				if since == 0 {
					break
				}
				from, alarms = from+since, alarms+1
			}
			credits = credits[:100]
			if drift(credits) > 0 {
				continue
			}
			if drift(append(credits, make([]float64, 30)...)) == 0 {
				late++
			}
		}
		t.Logf("right in %v: %d alarms in %d answers, %d of %d changes not seen in 30", p, alarms, runs*length, late,
			runs)
		if most := runs * length / FalseAlarms; alarms > most {
			t.Errorf("right in %v: %d false alarms, want at most %d", p, alarms, most)
		}
		if p > 0.6 && late > runs/20 {
			t.Errorf("right in %v: %d of %d changes are not seen within 30 answers", p, late, runs)
		}
	}
}

// A member that follows the plurality in 100 questions and then lies in 30 has no weight left, and is named.
func TestDefectorLosesItsWeight(t *testing.T) {
	chance := rand.New(rand.NewPCG(6, 6))
	var all []Observation
	for q := range 130 {
		for i := range 7 {
			a := "right"
			if i == 6 && q >= 100 {
				a = "lie"
			} else if i < 6 && chance.Float64() < 0.25 {
				a = fmt.Sprint(chance.IntN(3))
			}
			all = append(all, Observation{Question: fmt.Sprint(q), Kind: "text", Member: fmt.Sprint(i), Answer: a})
		}
		if q == 99 {
			if m := Estimate(all, "text", 1).Members[6]; m.Changed || m.LogOdds < 2 {
				t.Errorf("after 100 honest answers: %+v", m)
			}
		}
	}
	for _, m := range Estimate(all, "text", 1).Members {
		if m.Changed != (m.Name == "6") {
			t.Errorf("%+v", m)
		}
		if m.Name == "6" && m.LogOdds != MinWeight {
			t.Errorf("the defector has weight %v", m.LogOdds)
		}
	}
}
