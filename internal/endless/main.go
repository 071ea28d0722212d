// Endless looks for bugs for as long as it may: it plays campaigns, fuzz targets, kills of processes and bit flips in
// turn, each turn with a new seed:
//
//	go run ./internal/endless -length 1h -keep runs/endless
//
// The folder keeps a line for each turn (turns.jsonl), the failing executions of campaigns and the corpus of fuzzing,
// so that a later run goes on where this one ended. A turn that fails is a finding: its command is printed, and plays
// it again. The program fails if there was one. "make endless" runs it, for an hour before each release.
//
// Its rank is 14: it is a program, which nothing imports.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	length := flag.Duration("length", time.Hour, "how long to look")
	keep := flag.String("keep", "runs/endless", "folder of the turns, the corpus and what was found")
	turn := flag.Duration("turn", time.Minute, "how long a turn of a campaign or a fuzz target is")
	only := flag.String("only", "", "one kind of turns: "+kindNames())
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	l, err := open(*keep, *turn, *only)
	if err == nil {
		err = l.run(ctx, *length)
	}
	if err != nil && !errors.Is(err, errFound) {
		fmt.Fprintf(os.Stderr, "endless: %v\n", err)
	}
	if err != nil {
		os.Exit(1)
	}
}
