package compiled_test

import (
	"fmt"
	"testing"

	"synod.dev/synod/internal/compiled"
)

func TestSchema(t *testing.T) {
	first, err := compiled.Schema([]byte(`{"type":"number"}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := compiled.Schema([]byte(`{"type":"number"}`)); again != first {
		t.Error("a schema was compiled twice")
	}
	for i := range 200 { // more than are kept
		if _, err := compiled.Schema(fmt.Appendf(nil, `{"minLength":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := compiled.Schema([]byte(`{"type":"number"}`)); again.String() != first.String() {
		t.Error(again)
	}
	for range 2 {
		if _, err := compiled.Schema([]byte(`{"type":"numbr"}`)); err == nil {
			t.Error("a schema with an error was compiled")
		}
	}
	if any, err := compiled.Schema(nil); err != nil || any.String() != `{"type":"object"}` {
		t.Error(any, err)
	}
}
