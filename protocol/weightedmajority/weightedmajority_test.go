package weightedmajority_test

import (
	"testing"

	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/sim/simtest"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, weightedmajority.New, nil)
}
