// Package builtin puts the protocols of this module into the catalogue. Programs import
// it for this effect; package council does so.
package builtin

import (
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/debate"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/fixedleader"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/protocol/rotatingleader"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/protocol/selfconsistency"
	"synod.dev/synod/protocol/single"
	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/protocol/wmsr"
)

func init() {
	protocol.Catalogue.Add(
		cpwbft.Entry,
		debate.Entry,
		decentllms.Entry,
		fixedleader.Entry,
		game.Entry,
		majority.Entry,
		rotatingleader.Entry,
		sac.Entry,
		selfconsistency.Entry,
		single.Entry,
		weightedmajority.Entry,
		wmsr.Entry,
	)
}
