package collect

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/internal/damage"
	"synod.dev/synod/internal/durable"
)

// No change of a collection is accepted silently, but that its end was lost, as after a kill. Without the checksums,
// changes of its answers would be, and without those all changes of its states.
func TestDamagedCollection(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "f")
	f, err := create(dir, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Collect(t.Context(), questions(t, 4), Asker{Member: &fake{}}); err != nil {
		t.Fatal(err)
	}
	whole := ""
	read := func() (string, error) {
		f, err := Open(dir)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("%+v\n", f.Head)
		for _, l := range f.Lines {
			stated, logprob := 0.0, 0.0
			if l.Stated != nil && l.Logprob != nil {
				stated, logprob = *l.Stated, *l.Logprob
			}
			l.Stated, l.Logprob = nil, nil
			text += fmt.Sprintf("%+v %v %v\n", l, stated, logprob)
		}
		d, _, err := f.Data()
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(whole, text) { // its end was lost, as when a process dies
			return whole, nil
		}
		return text + fmt.Sprint(len(d.Samples)), nil
	}
	if whole, err = read(); err != nil {
		t.Fatal(err)
	}
	bare := func(text []byte) []byte {
		var out []byte
		for line := range bytes.Lines(text) {
			out = append(append(out, bytes.TrimSpace(durable.Bare(line))...), '\n')
		}
		return out
	}
	damage.Check(t, filepath.Join(dir, headFile), 300, bare, read)
	damage.Check(t, filepath.Join(dir, answersFile), 300, bare, read)
	for _, changed := range damage.Silent(t, filepath.Join(dir, statesFile), 300, read) {
		t.Errorf("states are read although they were changed: %q", changed)
	}
	states := func() (string, error) { // with the states of answers that are used
		f, err := Open(dir)
		if err != nil {
			return "", err
		}
		for i := range f.Lines {
			f.Lines[i].States = ""
		}
		d, _, err := f.Data()
		if err != nil {
			return "", err
		}
		all, err := d.States(head.Layers[0], string(head.Positions[0]))
		return fmt.Sprint(all), err
	}
	if n := len(damage.Silent(t, filepath.Join(dir, statesFile), 100, states)); n == 0 {
		t.Error("no change of the states is accepted without their hashes either")
	}
}
