package task

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
)

// PromptSet makes folders of prompt templates from the published code of a paper. Synod has the names and places of
// the texts in that code, and none of the texts.
type PromptSet struct {
	synod.Entry
	About string // where the code is published, under which licence, and what it lacks
	Input string // what to give
	// From is the published file; without a URL the set cannot be pulled, and About says why.
	From Source
	// templates are by file, such as sac/score.tmpl. In them «KEY» stands for a text of the file, converted with the
	// actions of the set, and «KEY|NAME» for one with the actions of that name first.
	templates map[string]string
	actions   map[string]map[string]string // by name, "" for all: template actions by Python expression
	truths    map[string]string            // template conditions by Python condition
	// read finds the texts of the given file; nil: those of a Python file.
	read func(path string) (pythonTexts, error)
	// extra are files in addition to the published one, which may be absent. Their texts are the keys of that name.
	extra []string
}

// PromptSets lists the sets of prompts that can be made.
var PromptSets = synod.NewCatalogue("set of prompts", sacPrompts, cpwbftPrompts, gamePrompts, decentPrompts,
	sacPrinted, cpwbftPrinted, gamePrinted, gameAllAgents)

// Folder returns where the set is kept in a folder of data: the value of prompts in a council file.
func (s PromptSet) Folder() string { return filepath.FromSlash(s.Name) }

// Make makes the templates, by file, from the published file and, where the set has some, further texts of the paper.
// The note says what is missing; "" if nothing is.
func (s PromptSet) Make(in []string) (files map[string][]byte, note string, err error) {
	switch {
	case len(s.templates) == 0:
		return nil, "", fmt.Errorf("task: %s: %s", s.Name, s.About)
	case len(in) != 1 && len(in) != 1+len(s.extra):
		return nil, "", fmt.Errorf("task: %s needs %s", s.Name, s.Input)
	}
	read := s.read
	if read == nil {
		read = readPython
	}
	texts, err := read(in[0])
	if err != nil {
		return nil, "", err
	}
	m := promptMaker{set: s, texts: texts, printed: map[string]string{}}
	for i, path := range in[1:] {
		data, err := readFile(path)
		if err != nil {
			return nil, "", err
		}
		m.printed[s.extra[i]] = strings.TrimSpace(string(data))
	}
	files = map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(s.templates)) {
		text, err := m.fill(s.templates[name])
		if err != nil {
			return nil, "", fmt.Errorf("task: %s: %s is not the published file, or another version of it: %w", s.Name,
				in[0], err)
		}
		files[name] = []byte(text)
	}
	if len(in) == 1 && len(s.extra) > 0 {
		note = "without " + strings.Join(s.extra, " and ") + ", which the paper prints; calls that need them fail. " +
			"Give " + s.Input + ": synod data convert " + s.Name
	}
	return files, note, nil
}

// promptMaker fills the templates of a set.
type promptMaker struct {
	set     PromptSet
	texts   pythonTexts
	printed map[string]string // by name of an extra
}

// fill replaces the keys of a template by texts.
func (m *promptMaker) fill(template string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(template, "«")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		key, after, _ := strings.Cut(rest, "»")
		text, err := m.text(key)
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		template = after
	}
}

// text returns a text as a part of a template.
func (m *promptMaker) text(key string) (string, error) {
	key, actions, _ := strings.Cut(key, "|")
	if slices.Contains(m.set.extra, key) {
		text, given := m.printed[key]
		if !given {
			return `{{template "` + key + ` is missing: synod data convert ` + m.set.Name + `"}}`, nil
		}
		return m.printedText(text)
	}
	of, known := m.texts[key]
	if !known {
		return "", fmt.Errorf("it has no text %s", key)
	}
	if of.printed {
		return m.printedText(of.pieces[0].text)
	}
	// str.format is called on plain texts; where one has no braces, both read it alike.
	return m.convert(of, actions)
}

// printedText converts a text as the paper prints it, in which braces may also be those of JSON: only known fields
// become actions.
func (m *promptMaker) printedText(text string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '{' {
			end := max(closing(text[i:]), 0)
			field := strings.Join(strings.Fields(strings.TrimPrefix(text[i:i+end], "{")), " ") // lines are broken
			action, err := m.expression(field, "")
			if _, known := m.set.actions[""][field]; known && err != nil {
				return "", err
			}
			if err == nil && end > 0 {
				out.WriteString(action)
				i += end
				continue
			}
		}
		out.WriteString(literalText(text[i : i+1]))
	}
	return out.String(), nil
}

// convert turns a text into a part of a template.
func (m *promptMaker) convert(text pythonText, actions string) (string, error) {
	var out strings.Builder
	for _, piece := range text.pieces {
		parts, err := splitFormat(piece.text)
		if err != nil {
			return "", err
		}
		for _, p := range parts {
			converted := literalText(p.text)
			if p.expression {
				if converted, err = m.expression(p.text, actions); err != nil {
					return "", err
				}
			}
			out.WriteString(converted)
		}
	}
	return out.String(), nil
}

// expression converts a Python expression: a known one, a text, or "X if CONDITION else Y".
func (m *promptMaker) expression(e, actions string) (string, error) {
	for _, name := range []string{actions, ""} {
		if action, known := m.set.actions[name][e]; known {
			return m.fill(action)
		}
	}
	if pythonLiteral.MatchString(e) {
		p := pythonReader{text: "x = " + e, texts: pythonTexts{}, counts: map[string]int{}, begins: true}
		if err := p.read(); err == nil && len(p.texts) == 1 {
			return m.convert(p.texts["/x#0.0"], actions)
		}
	}
	for _, condition := range slices.Sorted(maps.Keys(m.set.truths)) {
		if yes, no, ok := strings.Cut(e, " if "+condition+" else "); ok {
			first, err := m.expression(yes, actions)
			if err != nil {
				return "", err
			}
			second, err := m.expression(no, actions)
			if err != nil {
				return "", err
			}
			return "{{if " + m.set.truths[condition] + "}}" + first + "{{else}}" + second + "{{end}}", nil
		}
	}
	return "", fmt.Errorf("it has the unknown expression {%s}", e)
}

// literalText escapes a text for a template. Every brace is, because an action may follow it.
func literalText(s string) string { return strings.ReplaceAll(s, "{", `{{"{"}}`) }

// Made reports whether the set can be made of a file; else About says what to do.
func (s PromptSet) Made() bool { return len(s.templates) > 0 }
