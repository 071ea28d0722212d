// Package catalog is the catalogue of protocols. It is a package of its own because the
// folders of protocols import package protocol, and the catalogue imports the folders.
package catalog

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/cascade"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/debate"
	"synod.dev/synod/protocol/decentllms"
	"synod.dev/synod/protocol/fixedleader"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/majority"
	"synod.dev/synod/protocol/panel"
	"synod.dev/synod/protocol/rotatingleader"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/protocol/selfconsistency"
	"synod.dev/synod/protocol/single"
	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/protocol/wmsr"
)

// Protocols lists every protocol. A program of another module adds its own at the start
// of main.
var Protocols = synod.NewCatalogue("protocol",
	cascade.Entry,
	cpwbft.Entry,
	debate.Entry,
	decentllms.Entry,
	fixedleader.Entry,
	game.Entry,
	majority.Entry,
	panel.Entry,
	rotatingleader.Entry,
	sac.Entry,
	selfconsistency.Entry,
	single.Entry,
	weightedmajority.Entry,
	wmsr.Entry,
)

// Admitted returns the names of the protocols in which an adversary or a defence does something.
func Admitted(w synod.Where) (names []string) {
	for _, e := range Protocols.All() {
		if w.Admits(e.Traits) {
			names = append(names, e.Name)
		}
	}
	return names
}
