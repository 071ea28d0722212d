package page

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/topology"
)

// doctorPart is the topology doctor: it draws a graph and says how robust it is, why not more, and what to add. All
// that it knows is in the address, so that a result can be shared, and graphs are changed by links and buttons
// without a script.
var doctorPart = part{name: "Topology", path: "/doctor", routes: map[string]handler{"GET /doctor": doctor}}

// The bounds of what a viewer may have the doctor compute.
const (
	doctorNodes   = 40
	doctorRounds  = 1000
	doctorDrawn   = 20   // nodes of a graph that is drawn until it is robust
	doctorTries   = 2000 // draws of it
	doctorTime    = 2 * time.Second
	doctorAtOnce  = 2
	doctorMaxText = 16 << 10
)

// doctorSeats are slots for searches that run at the same time.
var doctorSeats = make(chan struct{}, doctorAtOnce)

// doctorForm is what a viewer has asked.
type doctorForm struct {
	Family, Params string
	N              int
	Text           string // the graph as an edge list; "": the family's
	Rounds         int
	F              int // for which edges are suggested; -1: one more than the graph is good for
	From, To       string
	Pick           string // the node that was clicked first; "": none
}

// doctorPage is what the page shows.
type doctorPage struct {
	Form     doctorForm
	Families []familyView
	Problem  string
	Graph    *doctorDrawing // nil: there is no graph
	Result   *diagnosis     // nil: there is no graph
	Names    []string
	Most     int
	MayEdit  bool // a council may be made of the graph
}

// familyView is a family that can be picked.
type familyView struct {
	Name, Summary, Known string
	Params               []topology.Param
}

func families() (all []familyView) {
	for _, name := range topology.Catalogue.Names() {
		if name == "edges" {
			continue // the graph as a text is that
		}
		if e, err := topology.Catalogue.Find(name); err == nil {
			all = append(all, familyView{name, e.Summary, e.Known, e.Params()})
		}
	}
	return all
}

func doctor(v *visit) error {
	d := &doctorPage{Families: families(), Most: doctorNodes, MayEdit: v.mayEdit() == nil}
	file, err := d.read(v.R.URL.Query())
	if err == nil {
		select {
		case doctorSeats <- struct{}{}:
			defer func() { <-doctorSeats }()
		case <-v.R.Context().Done():
			return problemf(http.StatusServiceUnavailable, "The doctor was busy.")
		}
		d.show(file)
	} else {
		d.Problem = err.Error()
	}
	return v.show("doctor.html", "Topology doctor", d)
}

// read reads the form and returns the graph after the change that was asked for.
func (d *doctorPage) read(q url.Values) (format.File, error) {
	d.Form = doctorForm{Family: "merg", N: 7, Rounds: 6, F: -1}
	f := &d.Form
	if q.Has("family") {
		f.Family = q.Get("family")
	}
	f.Params, f.Text, f.From, f.To, f.Pick = q.Get("params"), q.Get("graph"), q.Get("from"), q.Get("to"), q.Get("pick")
	for _, x := range []struct {
		key         string
		into        *int
		least, most int
	}{{"n", &f.N, 1, doctorNodes}, {"rounds", &f.Rounds, 0, doctorRounds}, {"f", &f.F, 0, doctorNodes}} {
		text := strings.TrimSpace(q.Get(x.key))
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < x.least || n > x.most {
			return format.File{}, fmt.Errorf("%s is %q; it must be a whole number from %d to %d", x.key, text, x.least,
				x.most)
		}
		*x.into = n
	}
	do := q.Get("do")
	if f.Text == "" || do == "build" {
		f.Pick = ""
		return buildFamily(f)
	}
	file, err := readGraph(f.Text)
	if err != nil {
		return file, err
	}
	switch {
	case do == "add" || do == "remove":
		return changeEdge(file, f.From, f.To, do)
	case q.Has("toggle"):
		return toggleEdge(file, q.Get("toggle"))
	case do == "node":
		return addNode(file)
	}
	return file, nil
}

// buildFamily builds the graph that the form names.
func buildFamily(f *doctorForm) (format.File, error) {
	params := map[string]any{}
	for _, word := range strings.FieldsFunc(f.Params, func(r rune) bool { return r == ' ' || r == ',' }) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return format.File{}, fmt.Errorf("the parameters have %q; write KEY=VALUE, such as degree=4 seed=1", word)
		}
		params[key] = scalar(value)
	}
	if f.Family == "er" {
		if f.N > doctorDrawn {
			return format.File{}, fmt.Errorf("er is drawn until it is robust, here for at most %d nodes: synod graph "+
				"new er -n %d takes more", doctorDrawn, f.N)
		}
		if tries, ok := params["tries"].(int); !ok || tries > doctorTries {
			params["tries"] = doctorTries
		}
	}
	if f.Family == "edges" {
		return format.File{}, fmt.Errorf("give the edges as a text")
	}
	b, err := topology.Build(f.Family, f.N, params, 0)
	return format.File{Graph: b.Graph}, err
}

// scalar is a parameter as YAML would read it.
func scalar(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x
	}
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	return text
}

