package ask

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council"
)

// progress shows rounds and calls while a council decides.
func progress(a *app.App, cmd *cobra.Command, ask *council.Ask) *app.Bar {
	show := a.NewBar(cmd, true, "starting the members")
	if show.To != nil {
		ask.Progress = func(now council.Progress) {
			show.Say(func() string {
				if now.Round < 0 {
					return fmt.Sprintf("first answers · %d calls%s", now.Calls, awaited(now.Awaited))
				}
				return fmt.Sprintf("round %d of at most %d · %d calls%s", now.Round+1, now.Rounds, now.Calls,
					awaited(now.Awaited))
			})
		}
	}
	return show
}

// awaited says whom a council waits for: names as long as they are few.
func awaited(ids []string) string {
	const most = 3
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) > most:
		return fmt.Sprintf(" · waiting for %d members", len(ids))
	}
	return " · waiting for " + strings.Join(ids, ", ")
}
