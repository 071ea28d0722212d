package page

import (
	"strings"
	"testing"
	"time"
)

// The axis of a month without spend has cents, not millionths of a dollar.
func TestChartWithoutSpend(t *testing.T) {
	drawn := string(spendChart(make([]float64, spendDays), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)))
	if !strings.Contains(drawn, "0.005") && !strings.Contains(drawn, "0.010") || strings.Contains(drawn, "0.0000") {
		t.Errorf("the axis has other labels: %.400s", drawn)
	}
}
