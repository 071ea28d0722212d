package questions

import (
	"path/filepath"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
)

// Store returns the store of fetched data sets.
func Store(a *app.App) task.Store { return task.Store{Dir: filepath.Join(a.Dirs.Data, "tasks")} }
