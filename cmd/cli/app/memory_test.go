package app

import "testing"

// Amounts of memory have a unit, and are enough to work with.
func TestMemory(t *testing.T) {
	for text, want := range map[string]Memory{"256MiB": 256 << 20, "2GiB": 2 << 30, "2049MiB": 2049 << 20, "256": 0,
		"1MiB": 0, "256 MiB": 0, "-1GiB": 0, "99999999GiB": 0, "MiB": 0} {
		var m Memory
		if err := m.Set(text); m != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d, %v", text, m, err)
		}
		if want > 0 && m.String() != text {
			t.Errorf("%s is shown as %s", text, m.String())
		}
	}
}
