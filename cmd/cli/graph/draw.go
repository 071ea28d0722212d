package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/graph/draw"
	"synod.dev/synod/graph/robustness"
)

// drawFlags are the flags of "synod graph draw".
type drawFlags struct {
	limit   timeLimit
	source  graphSource
	place   placeFlag
	roles   []string
	witness bool
	layout  string
	title   string
	path    string
	format  string
}

func graphDrawCommand(a *app.App) *cobra.Command {
	var f drawFlags
	cmd := &cobra.Command{
		Use:   "draw FILE | --family FAMILY -n N",
		Short: "Draw a graph as SVG, PDF or PNG",
		Long: `Draws a graph. With --witness it draws the two sets that prove that r is not larger
apart from each other, and highlights the edges that lead into them: there are too few
of these. Nodes with a role are coloured; strong, weak and adversary have fixed
colours.

` + placementLines(),
		Example: `  synod graph draw --family merg -n 7 -o merg.svg
  synod graph draw net.graphml --witness -o net.png
  synod graph draw --family tree -n 7 --role weak=3,4 --place root:1 -o tree.svg`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return drawGraph(cmd, args, f) },
	}
	f.source.add(cmd)
	f.place.add(cmd, "colour the nodes that a rule picks as adversaries")
	f.limit.add(cmd, "for the witness")
	fl := cmd.Flags()
	fl.StringArrayVar(&f.roles, "role", nil, "colour nodes: `ROLE=NODE,NODE…` (repeatable)")
	fl.BoolVar(&f.witness, "witness", false, "draw the two sets that prove that r is not larger apart from each other")
	fl.StringVar(&f.layout, "layout", "", strings.Join(draw.Layouts, ", ")+" (default: the one that suits the family)")
	fl.StringVar(&f.title, "title", "", "title (default: name, size and robustness)")
	fl.StringVarP(&f.path, "out", "o", "-", "draw to this `file`, .svg, .pdf or .png; - is stdout")
	fl.StringVar(&f.format, "format", "", "svg, pdf or png (default: by the file's ending, svg on stdout)")
	return cmd
}

func drawGraph(cmd *cobra.Command, args []string, f drawFlags) error {
	render, err := f.renderer()
	if err != nil {
		return err
	}
	s, err := f.source.one(cmd, args)
	if err != nil {
		return err
	}
	d := draw.Drawing{Graph: s.file.Graph, Names: s.file.Names, Title: f.title, Layout: f.layout,
		Layers: s.built.Layers}
	if d.Layout == "" && !f.witness {
		d.Layout = s.built.Layout
	}
	if d.Roles, err = f.nodeRoles(cmd, s); err != nil {
		return err
	}
	f.prove(cmd, s, &d)
	image, err := render(d)
	if err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	if f.path == "-" {
		_, err = app.RawOut(cmd).Write(image)
	} else {
		err = os.WriteFile(f.path, image, 0o666)
	}
	if err != nil {
		return app.Fail(app.ExitFailure, fmt.Errorf("write the drawing: %w", err))
	}
	return nil
}

// prove adds the witness, if it was asked for, and a title with the robustness, if none was given. Without --witness it
// searches for a short time only.
func (f *drawFlags) prove(cmd *cobra.Command, s namedGraph, d *draw.Drawing) {
	if !f.witness && d.Title != "" {
		return
	}
	limit := f.limit
	if !f.witness {
		limit.limit = quickLimit
	}
	res := robustness.Find(s.file.Graph, limit.start(cmd))
	if f.witness {
		d.Witness = res.Witness
	}
	if d.Title == "" {
		d.Title = fmt.Sprintf("%s: %s, %s, r=%s", app.OneLine(filepath.Base(s.name)), app.Count(d.Graph.N(), "node"),
			app.Count(d.Graph.EdgeCount(), "edge"),
			between(max(res.Lower, s.built.AtLeast), res.Upper))
	}
}

// renderer returns the function for the format.
func (f *drawFlags) renderer() (func(draw.Drawing) ([]byte, error), error) {
	format := f.format
	switch {
	case format != "":
	case f.path == "-":
		format = "svg"
	default:
		format = strings.ToLower(strings.TrimPrefix(filepath.Ext(f.path), "."))
	}
	switch format {
	case "svg":
		return draw.Drawing.SVG, nil
	case "pdf":
		return draw.Drawing.PDF, nil
	case "png":
		return draw.Drawing.PNG, nil
	}
	return nil, app.Fail(app.ExitUsage, fmt.Errorf("cannot draw as %q; give -o FILE.svg, -o FILE.pdf, -o FILE.png or "+
		"--format", format))
}

// nodeRoles returns the role of each node from --role and --place, or nil without these flags.
func (f *drawFlags) nodeRoles(cmd *cobra.Command, s namedGraph) ([]string, error) {
	if len(f.roles) == 0 && f.place.text == "" {
		return nil, nil
	}
	roles := make([]string, s.file.Graph.N())
	for _, r := range f.roles {
		role, list, ok := strings.Cut(r, "=")
		if !ok || role == "" {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("--role is %q; it must be ROLE=NODE,NODE…", r))
		}
		for _, name := range strings.Split(list, ",") {
			i, err := s.file.Node(name)
			if err != nil {
				return nil, app.Fail(app.ExitUsage, fmt.Errorf("--role %s: %w", role, err))
			}
			roles[i] = app.OneLine(role)
		}
	}
	placed, err := f.place.nodes(s, f.source.seed, f.limit.start(cmd))
	for _, i := range placed {
		roles[i] = "adversary"
	}
	return roles, err
}
