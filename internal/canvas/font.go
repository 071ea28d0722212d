package canvas

import (
	"fmt"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// sans is parsed when the first text is measured, not when the program starts.
var sans = sync.OnceValue(func() *sfnt.Font {
	f, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		panic(fmt.Sprintf("canvas: the embedded font: %v", err))
	}
	return f
})

// advance returns the width of a text of size 1.
func advance(text string) (width float64) {
	f, buffer := sans(), new(sfnt.Buffer)
	unit := fixed.I(int(f.UnitsPerEm()))
	for _, r := range text {
		glyph, err := f.GlyphIndex(buffer, r)
		if err != nil {
			continue // the embedded font has an index for every character, 0 for those that it lacks
		}
		if w, err := f.GlyphAdvance(buffer, glyph, unit, font.HintingNone); err == nil {
			width += float64(w) / float64(unit)
		}
	}
	return width
}

// outlines calls glyph with the outline of every letter of a text of size 1 and the place of its origin. In an outline
// y grows downwards, and a size of 1 is scale.
func outlines(text string, glyph func(outline sfnt.Segments, x, scale float64)) {
	f, buffer, x := sans(), new(sfnt.Buffer), 0.0
	unit := fixed.I(int(f.UnitsPerEm()))
	for _, r := range text {
		i, err := f.GlyphIndex(buffer, r)
		if err != nil {
			continue
		}
		if outline, err := f.LoadGlyph(buffer, i, unit, nil); err == nil {
			glyph(outline, x, float64(unit))
		}
		if w, err := f.GlyphAdvance(buffer, i, unit, font.HintingNone); err == nil {
			x += float64(w) / float64(unit)
		}
	}
}
