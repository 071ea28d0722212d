package simtest

import (
	"math"
	"strings"
	"testing"

	"synod.dev/synod/core/param"
)

// Parameters checks the described ranges and values of a protocol's parameters: both ends of a range and all listed
// values are accepted, and what is beyond the ends, or not listed, is refused with an error that names the parameter.
func Parameters(t *testing.T, fresh func() Protocol) {
	t.Helper()
	for _, f := range param.Fields(fresh()) {
		try := func(value any) error {
			p := fresh()
			if err := param.Decode(map[string]any{f.Key: value}, p); err != nil {
				t.Fatalf("%s: %v cannot be decoded: %v", f.Key, value, err)
			}
			if v, ok := p.(interface{ Validate() error }); ok {
				return v.Validate()
			}
			return nil
		}
		inside, outside := limits(f)
		for _, value := range inside {
			if err := try(value); err != nil && strings.Contains(err.Error(), f.Key+" is") {
				t.Errorf("%s: %v is refused: %v", f.Key, value, err)
			}
		}
		for _, value := range outside {
			if err := try(value); err == nil || !strings.Contains(err.Error(), f.Key) {
				t.Errorf("%s: %v gives the error %v", f.Key, value, err)
			}
		}
	}
}

// limits returns values of a parameter that must be accepted, and values that must be refused.
func limits(f param.Field) (inside, outside []any) {
	for end, sign := range map[*float64]float64{f.Low: -1, f.High: 1} {
		if end == nil {
			continue
		}
		if f.Type == "integer" {
			inside, outside = append(inside, int(math.Round(*end))), append(outside, int(math.Round(*end+sign)))
		} else {
			inside, outside = append(inside, *end), append(outside, *end+sign/2)
		}
	}
	for _, value := range f.Enum {
		inside = append(inside, value)
	}
	if f.Enum != nil {
		outside = append(outside, "no such value")
	}
	return inside, outside
}
