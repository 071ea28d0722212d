package prompt_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// Templates of a user's folder cannot hang, and cannot take all memory.
func TestHostileTemplates(t *testing.T) {
	base := fstest.MapFS{"judge.tmpl": {Data: []byte(fencing)}}
	for name, c := range map[string]struct{ body, want string }{
		"a loop":          {`{{range 1000000000}}x{{end}}`, "does it loop"},
		"an empty loop":   {`{{range 1000000000}}{{end}}`, "does it loop"},
		"nested loops":    {`{{range 100000}}{{range 100000}}{{end}}{{end}}`, "does it loop"},
		"a silent loop":   {`{{range $i := 1000000000}}{{$x := $i}}{{end}}`, "does it loop"},
		"a long pipeline": {`{{range 10000}}{{print (print (print (print 1))) | print | print | print}}{{end}}`, "does it loop"},
		"itself":          {`{{template "user" .}}`, "includes itself"},
		"one another":     {`{{template "b" .}}{{end}}{{define "b"}}{{template "user" .}}`, "includes itself"},
		"doubling": {`{{$x := "0123456789"}}{{range 40}}{{$x = printf "%s%s" $x $x}}{{end}}`,
			"bytes of text"},
		"a wide number":  {`{{printf "%1000000d" 1}}`, "a width"},
		"a given width":  {`{{printf "%*d" 1000000 1}}`, "a width"},
		"escapes":        {`{{$x := "<<<<<<<<"}}{{range 40}}{{$x = js $x}}{{end}}`, "bytes of text"},
		"a long output":  {`{{range 9000}}` + strings.Repeat("x", 2000) + `{{end}}`, "builds more than"},
		"a large file":   {strings.Repeat("x", 300<<10), "at most 262144 bytes"},
		"a normal one":   {`{{.Question.Text}}{{range .Peers}}{{$.Fence .Rationale}}{{else}}none{{end}}{{printf "%5.2f" 1.0}}`, ""},
		"a usual length": {strings.Repeat("{{.Question.Text}} ", 3000), ""},
	} {
		start := time.Now()
		all, err := prompt.NewTemplates("test", base,
			fstest.MapFS{"judge.tmpl": {Data: []byte(`{{define "system"}}s{{end}}{{define "user"}}` + c.body + `{{end}}`)}})
		if err == nil {
			_, err = all.Render(&synod.Prompt{Template: "test/judge", Candidate: "x",
				Question: &synod.Question{Text: "Who?", Form: synod.Text}})
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
