// Command task is synod with one more task in its catalogue.
package main

import (
	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli"
)

func main() {
	task.Catalogue.Add(Sums)
	cli.Main()
}
