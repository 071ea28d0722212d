package plan

import (
	"maps"
	"path/filepath"
	"slices"
)

// resolve makes the paths in a whole file absolute, or relative to the working folder,
// by putting the file's folder in front.
func (s *Spec) resolve(dir string) {
	s.Prompts = under(dir, s.Prompts)
	for i := range s.Checks {
		s.Checks[i].Mount = under(dir, s.Checks[i].Mount)
	}
	s.Schema, s.Tools = under(dir, s.Schema), under(dir, s.Tools)
	s.Runner.Roster, s.Runner.Key = under(dir, s.Runner.Roster), under(dir, s.Runner.Key)
	s.Ledger.Folder = under(dir, s.Ledger.Folder)
	if s.Trust.File != OwnTrust {
		s.Trust.File = under(dir, s.Trust.File)
	}
	graphPaths(s.Graph, dir)
	s.tapePaths(dir)
	for _, m := range s.Models {
		pathIn(m, "path", dir)
		pathIn(m, "probe", dir)
	}
}

// graphPaths resolves the paths of a graph section.
func graphPaths(g map[string]any, dir string) {
	pathIn(g, "file", dir)
	list, _ := g["schedule"].([]any)
	for _, part := range list {
		if part, ok := part.(map[string]any); ok {
			pathIn(part, "file", dir)
		}
	}
}

func pathIn(p map[string]any, key, dir string) {
	if path, ok := p[key].(string); ok {
		p[key] = under(dir, path)
	}
}

func under(dir, p string) string {
	if p == "" || dir == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// cloneSchedule returns a copy of a graph section's schedule, or the value if it is no list of
// tables.
func cloneSchedule(value any) any {
	var list []any
	switch v := value.(type) {
	case []any:
		list = slices.Clone(v)
	case []map[string]any: // from Go code
		for _, part := range v {
			list = append(list, part)
		}
	case []Params:
		for _, part := range v {
			list = append(list, map[string]any(part))
		}
	default:
		return value
	}
	for i, part := range list {
		if part, ok := part.(map[string]any); ok {
			list[i] = maps.Clone(part)
		}
	}
	return list
}
