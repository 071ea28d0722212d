package cometbft_test

import (
	"fmt"
	"testing"

	"synod.dev/synod/internal/ledgertest"
)

func TestInventedEntries(t *testing.T) {
	for _, least := range []int{0, 2} {
		t.Run(fmt.Sprint("least ", least), func(t *testing.T) {
			g, secrets := ledgertest.Holding(t, 4, least)
			clusterOf(t, g, secrets, nil).Invented()
		})
	}
}
