package app

import "runtime/debug"

// Version returns the release and the commit that the program was built from.
func Version() string {
	v := Release
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if commit == "" {
		commit = "unknown commit"
	}
	return v + " (" + commit + dirty + ")"
}

// Release is the number of the release, without the commit.
const Release = "0.1.0"
