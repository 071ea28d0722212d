package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"synod.dev/synod/adversary"
	"synod.dev/synod/adversary/defence"
	"synod.dev/synod/core/param"
	aggregates "synod.dev/synod/core/robust"
	"synod.dev/synod/graph/dynamic"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/protocol/game"
)

// Variant is a named thing of a council file with its parameters, such as a protocol.
type Variant struct {
	Name, Summary string
	Fields        []param.Field
}

// Reference describes every key of a council file. It is made from the structs that council files are read into and
// from the catalogues, so it has what other modules add to them.
type Reference struct {
	Keys        []param.Field // the keys of the file, with those below them
	Protocols   []Variant     // beside protocol.name
	Graphs      []Variant     // beside graph.family
	Changing    []param.Field // of a graph that changes from round to round
	Providers   []Variant     // beside models.NAME.provider
	Adversaries []Variant     // beside seats[].adversary.name
}

// NewReference returns the description of council files.
func NewReference() Reference {
	spec := Default()
	r := Reference{Keys: param.Fields(&spec), Changing: param.Fields(dynamic.New())}
	for i := range r.Keys {
		switch r.Keys[i].Key {
		case "protocol":
			r.Keys[i].Default = ProposedProtocol()
		case "graph":
			r.Keys[i].Default = "{family: complete}"
		case "defences":
			r.Keys[i].Fields = switches()
		}
	}
	for _, e := range catalog.Protocols.All() {
		r.Protocols = append(r.Protocols, Variant{e.Name, e.Summary, param.Fields(e.New())})
	}
	for _, e := range topology.Catalogue.All() {
		seed := param.Field{Key: "seed", Type: "integer", Doc: "seed of the draw", Default: "0", Low: new(float64)}
		fields := param.Fields(e.New())
		if e.Seeded {
			fields = append(fields, seed)
		}
		r.Graphs = append(r.Graphs, Variant{e.Name, e.Summary, fields})
	}
	for _, e := range llm.Providers.All() {
		r.Providers = append(r.Providers, Variant{e.Name, e.Summary, param.Fields(e.Settings())})
	}
	for _, e := range adversary.Catalogue.All() {
		v := Variant{Name: e.Name, Summary: e.Summary}
		if e.Params != nil {
			v.Fields = param.Fields(e.Params())
		}
		r.Adversaries = append(r.Adversaries, v)
	}
	return r
}

// switches describes the keys of the section defences.
func switches() (fields []param.Field) {
	for _, e := range defence.Catalogue.All() {
		f := param.Field{Key: e.Name, Type: "string", Doc: e.Summary, Enum: []string{defence.On, defence.Off},
			Default: e.Default}
		if e.Key != "" {
			f.Doc += "; sets " + e.Key
		}
		if in := catalog.Admitted(e.Where); len(in) < len(catalog.Protocols.Names()) {
			f.Doc += " (in " + strings.Join(in, ", ") + ")"
		}
		fields = append(fields, f)
	}
	return fields
}

// named returns the values that the tag names stands for. Names of models are suggestions: others can be installed.
func named(what string) (values []string, open bool) {
	switch what {
	case "aggregates":
		return aggregates.Catalogue.Names(), false
	case "game rules":
		for _, rule := range game.Rules() {
			values = append(values, string(rule))
		}
		return values, false
	case "models":
		for _, m := range models.Catalog() {
			values = append(values, m.Name)
		}
		return values, true
	}
	return nil, true
}

// node is a part of a JSON schema.
type node = map[string]any

//go:generate go test . -run TestSchema|TestReferencePage -rewrite

// Schema returns the JSON schema of a council file, with the parameters of protocols, graphs, providers and
// adversaries, so that editors can check and complete one.
func Schema() ([]byte, error) { return json.MarshalIndent(schema(), "", "  ") }

func schema() node {
	r := NewReference()
	root := object(r.Keys)
	keys := root["properties"].(node)
	choose := func(key, tag string, variants []Variant, fallback string) node {
		return joined(keys[key].(node), oneOf(tag, variants, fallback))
	}
	keys["protocol"] = choose("protocol", "name", r.Protocols, DefaultProtocol)
	keys["graph"] = joined(keys["graph"].(node), graphs(r))
	keys["models"].(node)["additionalProperties"] = oneOf("provider", r.Providers, "")
	seat := keys["seats"].(node)["items"].(node)
	seat["required"] = []string{"id"}
	of := seat["properties"].(node)
	of["adversary"] = joined(of["adversary"].(node), oneOf("name", r.Adversaries, ""))
	several := keys["adversaries"].(node)["properties"].(node)
	several["adversary"] = joined(several["adversary"].(node), oneOf("name", r.Adversaries, ""))
	several["seats"] = joined(several["seats"].(node), node{"oneOf": []node{{"type": "string"},
		{"type": "array", "items": node{"type": "string"}}}})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://synod.dev/council.schema.json"
	root["title"] = "Synod council file"
	return root
}

