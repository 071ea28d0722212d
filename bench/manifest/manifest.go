// Package manifest reads experiments from YAML files and makes grids of runs of them.
//
// A manifest has settings of every cell (base), axes with the settings of their values, and
// cases, which are settings for cells that meet a condition. Settings are the keys of a council
// file and those of Settings. They are merged as package council merges its layers, in the order
// base, members, axes, cases, command line. So everything that a council file can say can be an
// axis. The experiments of the papers are such files in bench/presets.
//
//	m, err := manifest.Load("grid.yaml")
//	grid, err := m.Draft(manifest.Options{N: 30, Repeat: 5})
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"
)

// Manifest is an experiment. Overlays are tables with the keys of Settings and of a council file.
type Manifest struct {
	Experiment string                    `yaml:"experiment" doc:"name of the experiment: lower-case letters, digits, dots and hyphens" example:"attack-study"`
	Extends    string                    `yaml:"extends" doc:"a preset or a manifest file whose keys hold where this file has none; a key here replaces the whole one there" example:"sac-table1"`
	Summary    string                    `yaml:"summary" doc:"what it measures, in one line"`
	Source     string                    `yaml:"source" doc:"where the experiment comes from" example:"arXiv 2605.09076, Table 1"`
	About      string                    `yaml:"about" doc:"explanation for synod explain and for readers of the file"`
	Note       string                    `yaml:"note" doc:"what readers of every report must know"`
	Base       map[string]any            `yaml:"base" doc:"overlay: the settings of every cell" example:"{task: mine.jsonl, f: 1, protocol: {name: sac}}"`
	Members    map[string]map[string]any `yaml:"members" doc:"overlays by kind of members, of which --members chooses one: simulated, embedded, recorded; file is added for --members FILE" example:"{simulated: {models: {strong: {provider: simulated}}}}"`
	Axes       map[string]any            `yaml:"axes" doc:"what the cells vary: by axis a list of values, or overlays by the name of the value; adversary: every stands for all that sit in a seat" example:"{graph: [complete, merg], f: [1, 2]}"`
	Name       string                    `yaml:"name" doc:"name of a cell, with $axis for values; default: the values of all axes, joined by hyphens" example:"$protocol-$graph"`
	Cases      []Case                    `yaml:"cases" doc:"overlays for some cells, in order"`
	Only       []map[string]any          `yaml:"only" doc:"cells to keep: those that meet one of these conditions; absent: all. admitted is true where the traits of the protocol admit the adversary" example:"[{protocol: sac}]"`
	Exclude    []map[string]any          `yaml:"exclude" doc:"cells to leave out: those that meet one of these conditions" example:"[{graph: star, b: [3, 4]}]"`
	Full       map[string]any            `yaml:"full" doc:"overlay of complete runs (--full, and bench run all), such as more repeats" example:"{repeat: 20}"`
	Budget     bench.Budget              `yaml:"budget" doc:"what the whole grid may use; work stops there and can be resumed"`
	Paper      Paper                     `yaml:"paper" doc:"figures to compare with"`
	Claims     []Claim                   `yaml:"claims" doc:"what the paper's text says about the cells, each with a control; a manifest that extends another has only its own"`
	Plots      []report.PlotSpec         `yaml:"plots" doc:"figures to draw beside those that every report has"`
	Tables     []report.TableSpec        `yaml:"tables" doc:"tables in the layout of a paper, for bench export --layout paper"`

	axes    []axis
	text    []byte
	dir     string // that relative paths start from
	builtin bool   // one of bench/presets
}

// Case is an overlay for the cells that meet a condition.
type Case struct {
	Where map[string]any `yaml:"where" doc:"condition: the values of axes, parameters or members; a list allows several, and * in a text stands for anything" example:"{members: simulated, dataset: [gsm8k, xstest]}"`
	Set   map[string]any `yaml:"set" doc:"overlay" example:"{models: {weak: {ability: 0.2}}}"`
}

// maxFile bounds a manifest, in bytes.
const maxFile = 1 << 20

// Load reads a manifest. Paths in it are relative to its folder. A mistake is an error that names
// the key, its value, what is allowed and an example.
func Load(path string) (*Manifest, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("manifest: %s is a folder; give a manifest in it, such as %s", path,
			filepath.Join(path, "grid.yaml"))
	}
	b, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path)) // a grid may be resumed from another folder
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	m, err := Parse(b, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Is reports whether a YAML file is a manifest. Other files, and YAML with a list of questions, are not.
func Is(path string) (bool, error) {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".yaml" && ext != ".yml" {
		return false, nil
	}
	b, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return false, err
	}
	var doc any
	if err := param.UnmarshalAny(b, &doc); err != nil {
		return false, err
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return false, nil
	}
	for _, key := range []string{"questions", "samples", "data", "tests"} { // as in a file of questions
		if _, ok := object[key].([]any); ok {
			return false, nil
		}
	}
	return true, nil
}

// Preset reports whether the manifest is one of this program, and not a file of the user.
func (m *Manifest) Preset() bool { return m.builtin }

