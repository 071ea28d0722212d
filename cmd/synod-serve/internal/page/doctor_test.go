package page

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
)

// doctorWith loads the page with a query of names and values in turn.
func (h *house) doctorWith(t *testing.T, query ...string) seen {
	t.Helper()
	q := url.Values{}
	for i := 0; i < len(query); i += 2 {
		q.Add(query[i], query[i+1])
	}
	return h.get(t, "/doctor?"+q.Encode())
}

// TestDoctor: the page says what the command "graph check" says, for families and for graphs that were typed.
func TestDoctor(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	for _, test := range []struct {
		query []string
		want  []string
	}{
		{nil, []string{"r = 4", "7 nodes, 18 edges", "at most 307", "343 on the complete graph", "F = 3"}},
		{[]string{"do", "build", "family", "ring", "n", "7"}, []string{"r = 1", "F = 0", "not larger"}},
		{[]string{"do", "build", "family", "star", "n", "6"}, []string{"One faulty node is enough, at <b>0</b>"}},
		{[]string{"do", "build", "family", "circulant", "n", "9", "params", "k=3"}, []string{"27 edges"}},
		{[]string{"do", "build", "family", "circulant", "n", "8", "params", "k=2 directed=true"},
			[]string{"directed edges", "marker-end"}},
		{[]string{"graph", "s1 s2\ns2 s3\ns3 s4\ns4 s1"}, []string{"4 nodes, 4 edges", "s2 hears s1, s3"}},
		{[]string{"graph", "0 1 1\n1 0 1\n1 1 0"}, []string{"3 nodes, 3 edges", "r = 2"}},
		{[]string{"graph", "011\n001\n000"}, []string{"3 nodes, 3 directed edges"}},
		{[]string{"graph", `{"n": 3, "edges": [[0,1],[1,2]]}`}, []string{"3 nodes, 2 edges"}},
		{[]string{"graph", "graph { a -- b; b -- c }"}, []string{"3 nodes, 2 edges"}},
		{[]string{"graph", "# nodes 4\n0 1\n2 3"}, []string{"r = 0", "not connected", "nothing"}},
		{[]string{"graph", "0 1\n1 2\n2 3", "f", "1"}, []string{"For F = 1 (r ≥ 2)", "Add them"}},
		{[]string{"graph", "0 1\n1 2\n2 3", "f", "0"}, []string{"nothing: r is 1"}},
		{[]string{"graph", "0 1\n1 2", "do", "add", "from", "0", "to", "2"}, []string{"3 nodes, 3 edges"}},
		{[]string{"graph", "0 1\n1 2", "do", "remove", "from", "1", "to", "0"}, []string{"3 nodes, 1 edge"}},
		{[]string{"graph", "0 1\n1 2", "do", "node"}, []string{"4 nodes, 2 edges"}},
		{[]string{"graph", "a b", "do", "node"}, []string{"3 nodes, 1 edge", "n2 hears nobody"}},
		{[]string{"graph", "0 1\n1 2", "toggle", "0~2"}, []string{"3 nodes, 3 edges"}},
		{[]string{"graph", "0 1\n1 2", "pick", "1"}, []string{"Node 1 is chosen", "Remove the edge from 1 to 2"}},
	} {
		got := h.doctorWith(t, test.query...)
		if got.StatusCode != 200 || strings.Contains(got.body, "role=\"alert\"") {
			t.Errorf("%q: %s", test.query, got.Status)
		}
		for _, want := range test.want {
			if !strings.Contains(got.body, want) {
				t.Errorf("%q: the page lacks %q", test.query, want)
			}
		}
	}
}

