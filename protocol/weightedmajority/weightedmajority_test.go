package weightedmajority_test

import (
	"testing"

	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/weightedmajority"
)

func TestProtocol(t *testing.T) {
	simtest.Check(t, weightedmajority.New, nil)
}
