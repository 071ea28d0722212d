package computed

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	for _, labels := range []int{60, 200} {
		sum, n := 0.0, 0.0
		for _, set := range []string{"gsm8k", "math-l5", "crux", "mmlu-pro"} {
			for _, budget := range []float64{0.5, 1, 3, 7, 20} {
				p := map[string]any{"members": 0, "budget": budget, "splits": 3}
				p["set"], p["labels"], p["name"], p["folder"] = set, labels, "worth", votesFolder
				_, of, err := NewWork().Figures(p, Trials{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				f, _ := of()
				out := ""
				for _, n := range []string{"right", "single_right", "gain", "price", "usd", "single_usd", "predicted_more"} {
					if f.Rates[n] != nil {
						out += fmt.Sprintf(" %s %.4f", n, f.Rates[n].Value)
					}
				}
				sum += f.Rates["gain"].Value
				n++
				fmt.Println(set, labels, budget, out)
			}
		}
		fmt.Println("mean", sum/n)
	}
}
