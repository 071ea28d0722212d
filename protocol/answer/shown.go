package answer

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/script"
)

// Shown returns the reasoning of another member as the guards of a seat let its model see it: cleaned, cut to max
// bytes, and with Guards.DropMeta without sentences about members and instructions.
func Shown(seat *synod.Seat, text string, max int) string {
	g := &seat.Guards
	if text == "" || max == 0 {
		return ""
	}
	if g.DropMeta {
		text = withoutMeta(text, seat.Question.Text)
	}
	return clean.Text(text, max, clean.How{Lines: g.NoFence, Tokens: g.KeepTokens})
}

// untyped returns the question as one of free text, with Guards.Untyped; nil without it, and for forms whose
// answers are long.
func untyped(seat *synod.Seat) *synod.Question {
	if q := seat.Question; seat.Guards.Untyped && !q.Form.Long() && q.Form != synod.Stance {
		text := *q
		text.Form, text.Options = synod.Text, nil
		return &text
	}
	return nil
}

// Peer returns a neighbour's response as a list of answers in a prompt has it.
func (m *Member) Peer(from synod.NodeID, r *synod.Response, score synod.Score) synod.Rated {
	return synod.Rated{Answer: r.Answer, Score: score, Rationale: r.Rationale, Name: NameOf(m.Me.Seat(), from)}
}

// NameOf returns the name of a seat for a list of answers in a prompt; "" unless the guards of the seat that asks
// say that members are named.
func NameOf(seat *synod.Seat, of synod.NodeID) string {
	if !seat.Guards.Named || int(of) >= len(seat.Names) {
		return ""
	}
	return seat.Names[of]
}

// Drawn puts a list in the order that a seat draws, with Guards.DrawOrder; else it stays. The order follows from the
// seat's secret and from who sent each entry, so nobody can foresee its place or choose it by what it sends, and an
// entry is first as often as any other. An order by content would not do: entries that are alike would stand together,
// and one with a text of its own would be first as often as all that agree.
func Drawn[T any](seat *synod.Seat, list []T, from func(T) synod.NodeID) {
	if !seat.Guards.DrawOrder || len(list) < 2 {
		return
	}
	slices.SortStableFunc(list, func(a, b T) int { return CompareDrawn(seat, from(a), from(b)) })
}

// CompareDrawn compares the places that two senders have in the order of Drawn. It returns 0 without Guards.DrawOrder.
func CompareDrawn(seat *synod.Seat, a, b synod.NodeID) int {
	if !seat.Guards.DrawOrder {
		return 0
	}
	place := func(id synod.NodeID) uint64 { return script.Derive(seat.Seed^0x0de5, uint64(id)) }
	return cmp.Compare(place(a), place(b))
}

// DrawnHeard returns what was heard in the order in which a prompt lists it: as Drawn says.
func DrawnHeard(seat *synod.Seat, heard []Heard) []Heard {
	if !seat.Guards.DrawOrder {
		return heard
	}
	heard = slices.Clone(heard)
	Drawn(seat, heard, func(h Heard) synod.NodeID { return h.From })
	return heard
}
