package graph

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// SVG draws as a scalable image, one file without references.
func (d Drawing) SVG() ([]byte, error) {
	s, err := d.picture()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif">`+"\n", s.width, s.height)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#ffffff"/>`+"\n", s.width, s.height)
	for _, l := range s.lines {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>`+"\n",
			l.from.x, l.from.y, l.shaft().x, l.shaft().y, cssColour(l.colour), l.width)
		if tip := l.tip(); tip != nil {
			fmt.Fprintf(&b, `<polygon points="%.1f,%.1f %.1f,%.1f %.1f,%.1f" fill="%s"/>`+"\n",
				tip[0].x, tip[0].y, tip[1].x, tip[1].y, tip[2].x, tip[2].y, cssColour(l.colour))
		}
	}
	for _, c := range s.discs {
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s" stroke="%s" stroke-width="%.1f"/>`+"\n",
			c.at.x, c.at.y, c.radius, cssColour(c.fill), cssColour(c.edge), c.ring)
	}
	for _, t := range s.texts {
		anchor := "middle"
		if t.left {
			anchor = "start"
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-size="%.1f" text-anchor="%s" dominant-baseline="central" fill="%s">`,
			t.at.x, t.at.y, t.size, anchor, cssColour(t.colour))
		if err := xml.EscapeText(&b, []byte(t.text)); err != nil {
			return nil, err
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String()), nil
}

// tip is the triangle at the end of an arrow; nil for a plain line.
func (l sceneLine) tip() []point {
	along := l.to.minus(l.from)
	if !l.arrow || along.length() == 0 {
		return nil
	}
	along = along.times(1 / along.length())
	across, base := point{-along.y, along.x}.times(3.5+.8*(l.width-1.2)), l.to.minus(along.times(l.tipLength()))
	return []point{l.to, base.plus(across), base.minus(across)}
}

func (l sceneLine) tipLength() float64 { return 9 + 1.5*(l.width-1.2) }

// shaft is where the line ends: under its tip, which a wide line would blunt.
func (l sceneLine) shaft() point {
	along := l.to.minus(l.from)
	if !l.arrow || along.length() < l.tipLength() {
		return l.to
	}
	return l.to.minus(along.times((l.tipLength() - 2) / along.length()))
}
