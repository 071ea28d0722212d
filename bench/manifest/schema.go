package manifest

import (
	"encoding/json"
	"maps"

	"synod.dev/synod/core/param"
	"synod.dev/synod/council/plan"
)

// node is a part of a JSON schema.
type node = map[string]any

//go:generate go test . -run TestManifestSchema|TestExperimentsPage -rewrite

// Schema returns the JSON schema of a manifest, with which editors check and complete one. It is made
// from the structs that manifests are read into and from the catalogues, so it has what other modules
// added to them. What depends on variables and axes is not checked by it.
func Schema() ([]byte, error) {
	overlay := plan.OverlaySchema(param.Fields(&Settings{}))
	root := plan.TableSchema(param.Fields(&Manifest{}))
	keys := root["properties"].(node)
	described := func(of node, key string, with node) {
		of[key] = joined(of[key].(node), with)
	}
	ref := node{"$ref": "#/$defs/overlay"}
	described(keys, "base", ref)
	described(keys, "full", ref)
	kinds := node{}
	for _, kind := range append(Kinds(), fileMembers) {
		kinds[kind] = ref
	}
	described(keys, "members", node{"properties": kinds, "additionalProperties": false})
	described(keys, "axes", node{"additionalProperties": node{"anyOf": []node{
		{"type": "array", "minItems": 1, "description": "values of one key"},
		{"const": everyAdversary, "description": "of the axis adversary: all that sit in a seat"},
		{"type": "object", "minProperties": 1, "description": "overlays by the name of the value",
			"additionalProperties": node{"anyOf": []node{ref, {"type": "null"}}}},
	}}})
	described(keys["cases"].(node)["items"].(node)["properties"].(node), "set", ref)
	for _, key := range []string{"only", "exclude"} {
		described(keys, key, node{"items": node{"type": "object"}})
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://synod.dev/manifest.schema.json"
	root["title"] = "Synod experiment"
	root["required"] = []string{"experiment"}
	root["$defs"] = node{"overlay": overlay}
	return json.MarshalIndent(root, "", "  ")
}

func joined(a, b node) node {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
