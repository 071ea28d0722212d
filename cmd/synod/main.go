// Synod answers a question with a council of language models, some of which may
// be wrong, broken or hostile, and says what is guaranteed about the answer.
package main

import "synod.dev/synod/cmd/cli"

func main() { cli.Main() }
