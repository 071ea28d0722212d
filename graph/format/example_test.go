package format_test

import (
	"fmt"

	"synod.dev/synod/graph/format"
)

// An edge list is converted to JSON.
func Example() {
	edges, err := format.Of("lab.edges")
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := edges.Parse([]byte("alice bob\nbob carol\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	json, err := format.Find("json")
	fmt.Print(string(json.Write(file)))
	fmt.Println(err)
	// Output:
	// {"version":1,"n":3,"directed":false,"edges":[[0,1],[1,2]],"names":["alice","bob","carol"]}
	// <nil>
}
