package majority_test

import (
	"testing"

	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/sim/simtest"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, majority.New, nil)
}
