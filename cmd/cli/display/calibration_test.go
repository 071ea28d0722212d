package display

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"synod.dev/synod/council/seating"
	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
)

// No change of a calibration is accepted silently: synod ask prints figures from it, and councils are recommended.
func TestDamagedCalibration(t *testing.T) {
	dir := t.TempDir()
	c := Calibration{Version: CalibrationVersion, Council: "c", Task: "builtin", Questions: 3, Finished: 3,
		Seats: []string{"m", "k"}, Measured: &seating.Measured{
			Columns: []seating.Column{{Model: "m", Identity: "1"}, {Model: "k", Identity: "2"}},
			Asked:   []seating.Asked{{ID: "a", Marks: "rw"}, {ID: "b", Marks: "rr"}, {ID: "c", Marks: "ww"}}}}
	text, err := durable.EncodeSealed(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, CalibrationFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damage.Check(t, path, 300, durable.Bare, func() (string, error) {
		r, err := ReadCalibration(dir)
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(r)
		return string(b), err
	})
}
