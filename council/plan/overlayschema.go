package plan

import (
	"maps"
	"reflect"
	"slices"

	"synod.dev/synod/core/param"
)

// TableSchema returns the JSON schema of a table with these keys and no others.
func TableSchema(fields []param.Field) map[string]any { return object(fields) }

// OverlaySchema returns the JSON schema of a part of a council file, with more keys beside those of
// a council file. Every text of it may hold variables such as $n, also where a number is expected.
// A part need not name the protocol, graph, provider or adversary whose keys it has, so the keys of
// all of them are known.
func OverlaySchema(more []param.Field) map[string]any {
	whole := object(more)
	all := whole["properties"].(node)
	maps.Copy(all, schema()["properties"].(node))
	overlay := loose(whole)["anyOf"].([]node)[0]
	keys := overlay["properties"].(node)
	list := all["seats"].(node)
	keys["seats"] = node{"description": list["description"], "anyOf": []node{
		{"type": "array", "items": loose(list["items"].(node))},
		{"type": "object", "description": "changes of single seats, by id",
			"additionalProperties": loose(list["items"].(node))},
		variable,
	}}
	return overlay
}

// variable is the schema of a text with a variable.
var variable = node{"type": "string", "pattern": `\$`}

// loose returns the schema of a part of what n describes, in which a text with a variable may
// stand in place of any value.
func loose(n node) node {
	if n["type"] == "string" && n["enum"] == nil && n["pattern"] == nil && n["const"] == nil {
		return n
	}
	out := maps.Clone(n)
	description := out["description"]
	delete(out, "description")
	delete(out, "required")
	if variants, ok := out["oneOf"].([]node); ok && out["type"] == "object" {
		delete(out, "oneOf")
		out = united(out, variants)
	}
	if properties, ok := out["properties"].(node); ok {
		parts := node{}
		for key, of := range properties {
			parts[key] = loose(of.(node))
		}
		out["properties"] = parts
		out["patternProperties"] = node{`\$`: node{}}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if of, ok := out[key].(node); ok {
			out[key] = loose(of)
		}
	}
	made := node{"anyOf": []node{out, variable}}
	if len(out) == 0 { // anything
		made = node{}
	}
	if description != nil {
		made["description"] = description
	}
	return made
}

// united is the schema of a table with the keys of all variants.
func united(n node, variants []node) node {
	choices := map[string][]node{}
	for _, v := range variants {
		properties, _ := v["properties"].(node)
		for key, of := range properties {
			choices[key] = append(choices[key], of.(node))
		}
	}
	properties := node{}
	for _, key := range slices.Sorted(maps.Keys(choices)) {
		properties[key] = either(choices[key])
	}
	n = maps.Clone(n)
	n["properties"], n["additionalProperties"] = properties, false
	return n
}

// either is the schema of what fits one of several.
func either(all []node) node {
	var names []any
	var different []node
	for _, n := range all {
		if name, ok := n["const"]; ok {
			names = append(names, name)
		} else if !slices.ContainsFunc(different, func(m node) bool { return reflect.DeepEqual(m, n) }) {
			different = append(different, n)
		}
	}
	switch {
	case len(names) > 0:
		return node{"enum": names}
	case len(different) == 1:
		return different[0]
	}
	return node{"anyOf": different}
}
