// Command topology is synod with one more topology in its catalogue.
package main

import (
	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/graph/topology"
)

func main() {
	topology.Catalogue.Add(Wheel)
	cli.Main()
}
