// Command task is synod with one more task in its catalogue.
package main

import (
	"synod.dev/synod/cli"
	"synod.dev/synod/task"
)

func main() {
	task.Catalogue.Add(Sums)
	cli.Main()
}
