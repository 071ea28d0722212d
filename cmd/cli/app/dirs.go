package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Dirs are the folders that Synod uses: the XDG base directories, or folders under --home.
type Dirs struct{ Config, Data, cache, State string }

// findDirs returns the folders under home or, for "", of the XDG standard.
func findDirs(home string) (Dirs, error) {
	if home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return Dirs{}, Fail(ExitUsage, fmt.Errorf("--home: %w", err))
		}
		if err := FolderOf("--home", home); err != nil {
			return Dirs{}, err
		}
		return Dirs{home + "/config", home + "/data", home + "/cache", home + "/state"}, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		user = ""
	}
	at := func(env, under string) string {
		if d := os.Getenv(env); d != "" {
			return d + "/synod"
		}
		if user == "" {
			return ""
		}
		return user + under + "/synod"
	}
	d := Dirs{at("XDG_CONFIG_HOME", "/.config"), at("XDG_DATA_HOME", "/.local/share"), at("XDG_CACHE_HOME", "/.cache"),
		at("XDG_STATE_HOME", "/.local/state")}
	if d.Config == "" || d.Data == "" || d.cache == "" || d.State == "" {
		return d, Fail(ExitUsage, errors.New("no home folder is known"), "set HOME or give a folder with --home FOLDER")
	}
	return d, nil
}

// FolderOf fails if the folder of the file that a flag names does not exist.
func FolderOf(flag, path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); path == "" || err == nil && info.IsDir() {
		return nil
	}
	return Fail(ExitUsage, fmt.Errorf("%s is %s; the folder %s does not exist", flag, path, dir),
		"create it with: mkdir -p "+ShellWord(dir))
}
