package campaign

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"synod.dev/synod"
)

// recombiner changes one message with what insiders know.
type recombiner struct {
	*knowledge
	r *rand.Rand
	v reflect.Value // the message

	unknown bool // texts of which nobody has sent one yet are taken for signatures
}

// node is a part of the message.
type node struct {
	v   reflect.Value
	key part
}

// nodes returns the parts of the message that a condition holds for.
func (c *recombiner) nodes(which func(v reflect.Value) bool) []node { return nodesIn(c.v, which) }

func nodesIn(v reflect.Value, which func(v reflect.Value) bool) (all []node) {
	walk(v, "", func(v reflect.Value, field string) {
		if which(v) {
			all = append(all, node{v, partOf(v, field)})
		}
	})
	return all
}

func pick[T any](r *rand.Rand, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[r.IntN(len(all))], true
}

// changes has what each kind of fault does with a message. It returns false if it changed nothing.
var changes = map[string]func(*recombiner) bool{
	"lifted-signature":    (*recombiner).lift,
	"moved-part":          func(c *recombiner) bool { return c.move(&c.now) },
	"earlier-run":         func(c *recombiner) bool { return c.move(&c.earlier) },
	"repeated-part":       (*recombiner).repeat,
	"missing-part":        (*recombiner).leaveOut,
	"invented-part":       (*recombiner).invent,
	"other-name":          (*recombiner).rename,
	"number-out-of-range": (*recombiner).renumber,
	"other-value":         (*recombiner).revalue,
}

// lift puts a signature that somebody made elsewhere in the place of one.
func (c *recombiner) lift() bool {
	at, ok := pick(c.r, c.nodes(func(v reflect.Value) bool { return c.signed(bytesIn(v)) }))
	sig, known := pick(c.r, c.now.signatures)
	if ok && known {
		setBytes(at.v, slices.Clone(sig))
	}
	return ok && known
}

// move puts a part of a message in the place of one: as often of one that is missing, of one that has parts itself,
// and of one that has none.
func (c *recombiner) move(from *pool) bool {
	at, ok := pick(c.r, c.nodes(isMissing))
	leaf := false
	if !ok || c.r.IntN(3) > 0 {
		leaf = c.r.IntN(2) == 0
		at, ok = pick(c.r, c.nodes(func(v reflect.Value) bool { return isLeaf(v) == leaf }))
	}
	if !ok {
		return false
	}
	other, ok := pick(c.r, from.parts[at.key])
	if !ok {
		return false
	}
	at.v.Set(cloned(other))
	if !leaf && c.r.IntN(2) == 0 {
		c.renumberIn(at.v)
	}
	return true
}

func isMissing(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice && !isLeaf(v) && v.Len() > 0 }

// inside makes a change to a value of a message that stands in it as bytes, such as a proposal that its leader signed.
func (c *recombiner) inside(change func(*recombiner) bool) bool {
	at, ok := pick(c.r, c.nodes(func(v reflect.Value) bool { return c.opened(bytesIn(v)).IsValid() }))
	if !ok {
		return false
	}
	in := recombiner{knowledge: c.knowledge, r: c.r, v: c.opened(bytesIn(at.v))}
	if c.r.IntN(3) == 0 { // what is signed is most often numbers
		change = (*recombiner).renumber
	}
	if !change(&in) {
		return false
	}
	in.sign()
	body, readable := written(in.v)
	setBytes(at.v, body)
	return readable
}

// repeat puts a part of a list at another place of it as well, at its end, or in the place of all others. At the end
// it may be another insider's.
func (c *recombiner) repeat() bool {
	at, ok := pick(c.r, c.nodes(isList))
	if !ok {
		return false
	}
	n := at.v.Len()
	again := at.v.Index(c.r.IntN(n))
	switch c.r.IntN(3) {
	case 0:
		again = cloned(again)
		if c.r.IntN(2) == 0 {
			walk(again, "", func(v reflect.Value, _ string) {
				if v.Type() == nodeID {
					v.SetInt(int64(c.insider()))
				}
			})
		}
		at.v.Set(reflect.Append(cloned(at.v), again))
	case 1:
		at.v.Index(c.r.IntN(n)).Set(cloned(again))
	default:
		again = cloned(again)
		for i := range n {
			at.v.Index(i).Set(cloned(again))
		}
	}
	return true
}

// leaveOut takes a part out of a list, or a part that a message need not have.
func (c *recombiner) leaveOut() bool {
	at, ok := pick(c.r, c.nodes(func(v reflect.Value) bool {
		return isList(v) || v.Kind() == reflect.Pointer && !v.IsNil()
	}))
	switch {
	case !ok:
		return false
	case at.v.Kind() == reflect.Pointer:
		at.v.SetZero()
	default:
		i := c.r.IntN(at.v.Len())
		at.v.Set(reflect.AppendSlice(at.v.Slice3(0, i, i), at.v.Slice(i+1, at.v.Len())))
	}
	return true
}

var nodeID = reflect.TypeFor[synod.NodeID]()

// insider returns the number of one of those who work together.
func (c *recombiner) insider() synod.NodeID { return c.x.Byzantine[c.r.IntN(len(c.x.Byzantine))] }

// invent makes up a part that is missing, or one in the place of another: with small numbers, texts that were heard,
// and signatures of insiders.
func (c *recombiner) invent() bool {
	at, ok := pick(c.r, c.nodes(isMissing))
	if !ok || c.r.IntN(4) == 0 {
		at, ok = pick(c.r, c.nodes(func(v reflect.Value) bool { return !isLeaf(v) }))
	}
	if c.unknown = c.r.IntN(4) > 0; ok {
		at.v.Set(c.made(at.v.Type(), ""))
	}
	return ok
}

