// Command protocol is synod with one more protocol in its catalogue.
package main

import (
	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/protocol/catalog"
)

func main() {
	catalog.Protocols.Add(Echo)
	cli.Main()
}
