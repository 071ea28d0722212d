package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// ConfigError is a mistake in a council file.
type ConfigError struct {
	Section string // the key that it is under
	Line    int    // 0: unknown
	Err     error
}

// Error names the line and the key with its path, such as limits.deadline.
func (e *ConfigError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, inSection(e.Section, e.Err.Error()))
	}
	return inSection(e.Section, e.Err.Error())
}

// firstKey matches a message that begins with a key and its value: "rounds is -1; it must be…", "ability: "x" is not…".
var firstKey = regexp.MustCompile(
	`^([a-z_]+)(\[[0-9]+\])?(\.[a-z_.]+)?(: ("|a list |a group )| is ("[^"]*"|[^ ;,]+)[;,])`)

// inSection puts a section before a message that is about it, so that a key has its path.
func inSection(section, message string) string {
	message = strings.TrimPrefix(message, section+": ")
	if section == "protocol" || section == "faults" || section == "graph" {
		name, rest, _ := strings.Cut(message, ": ")
		one := !strings.Contains(name, " ") || section == "graph"
		if one && firstKey.MatchString(rest) { // "sac: rounds is -1", "er on 3 nodes: p is 2"
			message = rest
		}
	}
	key := firstKey.FindStringSubmatch(message)
	switch {
	case section == "", strings.HasPrefix(message, section+"."), key != nil && key[1] == section:
		return message
	case key != nil && key[1] != "it" && key[1] != "this":
		return section + "." + message
	}
	return section + ": " + message
}

func (e *ConfigError) Unwrap() error { return e.Err }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
