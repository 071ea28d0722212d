// Package app is what the groups of commands share: the folders, prices and keys of the user, the flags that define a
// council, the journal of a run, standard output and error with their progress lines, and errors with an exit code and
// a hint. It prints no outcome and knows no command; programs beside synod, such as synod-serve, use it too.
//
// A command gets the App and works with it:
//
//	spec, err := flags.Load(a)
//	if err != nil {
//		return app.ConfigError(err)
//	}
//	if err := a.FetchModels(cmd, spec); err != nil {
//		return err
//	}
package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"synod.dev/synod/llm"
)

// App holds what the commands share.
type App struct {
	Home    string // the folder that --home names; "": the folders of the XDG standard
	Quiet   bool   // print only the answer and errors
	Verbose bool   // print more details
	Memory  Memory // what the program tries to keep to
	Dirs    Dirs
	Prices  llm.Prices  // prices of models; nil: the published prices
	locks   []io.Closer // of files that the command works on

	keyError atomic.Pointer[error] // see Unmarked
}

// New returns the app of a program beside synod, which shares the user's folders, keys and prices with it. home is the
// folder that --home names; "": the folders of the XDG standard. prices is a price file; "": the user's own, if there
// is one.
func New(home, prices string) (*App, error) {
	a := &App{Home: home}
	return a, a.Open(prices)
}

// Unlock lets other processes work on the files of the command.
func (a *App) Unlock() {
	for _, lock := range a.locks {
		lock.Close()
	}
	a.locks = nil
}

// Open finds the user's folders and reads the prices.
func (a *App) Open(prices string) (err error) {
	if a.Dirs, err = findDirs(a.Home); err != nil {
		return err
	}
	return a.readPrices(prices)
}

// readPrices reads the named price file or, if file is empty, prices.yaml in the
// configuration folder if it exists.
func (a *App) readPrices(file string) (err error) {
	optional := file == ""
	if optional {
		file = filepath.Join(a.Dirs.Config, "prices.yaml")
	}
	a.Prices, err = llm.ReadPrices(file)
	switch {
	case optional && errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return Fail(ExitUsage, err, "the format of a price file is:\n  prices:\n  - {server: api.openai.com, model: "+
			"gpt-4o, prompt: 2.5, completion: 10, date: 2026-11-01}")
	}
	return nil
}
