// Command aggregate is synod with one more aggregate in its catalogue.
package main

import (
	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/core/robust"
)

func main() {
	robust.Catalogue.Add(Midrange)
	cli.Main()
}
