// Synod-cometbft keeps one replica of a ledger by the consensus of CometBFT. synod-node starts it as a
// child process, for a roster whose ledger is cometbft; it ends when its stdin does.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/cometbft/cometbft/libs/log"

	"synod.dev/synod/record/ledger"
	"synod.dev/synod/record/ledger/child"
	"synod.dev/synod/record/ledger/cometbft"
)

func main() {
	logger := log.NewFilter(log.NewTMLogger(log.NewSyncWriter(os.Stderr)), log.AllowError())
	err := child.Serve(os.Stdin, os.Stdout, func(settings json.RawMessage) (ledger.Ledger, error) {
		return cometbft.OpenSettings(settings, logger)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "synod-cometbft:", err)
		os.Exit(1)
	}
}
