// Command protocol is synod with one more protocol in its catalogue.
package main

import (
	"synod.dev/synod/cli"
	"synod.dev/synod/protocol"
)

func main() {
	protocol.Catalogue.Add(Echo)
	cli.Main()
}
