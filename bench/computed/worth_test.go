package computed

import (
	"math"
	"testing"

	"synod.dev/synod/core/stats"
	"synod.dev/synod/internal/nightly"
)

// On questions that did not fit them probabilities are off by at most 0.05 with 60 labels and 0.03 with 200, and
// separate right answers from wrong ones better than agreement does. The control, the product of the members' odds, is
// off by far more.
func TestProbabilitiesAreCalibrated(t *testing.T) {
	for _, set := range []string{"math-l5", "crux", "mmlu-pro"} {
		for labels, most := range map[int]float64{60: 0.05, 200: 0.03} {
			f := recorded(t, "worth-odds", map[string]any{"set": set, "labels": labels, "splits": nightly.Size(12, 40)})
			if f.Rates["ece"].Value > most || f.Rates["odds_ece"].Value < 0.05 {
				t.Errorf("%s, %d labels: off by %.3f, the product of odds by %.3f", set, labels, f.Rates["ece"].Value,
					f.Rates["odds_ece"].Value)
			}
			if area, plain := f.Rates["auc"].Value, f.Rates["agreement_auc"].Value; area < plain+0.015 {
				t.Errorf("%s, %d labels: area %.3f, of plain agreement %.3f", set, labels, area, plain)
			}
		}
	}
}

// If the most accurate member begins to lie, probabilities that allow for one liar stay true: of answers with 0.95 or
// more at least 90 % are right, here on the set where there are many. The control does not allow for it: of the
// answers of another set that it calls as good as certain most are wrong.
func TestProbabilitiesWithALiar(t *testing.T) {
	f := recorded(t, "worth-odds", map[string]any{"set": "gsm8k", "liar": true, "f": 1, "splits": 12})
	if f.Rates["high"].Value < 0.3 || f.Rates["high_right"].Value < 0.9 {
		t.Errorf("%.2f of the answers have 0.95 or more, and %.3f of them are right", f.Rates["high"].Value,
			f.Rates["high_right"].Value)
	}
	f = recorded(t, "worth-odds", map[string]any{"set": "math-l5", "liar": true, "splits": 12})
	if f.Rates["high_right"].Value > 0.5 {
		t.Errorf("the control: %.3f of the answers with 0.95 or more are right", f.Rates["high_right"].Value)
	}
}

// What is recommended for casts is hardly worse than the best single model and cheaper in the mean, and the nested
// figures are off by less than two points in the mean.
func TestRecommendationsHold(t *testing.T) {
	gain, price, more := 0.0, 0.0, 0.0
	sets := []string{"gsm8k", "crux"}
	for _, set := range sets {
		f := recorded(t, "worth", map[string]any{"set": set, "labels": 100, "splits": nightly.Size(6, 40), "most": 400})
		gain += f.Rates["gain"].Value / float64(len(sets))
		price += f.Rates["price"].Value / float64(len(sets))
		more += f.Rates["predicted_more"].Value / float64(len(sets))
	}
	if gain < -0.015 || price > 1 || more > 0.02 || more < -0.02 {
		t.Errorf("gain %+.3f, price %.2f, predicted %+.3f more than came out", gain, price, more)
	}
}

// Within a budget tiers of many models are right more often than the best single one that it pays for.
func TestBudgets(t *testing.T) {
	f := recorded(t, "worth", map[string]any{"set": "crux", "labels": 200, "splits": nightly.Size(1, 5), "members": 0,
		"budget": 3, "most": 400})
	if f.Rates["gain"].Value < 0.05 || f.Rates["usd"].Value > 3.2 {
		t.Errorf("gain %+.3f at %.2f USD", f.Rates["gain"].Value, f.Rates["usd"].Value)
	}
}

// Near-equal models of different makers are right more often together than the best of them; where one leads, they are
// not. A liar at the place of the best member takes the gain away.
func TestCastsThatPay(t *testing.T) {
	casts := func(given map[string]any) map[string]float64 {
		given["set"], given["splits"] = "math-l5", nightly.Size(10, 40)
		got := map[string]float64{}
		for name, r := range recorded(t, "worth-casts", given).Rates {
			if r != nil {
				got[name] = r.Value
			}
		}
		return got
	}
	near := casts(map[string]any{"high": 0.1})
	far := casts(map[string]any{"low": 0.2})
	lied := casts(map[string]any{"high": 0.1, "liar": true})
	if near["probable_gain"] < 2 || far["plurality_gain"] > 0 || lied["plurality"] > near["plurality"]-0.05 {
		t.Errorf("near-equals %v, one that leads %v, near-equals with a liar %v", near, far, lied)
	}
	if near["effective"] < 1 || near["effective"] > 5 || near["spread"] > 0.1 || far["spread"] < 0.2 {
		t.Errorf("near-equals %v, one that leads %v", near, far)
	}
}

// The surest part of the forecasts takes a part of those that are equally sure.
func TestSurest(t *testing.T) {
	list := []stats.Forecast{{Confidence: 0.5, Right: true}, {Confidence: 0.9, Right: true}, {Confidence: 0.5},
		{Confidence: 0.1}}
	for share, want := range map[float64]float64{0.25: 1, 0.5: 0.75, 0.75: 2. / 3, 1: 0.5} {
		if got := surest(list, share); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g: %g, want %g", share, got, want)
		}
	}
}