// made returns a value of a type that stands in a field.
func (c *recombiner) made(t reflect.Type, field string) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == nodeID:
		v.SetInt(int64(c.insider()))
	case v.CanInt():
		v.SetInt(int64(c.r.IntN(3)))
		if seen, known := pick(c.r, c.now.parts[part{t, field}]); known && c.r.IntN(2) == 0 {
			v.Set(seen)
		}
	case isLeaf(v):
		c.fill(v, field)
	case t.Kind() == reflect.Struct:
		for i := range v.NumField() {
			settable(v.Field(i)).Set(c.made(t.Field(i).Type, t.Field(i).Name))
		}
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(c.made(t.Elem(), field))
	case t.Kind() == reflect.Slice:
		for range max(c.r.IntN(c.x.Total()), c.r.IntN(c.x.Total())) + 1 {
			v.Set(reflect.Append(v, c.made(t.Elem(), field)))
		}
	}
	return v
}

// fill puts something that was heard into a text, bytes or a number. A signature is a new one. So is a text of which
// nobody has sent one yet, if unknown is set.
func (c *recombiner) fill(v reflect.Value, field string) {
	heard, known := pick(c.r, c.now.parts[part{v.Type(), field}])
	if !known {
		heard, known = pick(c.r, c.now.leaves[v.Type()])
		known = known && !c.unknown
	}
	switch text := v.Kind() == reflect.String || v.Kind() == reflect.Slice; {
	case known && !c.signed(bytesIn(heard)):
		v.Set(heard)
	case text:
		setBytes(v, c.fresh())
	}
}

// rename tells what another member told as an insider's own: its number and its signatures are replaced, and those of
// others stay.
func (c *recombiner) rename() bool {
	var told []synod.NodeID
	walk(c.v, "", func(v reflect.Value, _ string) {
		if v.Type() == nodeID {
			told = append(told, synod.NodeID(v.Int()))
		} else if by, made := c.makers[string(bytesIn(v))]; made {
			told = append(told, by)
		}
	})
	who, ok := pick(c.r, told)
	as := c.insider()
	if !ok || who == as {
		return false
	}
	walk(c.v, "", func(v reflect.Value, _ string) {
		if v.Type() == nodeID && v.Int() == int64(who) {
			v.SetInt(int64(as))
		} else if by, made := c.makers[string(bytesIn(v))]; made && by == who {
			setBytes(v, c.fresh())
		}
	})
	return true
}

// renumber changes a number, often to one that is out of its range.
func (c *recombiner) renumber() bool { return c.renumberIn(c.v) }

// renumberIn changes a number in a part of the message: as often one of a member as another one.
func (c *recombiner) renumberIn(v reflect.Value) bool {
	members := c.r.IntN(2) == 0
	at, ok := pick(c.r, nodesIn(v, func(v reflect.Value) bool {
		return v.CanUint() && v.Kind() != reflect.Uint8 || v.CanFloat() || v.CanInt() && (v.Type() == nodeID) == members
	}))
	if !ok {
		return false
	}
	if at.v.CanFloat() {
		all := []float64{-1, 0, .5, 1, 20, 20.5, 21, math.NaN(), math.Inf(1), math.Inf(-1), at.v.Float() + 1}
		at.v.SetFloat(all[c.r.IntN(len(all))])
		return true
	}
	if at.v.CanUint() {
		at.v.SetUint(c.r.Uint64() >> c.r.IntN(64))
		return true
	}
	if at.v.Type() == nodeID && c.r.IntN(2) == 0 {
		at.v.SetInt(int64(c.insider()))
		return true
	}
	if seen, known := pick(c.r, c.now.parts[at.key]); known && c.r.IntN(3) == 0 {
		at.v.Set(seen)
		return true
	}
	old, n := at.v.Int(), int64(c.x.Total())
	all := []int64{old - 1, old + 1, old + 1, 0, 1, 2, n - 1, n, n + 1, -1, 127, 128, 1<<31 - 1}
	at.v.SetInt(all[c.r.IntN(len(all))])
	return true
}

// revalue changes a text or bytes that are no signature, or signs where nobody has signed.
func (c *recombiner) revalue() bool {
	at, ok := pick(c.r, c.nodes(func(v reflect.Value) bool { b := bytesIn(v); return b != nil && !c.signed(b) }))
	if !ok {
		return false
	}
	b := slices.Clone(bytesIn(at.v))
	other, known := pick(c.r, c.now.parts[at.key])
	switch k := c.r.IntN(8); {
	case known && (len(b) == 0 || k < 3):
		if b = slices.Clone(bytesIn(other)); c.signed(b) {
			b = c.fresh()
		}
	case len(b) == 0:
		return false
	case k == 3:
		b = b[:c.r.IntN(len(b))]
	case k == 4:
		b = slices.Concat(b, slices.Repeat([]byte("x"), 1<<c.r.IntN(10)))
	default:
		b[c.r.IntN(len(b))] ^= 1 << c.r.IntN(8)
	}
	setBytes(at.v, b)
	return true
}

// sign signs again what insiders have signed, or say in their own name: the message has changed.
func (c *recombiner) sign() {
	walk(c.v, "", func(v reflect.Value, _ string) {
		if v.Kind() == reflect.Struct {
			c.signFor(v)
		} else if b := bytesIn(v); c.insiders(b) {
			setBytes(v, c.fresh())
		}
	})
}

// signFor signs a part that has the number of an insider and a signature.
func (c *recombiner) signFor(v reflect.Value) {
	insider := false
	for i := range v.NumField() {
		f := settable(v.Field(i))
		insider = insider || f.Type() == nodeID && c.x.bad(synod.NodeID(f.Int()))
		if b := bytesIn(f); insider && c.signed(b) {
			setBytes(f, c.fresh())
		}
	}
}