// TestDoctorMistakes: every mistake is told, with what is allowed.
func TestDoctorMistakes(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	for want, query := range map[string][]string{
		"from 1 to 40":                 {"do", "build", "n", "41"},
		"whole number":                 {"do", "build", "n", "7.5"},
		"did you mean":                 {"do", "build", "family", "rinq"},
		"KEY=VALUE":                    {"do", "build", "family", "ring", "params", "3"},
		"synod graph check FILE takes": {"graph", "# nodes 41\n0 1"},
		"two names (an edge)":          {"graph", "a b c"},
		"edge to itself":               {"graph", "0 1", "toggle", "0~0"},
		"there is an edge":             {"graph", "0 1", "do", "add", "from", "0", "to", "1"},
		"there is no edge":             {"graph", "0 1\n2 0", "do", "remove", "from", "1", "to", "2"},
		"bytes; at most":               {"graph", strings.Repeat("0 1 # long\n", 2000)},
		"as many in each":              {"graph", "0 1 1\n1 0\n1 1 0"},
		"such as 0~1":                  {"graph", "0 1", "toggle", "0~2"},
		"synod graph new er":           {"do", "build", "family", "er", "n", "21"},
		"2000 draws":                   {"do", "build", "family", "er", "n", "20", "params", "r=9 p=0.1 tries=90000"},
	} {
		got := h.doctorWith(t, query...)
		alert := regexp.MustCompile(`(?s)role="alert">(.*?)</p>`).FindStringSubmatch(got.body)
		if alert == nil || !strings.Contains(alert[1], want) {
			t.Errorf("%.60q: the page does not say %q: %q", query, want, alert)
		}
	}
}

// entered matches what a field of a form holds: the text as it was entered.
var entered = regexp.MustCompile(`(?s)<textarea[^>]*>.*?</textarea>| value="[^"]*"`)

// TestDoctorLinks: a graph with hostile names stays in its texts, and the links of the nodes lead to the graph with
// one edge more or less.
func TestDoctorLinks(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	hostile := `{"nodes": ["\"><script>alert(1)</script>", "b'onload=x", "javascript:alert(2)", "\u202ed"],
		"edges": [[0,1],[1,2],[2,3]]}`
	got := h.doctorWith(t, "graph", hostile, "pick", "b'onload=x")
	for _, bad := range []string{"<script>alert", "'onload=x ", `href="javascript:`, "\u202e"} {
		if strings.Contains(entered.ReplaceAllString(got.body, ""), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	got = h.doctorWith(t, "graph", "0 1\n1 2\n2 3", "pick", "0")
	link := regexp.MustCompile(`id="node-3" href="([^"]+)"`).FindStringSubmatch(got.body)
	if link == nil {
		t.Fatal(got.body)
	}
	to := html.UnescapeString(link[1])
	if after := h.get(t, to); !strings.Contains(after.body, "4 nodes, 4 edges") {
		t.Error(to)
	}
	got = h.doctorWith(t, "graph", "0 1\n1 2\n2 3")
	better := regexp.MustCompile(`class="button" href="(/doctor[^"]+)">Add them`).FindStringSubmatch(got.body)
	if better == nil {
		t.Fatal(got.body)
	}
	if after := h.get(t, html.UnescapeString(better[1])); !strings.Contains(after.body, "r = 2") {
		t.Error(better[1])
	}
}

// TestDoctorReadsBack: what an address carries is the graph.
func TestDoctorReadsBack(t *testing.T) {
	for _, family := range topology.Catalogue.Names() {
		if family == "edges" {
			continue
		}
		for n := 2; n <= doctorNodes; n += 7 {
			f := doctorForm{Family: family, N: n}
			file, err := buildFamily(&f)
			if err != nil {
				continue // there is no such graph
			}
			again, err := readGraph(graphText(file))
			if err != nil || !again.Graph.Equal(file.Graph) {
				t.Errorf("%s on %d nodes: %v", family, n, err)
			}
		}
	}
}

// FuzzDoctor: no text makes the doctor panic, and what it reads it reads back.
func FuzzDoctor(f *testing.F) {
	for _, text := range []string{"0 1", "a b\nb c", "01\n10", "0 1 1\n1 0 1\n1 1 0", "{}", "<graphml>", "graph {",
		"# nodes 3", "# directed\n0 1", "1", "0\n", "]\n["} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := readGraph(text)
		if err != nil {
			return
		}
		again, err := readGraph(graphText(file))
		if err != nil || !again.Graph.Equal(file.Graph) {
			t.Errorf("%q was read, and %q was not: %v", text, graphText(file), err)
		}
		if s := inWords(format.File{Graph: file.Graph}); !strings.HasPrefix(s, fmt.Sprint(file.Graph.N())) {
			t.Error(s)
		}
	})
}
