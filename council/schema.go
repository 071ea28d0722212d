package council

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON schema of a council file, made from Spec, so that editors can
// check and complete one. The parameters of named things (protocols, providers,
// adversaries) are not in it: "synod explain NAME" lists those, and reading a file
// checks them.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Anonymous:                  true,
		ExpandedStruct:             true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[time.Duration](), reflect.TypeFor[Factor]():
				return &jsonschema.Schema{Type: "string"}
			case reflect.TypeFor[Params]():
				return &jsonschema.Schema{Type: "object"}
			}
			return nil
		},
	}
	s := r.Reflect(&Spec{})
	s.ID = "https://synod.dev/council.schema.json"
	s.Title = "Synod council file"
	return json.MarshalIndent(s, "", "  ")
}
