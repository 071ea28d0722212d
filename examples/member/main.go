// Command member is synod with one more member in its catalogue.
package main

import (
	"synod.dev/synod/cmd/cli"
	"synod.dev/synod/llm"
)

func main() {
	llm.Providers.Add(Provider)
	cli.Main()
}
