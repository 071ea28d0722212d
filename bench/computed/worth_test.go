package computed

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	for _, labels := range []int{60, 200} {
		for _, set := range []string{"gsm8k", "math-l5", "crux", "mmlu-pro"} {
			f := worthOf(t, map[string]any{"set": set, "labels": labels, "splits": 40})
			fmt.Println(set, labels, f)
		}
	}
}

func worthOf(t *testing.T, params map[string]any) string {
	params["name"], params["folder"] = "worth", votesFolder
	_, of, err := NewWork().Figures(params, Trials{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := of()
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, n := range []string{"right", "single_right", "gain", "price", "alone", "predicted_more", "usd", "single_usd", "undecided"} {
		out += fmt.Sprintf(" %s %.4f", n, f.Rates[n].Value)
	}
	return out
}
