package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod/bench/report"
)

// Claim is a statement of the paper's text about the cells: a difference and its direction.
type Claim struct {
	Name    string         `yaml:"name" doc:"name of the claim" example:"bfti"`
	Text    string         `yaml:"text" doc:"what the paper says" example:"SAC's BFTI exceeds CP-WBFT's on every graph"`
	Cite    string         `yaml:"cite" doc:"where it says so" example:"§5.3, Table 1"`
	Figure  string         `yaml:"figure" doc:"the figure that is compared" example:"bfti"`
	Of      map[string]any `yaml:"of" doc:"condition of the cells whose figure it is; of several the mean" example:"{protocol: sac}"`
	Than    map[string]any `yaml:"than" doc:"condition of the cells whose figure is subtracted; absent: value is" example:"{protocol: cp-wbft}"`
	Against string         `yaml:"than_figure" doc:"the figure that is subtracted; default: figure. Without than it is that of the same cells" example:"strong_before"`
	Times   *float64       `yaml:"times" doc:"what the subtracted figure is multiplied with; default: 1. At least halves is: is: less, times: 0.5"`
	Value   float64        `yaml:"value" doc:"what is subtracted where no cells are, in points"`
	Each    []string       `yaml:"each" doc:"axes or parameters for each of whose values the claim must hold; absent: for the mean" example:"[graph]"`
	Is      string         `yaml:"is" doc:"what the difference d is, m being the margin: more (d > m), less (d < -m), equal (within m), at-least (d >= -m), at-most (d <= m)" enum:"more|less|equal|at-least|at-most"`
	Margin  float64        `yaml:"margin" doc:"differences within it count as none, in points, or in units of a figure that is a count" range:"0:1000000"`
	Expect  *float64       `yaml:"expect" doc:"the paper's difference in points, where it prints no figures of the cells, for the power"`
	Control Control        `yaml:"control" doc:"where the effect must vanish; a claim needs one"`
}

// Control says in which cells the effect of a claim must vanish: extra ones, which are the claim's with an overlay, or
// others of the grid.
type Control struct {
	Name  string         `yaml:"name" doc:"name of the control; it begins the names of the extra cells" example:"no-exchange"`
	Text  string         `yaml:"text" doc:"what is different, and why the effect must vanish" example:"no exchange (rounds: 0)"`
	Set   map[string]any `yaml:"set" doc:"overlay of extra cells, which stand in for those of the claim" example:"{protocol: {rounds: 0}}"`
	Where map[string]any `yaml:"where" doc:"with set: only cells that meet this condition get an extra one; the others stay" example:"{protocol: sac}"`
	Of    map[string]any `yaml:"of" doc:"other cells in place of those of the claim" example:"{aggregate: mean}"`
	Than  map[string]any `yaml:"than" doc:"other cells in place of those that are subtracted"`
}