// experimentName matches valid names of experiments.
var experimentName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,99}$`)

// Parse reads the text of a manifest. dir is the folder that paths in it are relative to.
func Parse(b []byte, dir string) (*Manifest, error) {
	m, err := parse(b, dir)
	if err != nil {
		return nil, err
	}
	if m.Extends != "" {
		if err := m.extend(); err != nil {
			return nil, fmt.Errorf("extends: %w", err)
		}
	}
	return m, m.check()
}

// parse reads the text without the keys of a manifest that it extends.
func parse(b []byte, dir string) (*Manifest, error) {
	m := &Manifest{text: b, dir: dir}
	if !utf8.Valid(b) {
		return nil, errors.New("the manifest is not UTF-8 text; convert it, for example with: " +
			"iconv -f latin1 -t utf-8")
	}
	if err := param.UnmarshalAny(b, m, yaml.Strict()); err != nil {
		return nil, param.Explain(err, b, m)
	}
	if err := param.WholeNumbers(b, m); err != nil {
		return nil, err
	}
	if !experimentName.MatchString(m.Experiment) {
		return nil, fmt.Errorf("experiment is %q; it must be a name of lower-case letters, digits, dots and hyphens "+
			"(example: experiment: attack-study)", m.Experiment)
	}
	return m, m.readAxes()
}

// check checks what can be checked without the cells.
func (m *Manifest) check() error {
	if err := m.checkOverlays(); err != nil {
		return err
	}
	if err := param.Verify(m); err != nil {
		return err
	}
	if err := m.checkClaims(); err != nil {
		return err
	}
	for _, p := range m.Plots {
		if err := p.Check(); err != nil {
			return fmt.Errorf("plots: %w", err)
		}
	}
	return nil
}

// extend takes the keys that m lacks from the manifest that it extends.
func (m *Manifest) extend() error {
	text, err := presets.File(m.Extends + ".yaml")
	if err != nil {
		if filepath.Base(m.Extends) != m.Extends {
			return fmt.Errorf("%s is neither a preset nor a file of the same folder (example: extends: sac-table1)",
				m.Extends)
		}
		if text, err = durable.ReadFile(under(m.dir, m.Extends), maxFile); err != nil {
			return err
		}
	}
	of, err := parse(text, m.dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Extends, err)
	}
	if of.Extends != "" {
		return fmt.Errorf("%s extends %s itself; extend that one", m.Extends, of.Extends)
	}
	of.Claims = nil // they are about the cells of that manifest
	own, theirs := reflect.ValueOf(m).Elem(), reflect.ValueOf(of).Elem()
	for field := range own.Type().Fields() {
		if at := own.FieldByIndex(field.Index); field.IsExported() && at.IsZero() {
			at.Set(theirs.FieldByIndex(field.Index))
		}
	}
	if m.axes == nil {
		m.axes = of.axes
	}
	return nil
}

// checkOverlays checks the keys of every overlay. What is below them is checked in the cells, where
// variables have values.
func (m *Manifest) checkOverlays() error {
	if err := checkKeys("base", m.Base); err != nil {
		return err
	}
	for kind, o := range m.Members {
		if !isKind(kind) && kind != fileMembers {
			return fmt.Errorf("members.%s is not a kind of members%s; the kinds are simulated, embedded, recorded and "+
				"file", kind, synod.Hint(kind, append(Kinds(), fileMembers)))
		}
		if err := checkKeys("members."+kind, o); err != nil {
			return err
		}
	}
	for i, c := range m.Cases {
		if len(c.Where) == 0 {
			return fmt.Errorf("cases[%d] has no condition (example: where: {members: simulated}); settings of all "+
				"cells belong to base", i)
		}
		if err := checkKeys(fmt.Sprintf("cases[%d].set", i), c.Set); err != nil {
			return err
		}
	}
	return checkKeys("full", m.Full)
}

// Text returns the manifest as it was written.
func (m *Manifest) Text() []byte { return bytes.Clone(m.text) }

// Plays reports whether all cells play the protocol of a name.
func (m *Manifest) Plays(protocol string) bool {
	of, _ := m.Base["protocol"].(map[string]any)
	return of["name"] == protocol
}

// Preset is an experiment of a paper: a manifest that is part of the program.
type Preset struct {
	synod.Entry
	Source   string
	About    string
	Manifest *Manifest
}

// Presets returns the experiments of the papers by name. They are read at the first call.
var Presets = sync.OnceValue(func() *synod.Catalogue[Preset] { return synod.NewCatalogue("preset", builtins()...) })

// FindPreset returns the preset with a name, or an error that suggests the nearest name. It reads no other preset:
// reading all of them takes ten times as long as the start of the program.
func FindPreset(name string) (Preset, error) {
	var names []synod.Entry
	for _, name := range presets.Names() {
		names = append(names, synod.Entry{Name: name})
	}
	if _, err := synod.NewCatalogue("preset", names...).Find(name); err != nil {
		return Preset{}, err
	}
	return readPreset(name), nil
}

func builtins() (all []Preset) {
	for _, name := range presets.Names() {
		all = append(all, readPreset(name))
	}
	return all
}

// readPreset reads a manifest of package presets. It is part of the program, so a mistake in it is a panic, which a
// test would find.
func readPreset(name string) Preset {
	text, err := presets.File(name + ".yaml")
	if err != nil {
		panic(err)
	}
	m, err := Parse(text, "")
	if err != nil {
		panic(fmt.Sprintf("manifest: preset %s: %v", name, err))
	}
	if m.Experiment != name {
		panic(fmt.Sprintf("manifest: %s.yaml has experiment: %s", name, m.Experiment))
	}
	m.builtin = true
	return Preset{synod.Entry{Name: name, Summary: m.Summary}, m.Source, strings.TrimSpace(m.About), m}
}
