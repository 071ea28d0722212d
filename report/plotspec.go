package report

// PlotSpec describes a figure to draw from the cells of a grid.
type PlotSpec struct {
	Name string `yaml:"name" json:"name" doc:"name of the file, without its end" example:"fig7"`
}

// Check reports an impossible setting.
func (p *PlotSpec) Check() error { return nil }