// graphs is the schema of the graph section: a graph whose edges may fail, or a schedule of graphs.
func graphs(r Reference) node {
	static := func() []node {
		return append(oneOf("family", r.Graphs, "complete")["oneOf"].([]node), graphBy("edges"), graphBy("file"))
	}
	schedule := object(r.Changing)
	schedule["required"] = []string{"schedule"}
	schedule["description"] = "graphs that follow one another"
	of := schedule["properties"].(node)
	of["schedule"] = joined(of["schedule"].(node), node{"items": node{"oneOf": static()}, "minItems": 1})
	all := static()
	for _, of := range all {
		for _, f := range r.Changing {
			if f.Key != "schedule" && f.Key != "hold" {
				of["properties"].(node)[f.Key] = value(f)
			}
		}
	}
	return node{"type": "object", "oneOf": append(all, schedule)}
}

// graphBy is the schema of a graph that is given by its edges or by a file.
func graphBy(key string) node {
	value := node{"type": "string", "description": "a graph file: GraphML, DOT, JSON, an edge list, …"}
	if key == "edges" {
		pair := node{"type": "array", "items": node{"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
		value = node{"type": "array", "items": pair, "description": "pairs of seats by index from 0"}
	}
	return node{"type": "object", "additionalProperties": false, "required": []string{key},
		"properties": node{key: value}}
}

// oneOf is the schema of an object whose key tag names one of the variants. The key may be absent for the fallback.
func oneOf(tag string, variants []Variant, fallback string) node {
	var all []node
	for _, v := range variants {
		o := object(v.Fields)
		o["properties"].(node)[tag] = node{"const": v.Name, "description": v.Summary}
		o["description"] = v.Summary
		if v.Name != fallback {
			o["required"] = []string{tag}
		}
		all = append(all, o)
	}
	return node{"type": "object", "oneOf": all}
}

func joined(a, b node) node {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// object is the schema of a table with these keys and no others.
func object(fields []param.Field) node {
	properties := node{}
	for _, f := range fields {
		properties[f.Key] = value(f)
	}
	return node{"type": "object", "additionalProperties": false, "properties": properties}
}

// value is the schema of one key.
func value(f param.Field) node {
	n := typed(f)
	if f.Doc != "" {
		n["description"] = sentence(f)
	}
	if f.Low != nil {
		n["minimum"] = *f.Low
	}
	if f.High != nil {
		n["maximum"] = *f.High
	}
	values, open := f.Enum, false
	if f.Names != "" {
		values, open = named(f.Names)
	}
	if len(values) > 0 && open {
		n["examples"] = values
	} else if len(values) > 0 {
		n["enum"] = slices.Clone(values)
	}
	return n
}

// typed is the schema of a key's type.
func typed(f param.Field) node {
	switch f.Type {
	case "string", "integer", "number":
		return node{"type": f.Type}
	case "bool":
		return node{"type": "boolean"}
	case "duration":
		return node{"type": "string", "pattern": `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case "multiple":
		return node{"type": []string{"string", "number"}, "pattern": `^[0-9]+(\.[0-9]+)?x?$`}
	case "list":
		if f.Fields != nil {
			return node{"type": "array", "items": object(f.Fields)}
		}
		return node{"type": "array"}
	case "table":
		if f.Fields != nil {
			return object(f.Fields)
		}
		return node{"type": "object"}
	}
	return node{}
}

// sentence is what an editor shows for a key.
func sentence(f param.Field) string {
	var more []string
	if f.Unit != "" {
		more = append(more, "unit: "+f.Unit)
	}
	if f.Default != "" {
		more = append(more, "default: "+f.Default)
	}
	if f.Example != "" {
		more = append(more, "example: "+f.Example)
	}
	if len(more) == 0 {
		return f.Doc
	}
	return f.Doc + " (" + strings.Join(more, "; ") + ")"
}
