package manifest

import (
	"slices"

	"synod.dev/synod/llm"
)

// Options are the settings that a manifest does not fix, and what overrides it.
type Options struct {
	// simulated, embedded, recorded, or the path of a council file with the models of the
	// experiment; "": simulated, if the manifest has members
	Members string
	Data    string   // file or folder of the questions; "": from Pulled, else built-in questions
	Pulled  string   // folder of fetched data sets
	N       int      // questions or games of each cell; 0: those of the manifest
	Repeat  int      // 0: that of the manifest
	Seed    uint64   // 0: that of the manifest, else 1
	Set     []string // assignments to keys of overlays, after those of the manifest
	Full    bool     // whether the overlay full applies
	// Substitute lets real models be asked built-in questions where those of the manifest are not available. Then
	// there are no verdicts.
	Substitute bool
	Only       string // pattern of cell names; "": all cells
	Program    string
	Env        llm.Env
	Mark       func([]byte) string // of the runs; see bench.Run
}

const (
	simulatedMembers = "simulated"
	fileMembers      = "file" // the models of a council file
)

// Kinds lists the kinds of members that need no council file.
func Kinds() []string { return []string{simulatedMembers, "embedded", "recorded"} }

func isKind(members string) bool { return slices.Contains(Kinds(), members) }

func (o *Options) builtin() bool { return o.Members == "" || isKind(o.Members) }

// kind is the value of members in conditions.
func (o *Options) kind() string {
	if o.builtin() {
		return o.Members
	}
	return fileMembers
}
