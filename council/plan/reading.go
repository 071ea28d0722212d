package plan

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
)

// reading are the steps that read files. After them the spec is complete, and nothing else is read.
func reading(from source) []step {
	with := func(do func(p *Plan, from source) error) func(*Plan) error {
		return func(p *Plan) error { return do(p, from) }
	}
	return []step{
		{"council", makeAbsolute},
		{"form", func(p *Plan) error { return p.spec.checkShape() }},
		{"runner", with(setRunner)}, // a roster replaces the spec, so all others come later
		{"seats", expandSeats},
		{"seats", loadTapes},
		{"runner", checkKeys},              // one key for each seat
		{"graph", loadGraph},               // the nodes of a graph file are named like seats
		{"defences", with(switchDefences)}, // some are parameters of the protocol
		{"protocol", numberTiers},
		{"trust", with(loadTrust)}, // weights are parameters of the protocol, by seat
		{"protocol", configure},
		{"prompts", with(loadTemplates)}, // of the protocol
	}
}

// makeAbsolute makes the paths in the spec absolute, because a run may be resumed in
// another folder. The caller's maps are left alone.
func makeAbsolute(p *Plan) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	s := &p.spec
	s.Graph, s.Models = maps.Clone(s.Graph), maps.Clone(s.Models)
	if list, ok := s.Graph["schedule"]; ok {
		s.Graph["schedule"] = cloneSchedule(list)
	}
	for name, m := range s.Models {
		s.Models[name] = maps.Clone(m)
	}
	s.ownAdversaries()
	s.resolve(dir)
	return nil
}

// builtIn are the templates of protocols, by name and whether they join texts. They never change, so all plans of a
// protocol share them.
var builtIn sync.Map

func ownTemplates(name string, joins bool, own func() fs.FS) (*prompt.Templates, error) {
	key := struct {
		name  string
		joins bool
	}{name, joins}
	if known, ok := builtIn.Load(key); ok {
		return known.(*prompt.Templates), nil
	}
	made, err := prompt.NewTemplates(name, own())
	if err == nil {
		builtIn.Store(key, made)
	}
	return made, err
}

// loadTemplates reads the protocol's prompt templates. In a plan that is run, a folder
// of prompts that is missing or holds no template is an error, because the protocol's
// own templates are not what the spec asks for.
func loadTemplates(p *Plan, from source) (err error) {
	folder, own := promptsFolder(p), p.entry.Prompts
	j, joins := p.protocol.(protocol.Joining)
	if joins = joins && JoinsTexts(p); joins {
		own = j.JoinPrompts
	}
	if folder == "" || from == fromRecord {
		p.templates, err = ownTemplates(p.entry.Name, joins, own)
	} else {
		p.templates, err = prompt.NewTemplates(p.entry.Name, own(), os.DirFS(folder))
	}
	if err != nil {
		return err
	}
	p.digests = p.templates.Digests()
	if folder == "" || from != toRun {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err == nil && !slices.ContainsFunc(entries,
		func(e os.DirEntry) bool { return filepath.Ext(e.Name()) == ".tmpl" }) {
		err = fmt.Errorf("%s holds no .tmpl file and no folder %s with such files; the protocol's templates are: %s",
			folder, p.entry.Name, strings.Join(p.templates.Names(), ", "))
	}
	return err
}

// promptsFolder returns the folder of prompts: in a folder with prompts of several protocols, that which has the name
// of the protocol.
func promptsFolder(p *Plan) string {
	folder := p.spec.Prompts
	if folder == "" {
		return ""
	}
	own := filepath.Join(folder, p.entry.Name)
	if info, err := os.Stat(own); err == nil && info.IsDir() {
		return own
	}
	return folder
}
