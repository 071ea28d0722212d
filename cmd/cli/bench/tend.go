package bench

import (
	"context"
	"fmt"
	"io"
	"sync"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/llm"
)

// tend tests models that are out of order in the background while a bench runs, until the result is called, which says
// at the end how many calls that took. They are in no figure and no budget of the bench.
func tend(ctx context.Context, out io.Writer) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	tests, tokens := 0, 0
	is := map[llm.Info]bool{}
	done.Go(func() {
		llm.DefaultPool().Tend(ctx, func(now llm.Tended) {
			if now.Tested {
				tests++
				tokens += now.Usage.Prompt + now.Usage.Completion
			}
			name := app.OneLine(now.Model.Name)
			switch changed := is[now.Model] != now.Out; {
			case now.Gone:
			case changed && now.Out:
				fmt.Fprintf(out, "synod: %s is out and tested in the background: %s\n", name, app.OneLine(now.Reason))
			case changed:
				fmt.Fprintf(out, "synod: %s is back\n", name)
			}
			is[now.Model] = now.Out
		})
	})
	return func() {
		cancel()
		done.Wait()
		if tests > 0 {
			fmt.Fprintf(out, "synod: %d calls in the background (%d tokens) tested models that were out; they are in "+
				"no figure\n", tests, tokens)
		}
	}
}
