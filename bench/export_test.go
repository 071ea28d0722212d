package bench

import "encoding/json"

// Seal returns a manifest as it is stored, without a mark. An old sum in it is left out.
func Seal(manifest []byte) ([]byte, error) {
	if at := sealed.FindIndex(manifest); at != nil {
		manifest = append(manifest[:at[0]:at[0]], '}')
	}
	return seal(json.RawMessage(manifest), nil)
}
