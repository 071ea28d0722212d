package outcome

import (
	"testing"

	"synod.dev/synod/council/plan"
)

func parsed(t *testing.T, text string) plan.Spec {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}
