package council

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/invopop/jsonschema"
)

// Schema is the JSON schema of a council file, made from Spec, so that editors
// can check and complete one. What stands beside a name (a protocol's, a
// provider's, an adversary's own parameters) is open in it: "synod explain NAME"
// lists those, and reading a file checks them.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Anonymous:                  true,
		ExpandedStruct:             true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[time.Duration]():
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
