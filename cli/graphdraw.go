package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/graph"
)

// drawFlags are the flags of "synod graph draw".
type drawFlags struct {
	patience
	source  graphSource
	place   placeFlag
	roles   []string
	witness bool
	layout  string
	title   string
	path    string
	format  string
}

func graphDrawCommand(a *app) *cobra.Command {
	var f drawFlags
	cmd := &cobra.Command{
		Use:   "draw FILE | --family FAMILY -n N",
		Short: "Draw a graph as SVG or PNG",
		Long: `Draws a graph. With --witness the two sets that prove that r is not larger stand
apart, and the edges stand out that cross into them: they are what is too few. Roles
are coloured; strong, weak and adversary have colours of their own.

` + placementLines(),
		Example: `  synod graph draw --family merg -n 7 -o merg.svg
  synod graph draw net.graphml --witness -o net.png
  synod graph draw --family tree -n 7 --role weak=3,4 --place root:1 -o tree.svg`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.draw(cmd, args, f) },
	}
	f.source.add(cmd)
	f.place.add(cmd, "colour the nodes that a rule picks as adversary")
	f.patience.add(cmd, "for the witness")
	fl := cmd.Flags()
	fl.StringArrayVar(&f.roles, "role", nil, "colour nodes: `ROLE=NODE,NODE…` (repeatable)")
	fl.BoolVar(&f.witness, "witness", false, "set the two sets apart that prove that r is not larger")
	fl.StringVar(&f.layout, "layout", "", strings.Join(graph.Layouts, ", ")+" (default: what suits the family)")
	fl.StringVar(&f.title, "title", "", "title (default: name, size and robustness)")
	fl.StringVarP(&f.path, "output", "o", "-", "draw to this `file`, .svg or .png; - is stdout")
	fl.StringVar(&f.format, "format", "", "svg or png (default: by the file's ending, svg on stdout)")
	return cmd
}

func (a *app) draw(cmd *cobra.Command, args []string, f drawFlags) error {
	paint, err := f.painter()
	if err != nil {
		return err
	}
	s, err := f.source.one(cmd, args)
	if err != nil {
		return err
	}
	d := graph.Drawing{Built: s.built, Names: s.file.Names, Title: f.title, Layout: f.layout}
	if d.Roles, err = f.colour(cmd, s); err != nil {
		return err
	}
	f.prove(cmd, s, &d)
	image, err := paint(d)
	if err != nil {
		return fail(exitUsage, err)
	}
	if f.path == "-" {
		_, err = cmd.OutOrStdout().Write(image)
	} else {
		err = os.WriteFile(f.path, image, 0o666)
	}
	if err != nil {
		return fail(exitError1, fmt.Errorf("write the drawing: %w", err))
	}
	return nil
}

// prove adds the witness, and robustness to the title: if that is all it is for, only
// where it is found at once.
func (f *drawFlags) prove(cmd *cobra.Command, s subject, d *graph.Drawing) {
	if !f.witness && d.Title != "" {
		return
	}
	if !f.witness {
		f.limit = cheap
	}
	res := graph.Robustness(s.file.Graph, f.start(cmd))
	if f.witness {
		d.Witness = res.Witness
	}
	if d.Title == "" {
		d.Title = fmt.Sprintf("%s: %s, %s, r=%s", oneLine(filepath.Base(s.name)), count(d.N(), "node"), count(d.EdgeCount(), "edge"),
			bounds(max(res.Lower, s.built.AtLeast), res.Upper))
	}
}

// painter is the writer for the format.
func (f *drawFlags) painter() (func(graph.Drawing) ([]byte, error), error) {
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
		return graph.Drawing.SVG, nil
	case "png":
		return graph.Drawing.PNG, nil
	}
	return nil, fail(exitUsage, fmt.Errorf("cannot draw as %q; give -o FILE.svg, -o FILE.png or --format", format))
}

// colour gives nodes their roles, as named and as placed.
func (f *drawFlags) colour(cmd *cobra.Command, s subject) ([]string, error) {
	if len(f.roles) == 0 && f.place.text == "" {
		return nil, nil
	}
	roles := make([]string, s.file.Graph.N())
	for _, r := range f.roles {
		role, list, ok := strings.Cut(r, "=")
		if !ok || role == "" {
			return nil, fail(exitUsage, fmt.Errorf("--role is %q; it must be ROLE=NODE,NODE…", r))
		}
		for _, name := range strings.Split(list, ",") {
			i, err := s.file.Node(name)
			if err != nil {
				return nil, fail(exitUsage, fmt.Errorf("--role %s: %w", role, err))
			}
			roles[i] = oneLine(role)
		}
	}
	placed, err := f.place.nodes(s, f.source.seed, f.start(cmd))
	for _, i := range placed {
		roles[i] = "adversary"
	}
	return roles, err
}
