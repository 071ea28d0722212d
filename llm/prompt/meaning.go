package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"synod.dev/synod"
)

// The meaning of a template is what members vote on: the shape of the reply, how a reply is read, and what the model is
// shown. Its wording is not a part of it, so a release that changes a word leaves the meaning as it was. The digest of
// the meaning covers
//
//   - Reading, the version of how replies are read;
//   - the names and types of the fields of the replies to prompts of each purpose and form (schemaFor);
//   - the version that the template declares with {{/* meaning: N */}}; 1 if it declares none;
//   - the parts that the template defines, and for each the fields and methods of the prompt that it uses, with the
//     texts that it compares them with.
//
// Who changes what a reply to the template means without changing any of these raises the declared version. A test
// lists the wording of all templates with their meanings, so that no wording changes without this being looked at.

// Reading is the version of how an answer, a score or a confidence is taken out of a reply. Raise it when the same
// reply can be read as another value.
const Reading = 1

// meaningPrefix begins the digest of a meaning; a digest of a wording has hexadecimal digits only.
const meaningPrefix = "m1:"

// IsMeaning reports whether a digest is one of Meanings, and not one of Digests.
func IsMeaning(digest string) bool { return strings.HasPrefix(digest, meaningPrefix) }

var declared = regexp.MustCompile(`\{\{-?\s*/\*\s*meaning:\s*([0-9]{1,6})\s*\*/\s*-?\}\}`)

// meaningOf returns the digest of what a template means: 16 bytes of SHA-256, in hexadecimal, after meaningPrefix.
func meaningOf(name, text string, t *template.Template) string {
	version := "1"
	if found := declared.FindStringSubmatch(text); found != nil {
		version = found[1]
	}
	lines := []string{"synod/meaning/1", fmt.Sprint("reading ", Reading), "schemas " + schemas, "template " + name,
		"version " + version}
	for _, part := range t.Templates() {
		if part.Tree == nil || part.Name() == t.Name() {
			continue // the file itself has nothing but its parts
		}
		uses := map[string]bool{}
		collect(part.Root, uses)
		lines = append(lines, "part "+part.Name()+": "+strings.Join(slices.Sorted(maps.Keys(uses)), " "))
	}
	slices.Sort(lines[5:])
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return meaningPrefix + hex.EncodeToString(sum[:16])
}

// collect adds what a part of a template uses of its prompt, and the texts that it gives to functions.
func collect(n parse.Node, uses map[string]bool) {
	switch x := n.(type) {
	case *parse.ListNode:
		if x != nil {
			for _, child := range x.Nodes {
				collect(child, uses)
			}
		}
	case *parse.ActionNode:
		collect(x.Pipe, uses)
	case *parse.IfNode:
		collectBranch(&x.BranchNode, uses)
	case *parse.RangeNode:
		collectBranch(&x.BranchNode, uses)
	case *parse.WithNode:
		collectBranch(&x.BranchNode, uses)
	case *parse.TemplateNode:
		uses["template:"+x.Name] = true
		collect(x.Pipe, uses)
	case *parse.PipeNode:
		if x != nil {
			for _, c := range x.Cmds {
				for _, arg := range c.Args {
					collect(arg, uses)
				}
			}
		}
	case *parse.FieldNode:
		uses["."+strings.Join(x.Ident, ".")] = true
	case *parse.ChainNode:
		collect(x.Node, uses)
		uses["."+strings.Join(x.Field, ".")] = true
	case *parse.VariableNode:
		if len(x.Ident) > 1 {
			uses["."+strings.Join(x.Ident[1:], ".")] = true
		}
	case *parse.IdentifierNode:
		uses[x.Ident] = true
	case *parse.StringNode:
		uses[x.Quoted] = true
	}
}

func collectBranch(b *parse.BranchNode, uses map[string]bool) {
	collect(b.Pipe, uses)
	collect(b.List, uses)
	collect(b.ElseList, uses)
}

// schemas is a digest of the shapes of the replies to prompts of each purpose and form.
var schemas = func() string {
	forms := []synod.Form{synod.Number, synod.Choice, synod.Bool, synod.Math, synod.Text, synod.Stance, synod.Prose,
		synod.JSON, synod.Action}
	h := sha256.New()
	for _, purpose := range []synod.Purpose{synod.Answering, synod.Refining, synod.Scoring} {
		for _, form := range forms {
			for _, mode := range []synod.ConfidenceMode{"", synod.StatedConfidence} {
				q := &synod.Question{Form: form, Options: []synod.Option{{Label: "A"}, {Label: "B"}},
					Schema: json.RawMessage(`{"type":"integer"}`),
					Tools:  []synod.Tool{{Name: "f"}, {Name: "g", Parameters: json.RawMessage(`{"type":"object"}`)}}}
				s := schemaFor(&synod.Prompt{Purpose: purpose, Question: q, ConfidenceMode: mode})
				fmt.Fprintf(h, "%s %s %s %s\n", purpose, form, mode, shape(s))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}()

// shape returns a JSON schema without the longest lengths of texts, which say how much a model may write.
func shape(schema json.RawMessage) string {
	if schema == nil {
		return "free text"
	}
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		panic("prompt: a schema cannot be read: " + err.Error()) // this package has written it
	}
	b, err := json.Marshal(withoutLengths(v))
	if err != nil {
		panic("prompt: a schema cannot be written: " + err.Error())
	}
	return string(b)
}

func withoutLengths(v any) any {
	switch x := v.(type) {
	case map[string]any:
		delete(x, "maxLength")
		for k := range x {
			x[k] = withoutLengths(x[k])
		}
	case []any:
		for i := range x {
			x[i] = withoutLengths(x[i])
		}
	}
	return v
}

// Meanings returns the digest of the meaning of each template, by name. Those that stand in for the protocol's own
// where a question is asked (ProseDigests) are among them. Two programs with the same meanings can vote together, even
// if their wordings differ.
func (t *Templates) Meanings() map[string]string {
	all := maps.Clone(t.meanings)
	for name, tmpl := range prose {
		text, err := proseFiles.ReadFile("prose/" + name + ".tmpl")
		if err != nil {
			panic(err) // the files belong to the program
		}
		all["prose/"+name] = meaningOf("prose/"+name, string(text), tmpl)
	}
	return all
}
