package main

import (
	"fmt"
	"html/template"
	"net/http"

	"github.com/spf13/cobra"

	"synod.dev/synod/network/node"
)

// nodePage serves a page about nodes that run on this machine.
func nodePage() *cobra.Command {
	var listen string
	cmd := &cobra.Command{Use: "page DIR…", Short: "Serve a page that shows nodes of this machine live",
		Args: cobra.MinimumNArgs(1), Example: "  synod node page network/a1 network/a2 --listen 127.0.0.1:8400",
		RunE: func(cmd *cobra.Command, dirs []string) error {
			l, err := listenLoopback(listen)
			if err != nil {
				return failed(fmt.Errorf("--listen: %w", err))
			}
			h := hostChecked(l.Addr().String(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				servePage(w, dirs)
			}))
			node.Serve(cmd.Context(), l, h)
			fmt.Fprintf(cmd.ErrOrStderr(), "http://%s shows %d nodes\n", l.Addr(), len(dirs))
			<-cmd.Context().Done()
			return nil
		}}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8400", "loopback `HOST:PORT`")
	return cmd
}

// row is one node on the page.
type row struct {
	Dir    string
	Error  string
	Status node.Status
	Proofs []node.EvidenceStatus
	Up     int // neighbours that are connected
	Latest *node.RunStatus
}

func servePage(w http.ResponseWriter, dirs []string) {
	var rows []row
	for _, dir := range dirs {
		r := row{Dir: dir}
		if err := request(dir, http.MethodGet, "/status", &r.Status); err != nil {
			r.Error = "not running"
		}
		for _, p := range r.Status.Peers {
			if p.Connected {
				r.Up++
			}
		}
		if r.Error == "" {
			if err := request(dir, http.MethodGet, "/evidence", &r.Proofs); err != nil {
				r.Error = "its evidence cannot be read: " + err.Error()
			}
		}
		if n := len(r.Status.Runs); n > 0 {
			r.Latest = &r.Status.Runs[n-1]
		}
		rows = append(rows, r)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Refresh", "1")
	page.Execute(w, rows)
}

var page = template.Must(template.New("page").Parse(`<!doctype html><html lang="en"><meta charset="utf-8">
<title>Council of nodes</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem;border-bottom:1px solid #ddd}
.bad{color:#a00}.good{color:#060}.busy{color:#a60}
</style>
<h1>Council of nodes</h1>
<table><thead><tr><th>seat<th>member<th>address<th>neighbours<th>run<th>round<th>answer of the seat<th>calls<th>state<th>alarms</tr>
</thead><tbody>
{{range .}}<tr>{{if .Error}}<td>{{.Dir}}<td colspan="8" class="bad">{{.Error}}<td>{{else}}
<td>{{.Status.Seat}}<td>{{.Status.Model}} ({{.Status.Kind}})<td>{{.Status.Listen}}<td>{{.Up}} of {{len .Status.Peers}}
{{with .Latest}}<td>{{printf "%.12s" .Run}}<td>{{.Round}}<td>{{.Answer}}<td>{{.Calls}}
<td class="{{if .Stopped}}good{{else}}busy{{end}}">{{if .Stopped}}ended: {{.Stopped}}{{else}}plays{{end}}
{{else}}<td>–<td>–<td>–<td>–<td>waits{{end}}
<td class="bad">{{if .Status.Skewed}}clock {{end}}{{if .Status.Older}}older folder {{end}}{{with .Status.Stats.Equivocations}}{{.}} equivocation {{end}}{{with
.Status.Stats.Refused}}{{.}} refused{{end}}{{end}}</tr>
{{end}}</tbody></table>
{{range .}}{{$seat := .Status.Seat}}{{range .Proofs}}
<section class="evidence"><h2>Evidence of {{$seat}} against {{.Member}}</h2>
<p>Run {{printf "%.12s" .Run}}. Two signed values for one slot. Anybody can check it with
<code>synod operate evidence verify {{.File}}</code></p>
<ul>{{range .Proved}}<li>{{.}}{{end}}</ul></section>{{end}}{{end}}</html>`))
