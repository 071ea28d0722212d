package majority_test

import (
	"testing"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/majority"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, majority.New, nil)
}
