// Command aggregate is synod with one more aggregate in its catalogue.
package main

import (
	"synod.dev/synod/cli"
	"synod.dev/synod/robust"
)

func main() {
	robust.Catalogue.Add(Midrange)
	cli.Main()
}
