package chart

import (
	"image/color"
	"math"
)

// The colours of all drawings. Colour-blind readers can tell them apart (Okabe and Ito 2008).
var (
	Blue      = rgb(0x0072b2)
	Orange    = rgb(0xe69f00)
	Green     = rgb(0x009e73)
	Purple    = rgb(0xcc79a7)
	Sky       = rgb(0x56b4e9)
	Vermilion = rgb(0xd55e00)
	Yellow    = rgb(0xf0e442)

	Red   = rgb(0xc02a10) // of Byzantine members in charts, where thin lines must be seen
	Plum  = rgb(0xa01e6e) // of a paper's figures
	Ink   = rgb(0x222222) // of texts and axes
	Grey  = rgb(0x8c8c8c) // of lines to compare with, such as chance
	Grid  = rgb(0xdddddd) // of lines behind a chart
	White = rgb(0xffffff)
)

// Series are the colours of lines and bars in their order. With more of them, the colours repeat.
var Series = []color.RGBA{Blue, Orange, Green, Purple, Sky, Vermilion}

func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 255}
}

// Mix returns the colour that lies a share, from 0 to 1, of the way from one colour to another.
func Mix(from, to color.RGBA, share float64) color.RGBA {
	share = min(max(share, 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + share*(float64(b)-float64(a)))) }
	return color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 255}
}

// Pale mixes a colour with white, two parts to three.
func Pale(c color.RGBA) color.RGBA { return Mix(White, c, .4) }
