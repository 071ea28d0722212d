package plan

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
)

func KnownForm(f synod.Form) error {
	if f != "" && !slices.Contains(synod.Forms(), f) {
		return fmt.Errorf("form is %q; it must be one of %v", f, synod.Forms())
	}
	return nil
}

// checkShape reports keys of a council file that do not go together. Files are read when a question is asked.
func (s *Spec) checkShape() error {
	switch err := KnownForm(s.Form); {
	case err != nil:
		return err
	case s.Schema != "" && s.Form != synod.JSON:
		return errors.New("schema needs form: json")
	case s.Tools != "" && s.Form != synod.Action:
		return errors.New("tools needs form: action")
	}
	return nil
}
