package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the file formats of drawings.
var Formats = []string{"svg", "pdf", "png"}

// perInch is the number of pixels of PNG files per inch.
const perInch = 144

// File returns a drawing as a file of one of the Formats: a white rectangle of a size in points, on which fill draws.
// The same drawing has the same bytes.
func File(format string, width, height vg.Length, fill func(draw.Canvas)) ([]byte, error) {
	var on interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		on = vgsvg.New(width, height)
	case "pdf":
		on = newPDF(width, height)
	case "png":
		on = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(perInch))}
	default:
		return nil, fmt.Errorf("chart: %q is not one of the formats %s", format, strings.Join(Formats, ", "))
	}
	c := draw.New(on)
	c.FillPolygon(White, corners(c.Min, c.Max))
	fill(c)
	var b bytes.Buffer
	if _, err := on.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("chart: write the %s file: %w", format, err)
	}
	if format == "svg" {
		return plainSVG(b.String())
	}
	return b.Bytes(), nil
}

func corners(a, b vg.Point) []vg.Point { return []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}} }

var (
	svgRoot  = regexp.MustCompile(`(?s)^.*?<svg ([^>]*)>`)
	svgStyle = regexp.MustCompile(`style="([^"]*)"`)
	svgText  = regexp.MustCompile(`<text ([^>]*font-size="([^"]*)px"[^>]*)>([^<]*)</text>`)
)

// plainSVG turns styles into attributes, because the policies of pages forbid styles, and names fonts whose letters are
// as wide as those of the font with which texts were measured. A reader whose system has none of these gets the texts
// in another font, stretched to their measured width.
func plainSVG(doc string) ([]byte, error) {
	doc = svgRoot.ReplaceAllString(doc, `<svg $1 font-family="'Liberation Sans',Arial,Helvetica,sans-serif">`)
	doc = svgStyle.ReplaceAllStringFunc(doc, func(style string) string {
		var attributes []string
		for _, s := range strings.Split(style[len(`style="`):len(style)-1], ";") {
			name, value, _ := strings.Cut(s, ":")
			if !strings.HasPrefix(name, "font-") || name == "font-size" {
				attributes = append(attributes, name+`="`+value+`"`)
			}
		}
		return strings.Join(attributes, " ")
	})
	var failed error
	doc = svgText.ReplaceAllStringFunc(doc, func(element string) string {
		part := svgText.FindStringSubmatch(element)
		text, escaped := html.UnescapeString(part[3]), new(strings.Builder)
		size, err := strconv.ParseFloat(part[2], 64)
		if err == nil {
			err = xml.EscapeText(escaped, []byte(text)) // replaces characters that XML does not have
		}
		if err != nil {
			failed = fmt.Errorf("chart: the text %q: %w", text, err)
		}
		return fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`,
			float64(Text(vg.Length(size), Ink).Width(text)), strings.ReplaceAll(part[1], "\n\t", " "), escaped)
	})
	return []byte(doc), failed
}
