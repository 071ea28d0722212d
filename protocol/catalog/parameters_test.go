package catalog_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"synod.dev/synod/core/param"
	"synod.dev/synod/protocol/catalog"
)

// Both ends of the range in a parameter's tag and all listed values are accepted, and what is beyond the ends, or not
// listed, is refused with an error that names the parameter.
func TestParameters(t *testing.T) {
	for _, e := range catalog.Protocols.All() {
		for _, f := range param.Fields(e.New()) {
			try := func(value any) string {
				p := e.New()
				if err := param.Decode(map[string]any{f.Key: value}, p); err != nil {
					t.Fatalf("%s: %s: %v cannot be decoded: %v", e.Name, f.Key, value, err)
				}
				return fmt.Sprint(e.Verify(p))
			}
			inside, outside := limits(f)
			for _, value := range inside {
				if err := try(value); strings.Contains(err, f.Key+" is") {
					t.Errorf("%s: %s: %v is refused: %v", e.Name, f.Key, value, err)
				}
			}
			for _, value := range outside {
				if err := try(value); !strings.HasPrefix(err, e.Name+": "+f.Key+" is ") {
					t.Errorf("%s: %s: %v gives the error %v", e.Name, f.Key, value, err)
				}
			}
		}
	}
}

// limits returns values of a parameter that must be accepted, and values that must be refused.
func limits(f param.Field) (inside, outside []any) {
	for end, sign := range map[*float64]float64{f.Low: -1, f.High: 1} {
		switch {
		case end == nil:
		case f.Type == "integer":
			inside, outside = append(inside, int(math.Round(*end))), append(outside, int(math.Round(*end+sign)))
		default:
			inside, outside = append(inside, *end), append(outside, *end+sign/2)
		}
	}
	for _, value := range f.Enum {
		inside = append(inside, value)
	}
	if f.Enum != nil {
		outside = append(outside, "no such value", "")
	}
	return inside, outside
}
