// Command adversary is synod with one more adversary in its catalogue.
package main

import (
	"synod.dev/synod/adversary"
	"synod.dev/synod/cmd/cli"
)

func main() {
	adversary.Catalogue.Add(Insister)
	cli.Main()
}
