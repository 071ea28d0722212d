package report

import (
	"fmt"
	"regexp"
	"strings"
)

// TableSpec describes a table of a grid in the layout of a paper.
type TableSpec struct {
	Name    string            `yaml:"name" json:"name" doc:"name of the table" example:"table1"`
	Caption string            `yaml:"caption" json:"caption,omitempty" doc:"what it shows"`
	Rows    string            `yaml:"rows" json:"rows" doc:"the parameters that name its rows, the one that changes slowest first" example:"protocol graph"`
	Columns string            `yaml:"columns" json:"columns" doc:"the figures of its columns; before>after has two figures in one column" example:"iaa faa weak_before>weak_after"`
	Bold    string            `yaml:"bold" json:"bold,omitempty" doc:"parameters: among the rows with the same values of them the highest figure of a column is bold; of two figures in a column the second counts" example:"graph"`
	Where   map[string]string `yaml:"where" json:"where,omitempty" doc:"only cells with these values of parameters; * stands for anything" example:"{adversary: replay}"`
	Order   []string          `yaml:"order" json:"order,omitempty" doc:"values of parameters in the order of their rows; others follow" example:"[cp-wbft, sac]"`
	Labels  map[string]string `yaml:"labels" json:"labels,omitempty" doc:"texts for parameters, their values, and columns" example:"{sac: SAC (Ours)}"`
}

// Check reports an impossible setting.
func (s *TableSpec) Check() error {
	switch {
	case !tableName.MatchString(s.Name):
		return fmt.Errorf("name is %q; it must have lower-case letters, digits and hyphens (example: table1)", s.Name)
	case len(s.params()) == 0 || len(strings.Fields(s.Columns)) == 0:
		return fmt.Errorf("%s: rows and columns must name parameters and figures (example: rows: protocol graph, "+
			"columns: iaa faa)", s.Name)
	}
	return nil
}

func (s *TableSpec) params() []string { return strings.Fields(s.Rows) }

// Params returns the parameters that the table needs.
func (s *TableSpec) Params() []string {
	return append(s.params(), strings.Fields(s.Bold)...)
}

var tableName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,60}$`)