var claimName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}$`)

// checkClaims checks what can be checked without the cells.
func (m *Manifest) checkClaims() error {
	seen, sets := map[string]bool{}, map[string]string{}
	for i, c := range m.Claims {
		where := fmt.Sprintf("claims[%d]", i)
		if c.Name != "" {
			where += " (" + c.Name + ")"
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if err := checkKeys(where+".control.set", c.Control.Set); err != nil {
			return err
		}
		if seen[c.Name] {
			return fmt.Errorf("%s: two claims have this name", where)
		}
		seen[c.Name] = true
		text := fmt.Sprint(c.Control.Set)
		if old, ok := sets[c.Control.Name]; ok && old != text {
			return fmt.Errorf("%s: the control %s sets something else in another claim; give it another name", where,
				c.Control.Name)
		}
		sets[c.Control.Name] = text
	}
	return nil
}

func (c *Claim) check() error {
	switch {
	case !claimName.MatchString(c.Name):
		return fmt.Errorf("name is %q; it must be lower-case letters, digits and hyphens (example: bfti)", c.Name)
	case c.Text == "" || c.Cite == "":
		return fmt.Errorf("text and cite are what the paper says and where it says so; both are needed")
	case c.Figure == "" || len(c.Of) == 0:
		return fmt.Errorf("figure and of are missing: the figure of which cells (example: figure: bfti, of: " +
			"{protocol: sac})")
	case c.Is == "":
		return fmt.Errorf("is is missing; it must be more, less, equal, at-least or at-most")
	case !claimName.MatchString(c.Control.Name) || c.Control.Text == "":
		return fmt.Errorf("control needs a name (such as no-exchange) and a text: a claim that no control could fail " +
			"shows nothing")
	case len(c.Control.Set)+len(c.Control.Of)+len(c.Control.Than) == 0:
		return fmt.Errorf("control %s has neither set, of nor than, so it would be the claim itself", c.Control.Name)
	}
	return nil
}

// controls returns the extra cells of the controls: twins of cells that the claims compare, with the overlay of the
// control before those of the command line.
func (m *Manifest) controls(cells []*cell, build func(*cell, *Control) (*cell, error)) (all []*cell, err error) {
	made := map[string]bool{}
	for i := range m.Claims {
		c := &m.Claims[i]
		if len(c.Control.Set) == 0 {
			continue
		}
		of, than := c.Control.sides(c)
		for _, base := range cells {
			name := c.Control.Name + "." + base.name
			if made[name] || !(meets(of, base.vars) || len(than) > 0 && meets(than, base.vars)) ||
				!meets(c.Control.Where, base.vars) {
				continue
			}
			if !base.settings.runs() {
				continue // it keeps its figures
			}
			made[name] = true
			twin, err := build(base, &c.Control)
			if err != nil {
				return nil, err
			}
			all = append(all, twin)
		}
	}
	return all, nil
}

// sides returns the conditions of the cells of the control.
func (k *Control) sides(c *Claim) (of, than map[string]any) {
	of, than = c.Of, c.Than
	if len(k.Of) > 0 {
		of = k.Of
	}
	if len(k.Than) > 0 {
		than = k.Than
	}
	return of, than
}

// claimed returns the claims with the names of their cells. A claim about a cell that is not among the chosen ones is
// left out: it could only be judged in part.
func (m *Manifest) claimed(all, chosen []*cell) (claims []report.PaperClaim, err error) {
	names := map[string]bool{}
	for _, c := range chosen {
		names[c.name] = true
	}
	for i := range m.Claims {
		c := &m.Claims[i]
		out := report.PaperClaim{
			Name: c.Name, Text: c.Text, Cite: c.Cite, Figure: c.Figure, Against: cmp.Or(c.Against, c.Figure),
			Is: report.Direction(c.Is), Times: 1, Value: c.Value, Margin: c.Margin, Expect: c.Expect,
			Control: report.Control{Name: c.Control.Name, Text: c.Control.Text},
		}
		if c.Times != nil {
			out.Times = *c.Times
		}
		if out.Comparisons, err = c.compare(all, c.Of, c.Than); err != nil {
			return nil, fmt.Errorf("claims: %s: %w", c.Name, err)
		}
		of, than := c.Control.sides(c)
		if out.Control.Comparisons, err = c.compare(all, of, than); err != nil {
			return nil, fmt.Errorf("claims: %s: control: %w", c.Name, err)
		}
		if len(c.Control.Set) > 0 && !c.Control.swap(out.Control.Comparisons, all) {
			out.Control.Comparisons = nil // these members have no such control
		}
		if len(out.Comparisons) > 0 && !missing(out.Comparisons, names) {
			claims = append(claims, out)
		}
	}
	return claims, nil
}

// controls reports whether a cell is in the control of a claim.
func controls(claims []report.PaperClaim, name string) bool {
	return slices.ContainsFunc(claims, func(c report.PaperClaim) bool {
		return slices.ContainsFunc(c.Control.Comparisons, func(s report.Sides) bool {
			return slices.Contains(s.Of, name) || slices.Contains(s.Than, name)
		})
	})
}

// missing reports whether a comparison has a cell that is not in names.
func missing(all []report.Sides, names map[string]bool) bool {
	absent := func(name string) bool { return !names[name] }
	return slices.ContainsFunc(all, func(s report.Sides) bool {
		return slices.ContainsFunc(s.Of, absent) || slices.ContainsFunc(s.Than, absent)
	})
}

// swap puts the extra cells of the control in the place of those that they stand in for. It returns false if no
// comparison has one.
func (k *Control) swap(all []report.Sides, cells []*cell) (swapped bool) {
	twin := map[string]string{}
	for _, c := range cells {
		if c.control == k.Name {
			twin[c.base] = c.name
		}
	}
	for i := range all {
		for _, names := range [][]string{all[i].Of, all[i].Than} {
			for j, name := range names {
				names[j] = cmp.Or(twin[name], name)
				swapped = swapped || twin[name] != ""
			}
		}
	}
	return swapped
}

// compare returns the comparisons of cells that meet two conditions, one for each value of Each.
func (c *Claim) compare(cells []*cell, of, than map[string]any) (all []report.Sides, err error) {
	if err := c.checkConditions(cells); err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, cell := range cells {
		if cell.control != "" || !meets(of, cell.vars) {
			continue
		}
		key := c.key(cell)
		i, known := at[key]
		if !known {
			i, at[key] = len(all), len(all)
			all = append(all, report.Sides{At: key})
		}
		all[i].Of = append(all[i].Of, cell.name)
		if len(than) == 0 && c.Against != "" {
			all[i].Than = append(all[i].Than, cell.name)
		}
	}
	if len(than) == 0 {
		return all, nil
	}
	for i := range all {
		for _, cell := range cells {
			if cell.control == "" && meets(than, cell.vars) && c.key(cell) == all[i].At {
				all[i].Than = append(all[i].Than, cell.name)
			}
		}
		if len(all[i].Than) == 0 {
			return nil, fmt.Errorf("than: no cell meets it at %s", cmp.Or(all[i].At, "any value"))
		}
	}
	return all, nil
}

// key has the values of Each of a cell.
func (c *Claim) key(of *cell) string {
	var parts []string
	for _, name := range c.Each {
		parts = append(parts, fmt.Sprint(of.vars[name]))
	}
	return strings.Join(parts, ", ")
}

// checkConditions reports a name that no cell has.
func (c *Claim) checkConditions(cells []*cell) error {
	known := map[string]bool{}
	for _, of := range cells {
		for name := range of.vars {
			known[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	each := map[string]any{}
	for _, name := range c.Each {
		each[name] = ""
	}
	for _, of := range []struct {
		where     string
		condition map[string]any
	}{{"of", c.Of}, {"than", c.Than}, {"each", each}, {"control.where", c.Control.Where}, {"control.of", c.Control.Of},
		{"control.than", c.Control.Than}} {
		if err := checkConditions(of.where, []map[string]any{of.condition}, names); err != nil {
			return err
		}
	}
	return nil
}