// readGraph reads a graph that was typed: rows of zeros and ones, or any format of package format.
func readGraph(text string) (format.File, error) {
	if len(text) > doctorMaxText {
		return format.File{}, fmt.Errorf("the graph has %d bytes; at most %d are read here: synod graph check FILE "+
			"takes larger ones", len(text), doctorMaxText)
	}
	file, matrix, err := readMatrix(text)
	if !matrix {
		file, err = formatOf(text).Parse([]byte(text))
	}
	switch {
	case err != nil:
		return file, err
	case file.Graph.N() == 0:
		return file, fmt.Errorf("the graph has no nodes; write an edge on each line, such as: 0 1")
	case file.Graph.N() > doctorNodes:
		return file, fmt.Errorf("the graph has %d nodes; this page takes %d: synod graph check FILE takes more",
			file.Graph.N(), doctorNodes)
	}
	return file, nil
}

// formatOf guesses the format of a text.
func formatOf(text string) format.Format {
	name, start := "edges", strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(start, "{"):
		name = "json"
	case strings.HasPrefix(start, "<"):
		name = "graphml"
	case strings.HasPrefix(start, "graph"), strings.HasPrefix(start, "digraph"), strings.HasPrefix(start, "strict"):
		name = "dot"
	}
	f, err := format.Find(name)
	if err != nil {
		panic(err) // the names are constant
	}
	return f
}

// readMatrix reads an adjacency matrix: n rows of n zeros and ones, where row u has a 1 for each node that hears u.
// It is false for a text that is none.
func readMatrix(text string) (file format.File, matrix bool, err error) {
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;[]\t\r", r) })
		if len(fields) == 1 && len(fields[0]) > 1 && strings.Trim(fields[0], "01") == "" {
			fields = strings.Split(fields[0], "")
		}
		for _, x := range fields {
			if x != "0" && x != "1" {
				return file, false, nil
			}
		}
		rows = append(rows, fields)
	}
	n := len(rows)
	if n < 2 || len(rows[0]) != n {
		return file, false, nil
	}
	var edges [][2]int
	directed := false
	for u, row := range rows {
		if len(row) != n {
			return file, true, fmt.Errorf("line %d: the row has %d numbers; a matrix of %d rows has as many in each",
				u+1, len(row), n)
		}
		for w, x := range row {
			if x == "1" {
				edges = append(edges, [2]int{u, w})
				directed = directed || rows[w] == nil || len(rows[w]) <= u || rows[w][u] != "1"
			}
		}
	}
	if !directed {
		edges = slices.DeleteFunc(edges, func(e [2]int) bool { return e[0] > e[1] })
	}
	file.Graph, err = graph.New(n, directed, edges)
	return file, true, err
}

// toggleEdge adds or removes the edge between two nodes that are named by their numbers, as I~J.
func toggleEdge(file format.File, pair string) (format.File, error) {
	var u, w int
	if _, err := fmt.Sscanf(pair, "%d~%d", &u, &w); err != nil || min(u, w) < 0 || max(u, w) >= file.Graph.N() {
		return file, fmt.Errorf("toggle is %q; it must be two nodes, such as 0~1", pair)
	}
	return changeEdge(file, file.Name(u), file.Name(w), "toggle")
}

// changeEdge adds an edge, removes it, or does what changes something.
func changeEdge(file format.File, from, to, do string) (format.File, error) {
	g := file.Graph
	u, err := file.Node(from)
	if err != nil {
		return file, err
	}
	w, err := file.Node(to)
	if err != nil {
		return file, err
	}
	has := g.HasEdge(u, w)
	switch {
	case u == w:
		return file, fmt.Errorf("a node needs no edge to itself: choose two nodes")
	case do == "add" && has:
		return file, fmt.Errorf("there is an edge between %s and %s", from, to)
	case do == "remove" && !has:
		return file, fmt.Errorf("there is no edge between %s and %s", from, to)
	}
	edges := g.Edges()
	if has {
		edges = slices.DeleteFunc(edges, func(e [2]int) bool {
			return e == [2]int{u, w} || !g.Directed() && e == [2]int{w, u}
		})
	} else {
		edges = append(edges, [2]int{u, w})
	}
	file.Graph, err = graph.New(g.N(), g.Directed(), edges)
	return file, err
}

// addNode adds a node without edges.
func addNode(file format.File) (format.File, error) {
	g := file.Graph
	if g.N() == doctorNodes {
		return file, fmt.Errorf("the graph has %d nodes, as many as this page takes", doctorNodes)
	}
	var err error
	if file.Names != nil {
		name := fmt.Sprint("n", g.N())
		for slices.Contains(file.Names, name) {
			name += "x"
		}
		file.Names = append(slices.Clone(file.Names), name)
	}
	file.Graph, err = graph.New(g.N()+1, g.Directed(), g.Edges())
	return file, err
}

// address is the address of the page with a graph; changes replace parameters.
func (f *doctorForm) address(changes ...string) string {
	q := url.Values{"graph": {f.Text}, "family": {f.Family}, "n": {strconv.Itoa(f.N)}}
	if f.Params != "" {
		q.Set("params", f.Params)
	}
	if f.Rounds != 6 {
		q.Set("rounds", strconv.Itoa(f.Rounds))
	}
	if f.F >= 0 {
		q.Set("f", strconv.Itoa(f.F))
	}
	for i := 0; i < len(changes); i += 2 {
		q.Set(changes[i], changes[i+1])
	}
	return "/doctor?" + q.Encode()
}

// graphText writes a graph as it is kept in addresses.
func graphText(file format.File) string {
	f, err := format.Find("edges")
	if err != nil {
		panic(err) // the name is constant
	}
	return string(f.Write(file))
}

// nodes lists the names of nodes in words.
func nodes(file format.File, set []int) string {
	names := make([]string, len(set))
	for k, i := range set {
		names[k] = file.Name(i)
	}
	return strings.Join(names, ", ")
}
