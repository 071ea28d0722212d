package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
)

//go:embed static/*.js static/*.css static/icons/*.svg
var staticFiles embed.FS

// asset is a file that pages load. Its address has its digest, so browsers keep it for ever.
type asset struct {
	address string
	kind    string
	content []byte
}

// assets returns the files by name and by address.
func assets() (byName, byAddress map[string]*asset) {
	byName, byAddress = map[string]*asset{}, map[string]*asset{}
	kinds := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	files, err := fs.Glob(staticFiles, "static/*.*")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, file := range files {
		content, err := staticFiles.ReadFile(file)
		if err != nil {
			panic(err) // it is embedded
		}
		name, ext := path.Base(file), path.Ext(file)
		sum := sha256.Sum256(content)
		a := &asset{kind: kinds[ext], content: content, address: fmt.Sprintf("/static/%s-%s%s",
			strings.TrimSuffix(name, ext), hex.EncodeToString(sum[:8]), ext)}
		byName[name], byAddress[a.address] = a, a
	}
	return byName, byAddress
}

// icon is one of the icons in static/icons, for the eye only: the text beside it says the same.
func icon(name string) (template.HTML, error) {
	b, err := staticFiles.ReadFile("static/icons/" + name + ".svg")
	_, drawing, _ := strings.Cut(string(b), "<svg")
	drawing = strings.Replace(drawing, `xmlns="http://www.w3.org/2000/svg"`, "", 1) // not needed within a page
	return template.HTML(`<svg aria-hidden="true" ` + strings.Join(strings.Fields(drawing), " ")), err
}
