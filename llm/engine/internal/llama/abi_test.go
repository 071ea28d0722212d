//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"reflect"
	"strings"
	"testing"

	yzma "github.com/hybridgroup/yzma/pkg/llama"
)

// TestLayoutsMatchYzma is the dumb twin of types.go: yzma v1.27.0 keeps the
// structs of llama.h for the pinned library, ours must lie on the same bytes.
func TestLayoutsMatchYzma(t *testing.T) {
	for _, c := range []struct{ ours, theirs any }{
		{ModelParams{}, yzma.ModelParams{}},
		{ContextParams{}, yzma.ContextParams{}},
		{rawBatch{}, yzma.BatchData{}},
		{TokenData{}, yzma.TokenData{}},
		{tokenDataArray{}, yzma.TokenDataArray{}},
		{chatMessage{}, yzma.ChatMessage{}},
	} {
		a, b := reflect.TypeOf(c.ours), reflect.TypeOf(c.theirs)
		if a.Size() != b.Size() || a.NumField() != b.NumField() {
			t.Errorf("%s: %d bytes in %d fields, yzma has %d in %d", a, a.Size(), a.NumField(), b.Size(), b.NumField())
			continue
		}
		for i := range a.NumField() {
			f, g := a.Field(i), b.Field(i)
			if f.Offset != g.Offset || f.Type.Size() != g.Type.Size() || (f.Type.Kind() == reflect.Float32) != (g.Type.Kind() == reflect.Float32) ||
				!strings.EqualFold(f.Name, strings.ReplaceAll(g.Name, "_", "")) {
				t.Errorf("%s: field %d: %s %s at %d, yzma has %s %s at %d", a, i, f.Name, f.Type, f.Offset, g.Name, g.Type, g.Offset)
			}
		}
	}
}
