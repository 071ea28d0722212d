package campaign

import "testing"

// Hostile callers find no contradiction in 100 runs. Bugs seeded in certificates fail this test (internal/bugs).
func TestHostileCallers(t *testing.T) {
	c, err := TrialOf("CE-5")
	if err != nil {
		t.Fatal(err)
	}
	for number := range uint64(100) {
		if r := c.Try(number); r.Err != nil || r.Violation != "" {
			t.Fatalf("number %d: %s %v", number, r.Violation, r.Err)
		}
	}
}
