// Package structured merges the JSON values of several members into one, part by part, under a JSON schema,
// so that a bounded number of Byzantine members cannot move any part far. It also reads values and schemas,
// checks values, and brings tool calls to the form in which they are compared.
//
// A value has one canonical text (RFC 8785 with exact numbers). Values are untrusted: size, depth and numbers
// are bounded, repeated keys are refused, and validation takes time in proportion to schema and value,
// whatever both contain. Schemas are the user's, but are bounded likewise, because a gateway takes them from
// its clients. Package santhosh-tekuri/jsonschema validates more keywords, but it exceeds linear time where
// a schema refers to itself twice, and adds 0.8 MB to a program; the tests compare every verdict with it.
//
//	s, err := structured.Compile(schema)
//	v, err := structured.Parse(text)
//	err = s.Validate(v)
//	m := s.Merge([]structured.Given{{Seat: 0, Value: v, Weight: 1}, …}, structured.Rule{F: 2, Need: 4})
//
// It has rank -1, because it imports nothing of this module and internal/compiled, which package read uses,
// needs it. Package read reads answers with it, and package council decides with it.
package structured
