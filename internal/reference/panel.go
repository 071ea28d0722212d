package reference

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"

	"synod.dev/synod"
)

// Mark is the grades that a seat gave to one text.
type Mark struct {
	Of     synod.NodeID
	Text   string    // the hash of the text that it graded
	Grades []float64 // five, from 0 to 20; nil: it gave none
}

// Panel is protocol panel as docs/use/forms.md describes it.
type Panel struct {
	F         int
	Aggregate string
	Lenient   bool
}

// PanelSeat is what one seat noted.
type PanelSeat struct {
	Text  synod.Answer // its last text
	Given string       // the hash of the text of round 0, which the others graded
	Marks []Mark
}

// Decide returns the text with the highest total. lacking reports that too few members graded anything; near, that two
// totals are too near to one another to tell.
func (p *Panel) Decide(seats []PanelSeat) (answer synod.Answer, lacking, near bool) {
	texts, silent := make([]synod.Answer, len(seats)), 0
	for i, s := range seats {
		if HashOf(s.Text) == s.Given {
			texts[i] = s.Text
		}
		if len(s.Marks) == 0 {
			silent++
		}
	}
	if p.Lenient && len(distinct(texts)) == 0 || !p.Lenient && silent > p.F && len(seats) > 1 {
		return synod.None, true, false
	}
	best, _, near := p.Highest(seats)
	if best < 0 {
		return synod.None, false, near
	}
	return texts[best], false, near
}

// Highest returns the seat whose text has the highest total; -1: none has one. One cannot tell which seat it is if the
// totals of two are too near, and not which text if these differ.
func (p *Panel) Highest(seats []PanelSeat) (best int, nearSeat, nearText bool) {
	texts := make([]synod.Answer, len(seats))
	for i, s := range seats {
		if HashOf(s.Text) == s.Given {
			texts[i] = s.Text
		}
	}
	totals, within := p.totals(texts, seats)
	best = highest(texts, totals)
	for i := range totals {
		if best >= 0 && i != best && tooNear(totals, within, i, best) {
			nearSeat, nearText = true, nearText || texts[i] != texts[best]
		}
	}
	return best, nearSeat, nearText
}

// totals returns the total of each text; NaN: it has none. A missing grade uses up F for that text. A lenient panel
// goes by the grades that came where more than F members graded nothing, or no text has enough of them.
func (p *Panel) totals(texts []synod.Answer, seats []PanelSeat) (all, within []float64) {
	loose, none := 0, true
	for _, s := range seats {
		graded := false
		for _, m := range s.Marks {
			graded = graded || m.Grades != nil
		}
		if !graded {
			loose++
		}
	}
	for i := range texts {
		vectors := gradesOf(texts[i], synod.NodeID(i), seats)
		total, off := math.NaN(), 0.0
		if lost := len(seats) - 1 - len(vectors); texts[i] != synod.None && lost <= p.F {
			if x, w, ok := Total(p.Aggregate, vectors, p.F-lost); ok {
				total, off, none = x, w, false
			}
		}
		all, within = append(all, total), append(within, off)
	}
	if !p.Lenient || loose <= p.F && !none {
		return all, within
	}
	for i, text := range texts {
		all[i], within[i] = math.NaN(), 0
		if text == synod.None {
			continue
		}
		all[i] = 50 // nobody can tell how good it is
		if vectors := gradesOf(text, synod.NodeID(i), seats); len(vectors) > 0 {
			all[i], within[i], _ = Total("trimmed-mean", vectors, 0)
		}
	}
	return all, within
}

// gradesOf returns the grades of one text by all seats but its author's: each seat's first mark of the author, if it is
// about that very text.
func gradesOf(text synod.Answer, of synod.NodeID, seats []PanelSeat) (vectors [][]float64) {
	for by, s := range seats {
		for _, m := range s.Marks {
			if m.Of != of {
				continue
			}
			if by != int(of) && m.Text == HashOf(text) && valid(m.Grades) {
				vectors = append(vectors, m.Grades)
			}
			break
		}
	}
	return vectors
}

// valid reports whether grades are five numbers from 0 to 20.
func valid(grades []float64) bool {
	for _, x := range grades {
		if !(x >= 0 && x <= 20) {
			return false
		}
	}
	return len(grades) == 5
}

// highest returns the place of the highest total; -1: there is none. Between equal totals the larger hash of the salt
// and the hash of the text decides; the salt is a hash of the hashes of all texts.
func highest(texts []synod.Answer, totals []float64) int {
	var salt []byte
	for _, a := range texts {
		salt = append(salt, HashOf(a)...)
	}
	salted := sha256.Sum256(salt)
	ticket := func(i int) []byte {
		h := sha256.Sum256(append(bytes.Clone(salted[:]), HashOf(texts[i])...))
		return h[:]
	}
	best := -1
	for i, total := range totals {
		switch {
		case math.IsNaN(total):
		case best < 0, total > totals[best], total == totals[best] && bytes.Compare(ticket(i), ticket(best)) > 0:
			best = i
		}
	}
	return best
}

// HashOf returns the SHA-256 of a text in hexadecimal; "" for none.
func HashOf(a synod.Answer) string {
	if a == synod.None {
		return ""
	}
	h := sha256.Sum256([]byte(a))
	return hex.EncodeToString(h[:])
}
