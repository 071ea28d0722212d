package page

import "net/http"

// mayEdit returns why the viewer may not change council files; nil if that is allowed.
func (v *visit) mayEdit() error {
	switch {
	case !v.Key.Administers():
		return problemf(http.StatusForbidden, "The key %s may not change council files. The owner of the gateway "+
			"makes a key that may with: synod serve keys new NAME --admin", v.Key.Name)
	case v.p.o.Councils.Dir() == "":
		return problemf(http.StatusNotFound, "The gateway has no folder of council files. Start it with: synod serve "+
			"--councils FOLDER")
	}
	return nil
}
