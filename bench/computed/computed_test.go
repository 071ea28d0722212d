package computed

import (
	"slices"
	"testing"
)

// The ranking of the paper follows from its robust scores, and the winner is right, so
// the file has the printed figures.
func TestDecentTableIOnFile(t *testing.T) {
	s, err := readTableI()
	if err != nil {
		t.Fatal(err)
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	slices.SortFunc(order, func(a, b int) int { return int(10*s.robust[b]) - int(10*s.robust[a]) })
	if want := []int{7, 6, 1, 8, 2, 3, 0, 4, 5, byzantineWorker}; !slices.Equal(order, want) {
		t.Errorf("ranked %v, the paper says %v", order, want)
	}
	if len(s.honest) != 8 || !s.right[7] || s.right[8] || s.right[byzantineWorker] ||
		s.byzantine[byzantineWorker] != 100 {
		t.Errorf("%+v", s)
	}
}

// Fig. 8 and finding F6: with the geometric median a right answer of an honest worker wins
// against up to six colluders at every spread. With seven, the Byzantine worker wins more
// often the larger the spread is; scores leave the honest range earlier. The median of
// totals fails in neither way; the mean is captured at six.
func TestDecentFig8Shape(t *testing.T) {
	const most = 7
	spreads := []float64{3, 5, 8}
	for seed := uint64(1); seed <= 2; seed++ {
		s, err := readTableI()
		if err != nil {
			t.Fatal(err)
		}
		at := func(aggregate string, spread float64, f int) (right, taken, outside float64) {
			c := collusion{aggregate, spread, f}
			got, err := c.run(s, drawAll(s, spread, 100, seed))
			if err != nil {
				t.Fatal(err)
			}
			return got.Rates["decision_accuracy"].Value, got.Rates["capture"].Value, got.Rates["outside"].Value
		}
		var fallen []float64
		for _, spread := range spreads {
			for f := range most + 1 {
				right, taken, outside := at("geometric-median", spread, f)
				if f < most && (right < 0.98 || taken > 0) {
					t.Errorf("seed %d, spread %v, f = %d: right in %v, captured in %v", seed, spread, f, right, taken)
				}
				if f == 0 && outside > 0 || f >= 6 && outside < 1 {
					t.Errorf("seed %d, spread %v, f = %d: outside in %v", seed, spread, f, outside)
				}
				if f == most {
					fallen = append(fallen, taken)
				}
				if right, taken, outside := at("median-total", spread, f); right < 1 || taken+outside > 0 {
					t.Errorf("seed %d, median-total, spread %v, f = %d: %v %v %v", seed, spread, f, right, taken,
						outside)
				}
			}
			if _, five, _ := at("mean", spread, 5); five > 0 {
				t.Errorf("the mean falls at five colluders")
			}
			if _, six, _ := at("mean", spread, 6); six < 1 {
				t.Errorf("the mean stands at six colluders")
			}
		}
		t.Logf("seed %d: captured at seven colluders by spread %v: %v", seed, spreads, fallen)
		if !slices.IsSorted(fallen) || fallen[0] > 0.1 || fallen[1] < 0.2 || fallen[2] < 0.9 {
			t.Errorf("seed %d: captured at seven by spread: %v; F6 says about 0, 0.4, 0.97", seed, fallen)
		}
	}
}
