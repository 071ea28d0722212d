package campaign

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// knowledge is what the members with faults of the group Insider know together in one execution: every message that
// one of them was sent, the signatures in it, and messages of an earlier run.
type knowledge struct {
	x       *Execution
	within  []reflect.Type                 // of values that stand as bytes in messages
	typeOf  func(slot string) reflect.Type // of the messages in the slots of a name; nil: nobody has sent any
	makers  map[string]synod.NodeID        // who made a signature
	blanks  map[string]*blank
	heard   map[*synod.Message]bool
	now     pool
	earlier pool
	found   map[uint64]bool // marks of the states that the execution reached
	ends    []synod.Tick    // when rounds of insiders end
	slots   map[synod.Slot][]uint64
	values  map[string]uint64 // texts and bytes, numbered in the order in which they came
}

// pool is the parts of messages that can stand in other ones.
type pool struct {
	parts      map[part][]reflect.Value
	leaves     map[reflect.Type][]reflect.Value // the same without parts of their own, whatever their field is
	signatures [][]byte
}

func newPool() pool {
	return pool{parts: map[part][]reflect.Value{}, leaves: map[reflect.Type][]reflect.Value{}}
}

// mostParts bounds how many parts of a kind are kept.
const mostParts = 256

// blank is a signature of an insider that is made out when it is checked for the first time. Insiders have their keys
// and know what members will check, so they can sign just that.
type blank struct {
	by   synod.NodeID
	data []byte // nil: nobody has checked it
}

func newKnowledge(x *Execution, within []reflect.Type, typeOf func(string) reflect.Type) *knowledge {
	return &knowledge{x: x, within: within, typeOf: typeOf, makers: map[string]synod.NodeID{},
		blanks: map[string]*blank{},
		heard:  map[*synod.Message]bool{}, now: newPool(), earlier: newPool(), found: map[uint64]bool{},
		slots: map[synod.Slot][]uint64{}, values: map[string]uint64{}}
}

// hear takes a message that an insider was sent.
func (k *knowledge) hear(m *synod.Message) {
	if k.heard[m] {
		return
	}
	k.heard[m] = true
	v := parsed(k.typeOf(m.Slot.Name), m.Body)
	k.now.add(k, v)
	k.slots[m.Slot] = append(k.slots[m.Slot], check.Mix(k.shape(v)^boolBit(k.x.bad(m.From))))
}

func (p *pool) add(k *knowledge, v reflect.Value) {
	walk(v, "", func(v reflect.Value, field string) {
		if v.Kind() == reflect.Pointer && v.IsNil() || v.Kind() == reflect.Slice && v.Len() == 0 {
			return
		}
		key := partOf(v, field)
		if len(p.parts[key]) < mostParts {
			p.parts[key] = append(p.parts[key], v)
		}
		if isLeaf(v) && len(p.leaves[v.Type()]) < mostParts {
			p.leaves[v.Type()] = append(p.leaves[v.Type()], v)
		}
		if b := bytesIn(v); k.signed(b) && len(p.signatures) < mostParts {
			p.signatures = append(p.signatures, b)
		}
	})
}

// opened returns the value that bytes in a message are; not valid if they are none.
func (k *knowledge) opened(b []byte) reflect.Value {
	for _, t := range k.within {
		if v := parsed(t, b); b != nil && v.Type() == t {
			return v
		}
	}
	return reflect.Value{}
}

// signed reports whether bytes are a signature that somebody made.
func (k *knowledge) signed(b []byte) bool {
	_, made := k.makers[string(b)]
	return made || k.blanks[string(b)] != nil
}

// insiders reports whether the maker of a signature is Byzantine.
func (k *knowledge) insiders(b []byte) bool {
	by, made := k.makers[string(b)]
	return made && k.x.bad(by) || k.blanks[string(b)] != nil
}

// fresh returns a new blank signature.
func (k *knowledge) fresh() []byte {
	b := binary.BigEndian.AppendUint64(nil, check.Mix(k.x.Seed^0xb1a4))
	b = binary.BigEndian.AppendUint64(b, check.Mix(uint64(len(k.blanks))))
	k.blanks[string(b)] = &blank{by: -1}
	return b
}

// verify checks a signature. A blank one is made out for what is checked first.
func (k *knowledge) verify(v synod.Verifier, by synod.NodeID, data, sig []byte) bool {
	b := k.blanks[string(sig)]
	if b == nil {
		return v.Verify(by, data, sig)
	}
	if b.data == nil && k.x.bad(by) {
		b.by, b.data = by, append([]byte{}, data...)
	}
	return b.by == by && bytes.Equal(b.data, data)
}

// signer is the signer of a seat in an execution with insiders.
type signer struct {
	synod.Signer
	k    *knowledge
	self synod.NodeID
}

// Sign implements synod.Signer.
func (s *signer) Sign(data []byte) []byte {
	sig := s.Signer.Sign(data)
	s.k.makers[string(sig)] = s.self
	return sig
}

// Verify implements synod.Verifier. The machines of insiders believe everything, so that they take part in whatever
// another insider does.
func (s *signer) Verify(by synod.NodeID, data, sig []byte) bool {
	if s.k.x.bad(s.self) {
		return true
	}
	ok := s.k.verify(s.Signer, by, data, sig)
	s.k.checked(by, data, sig, ok)
	return ok
}

// verifier is what third parties check signatures with.
type verifier struct {
	synod.Verifier
	k *knowledge
}

// Verify implements synod.Verifier.
func (v verifier) Verify(by synod.NodeID, data, sig []byte) bool {
	return v.k.verify(v.Verifier, by, data, sig)
}

// The marks of states.

// mark records a state.
func (k *knowledge) mark(kind int, parts ...uint64) {
	h := uint64(kind)
	for _, p := range parts {
		h = check.Mix(h ^ p)
	}
	k.found[h] = true
}

// checked marks how an honest member judged a signature: of which statement, whose, and whether it is valid.
func (k *knowledge) checked(by synod.NodeID, data, sig []byte, ok bool) {
	maker, made := k.makers[string(sig)]
	origin := uint64(0)
	switch {
	case k.blanks[string(sig)] != nil:
		origin = 1
	case made && maker == by:
		origin = 2
	case made:
		origin = 3
	}
	if ok {
		origin += 8
	}
	k.mark(1, hashText(0, string(data[:min(len(data), 12)])), numbersIn(data), origin, boolBit(k.x.bad(by)))
}

// numbersIn returns a hash of the small numbers of four bytes in a statement, such as a round. What is signed ends with
// numbers and hashes, which have no small ones.
func numbersIn(data []byte) (h uint64) {
	for at := len(data) - 4; at >= 0; at -= 4 {
		if n := binary.BigEndian.Uint32(data[at:]); n < 64 {
			h = check.Mix(h ^ uint64(at)<<8 ^ uint64(n))
		}
	}
	return h
}

// shape is a hash of what a message of an honest member tells about its state: small numbers, the lengths of lists, who
// of the insiders is named, and which texts are equal.
func (k *knowledge) shape(v reflect.Value) uint64 {
	h := uint64(1)
	walk(v, "", func(v reflect.Value, _ string) {
		switch {
		case v.Type() == reflect.TypeFor[synod.NodeID]():
			h = check.Mix(h ^ boolBit(k.x.bad(synod.NodeID(v.Int()))))
		case v.CanInt():
			h = check.Mix(h ^ uint64(min(v.Int(), 9)))
		case v.Kind() == reflect.Slice && !isLeaf(v):
			h = check.Mix(h ^ uint64(min(v.Len(), 9)))
		case v.Kind() == reflect.Pointer:
			h = check.Mix(h ^ boolBit(v.IsNil()))
		default:
			if b := bytesIn(v); b != nil && !k.signed(b) {
				h = check.Mix(h ^ k.number(b)<<8)
			}
		}
	})
	return h
}

func boolBit(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// number returns the number of a text, the same for equal ones.
func (k *knowledge) number(b []byte) uint64 {
	n, known := k.values[string(b)]
	if !known {
		n = min(uint64(len(k.values)), 2)
		k.values[string(b)] = n
	}
	return n
}

// marks returns the marks of all states that the execution reached, ascending.
func (k *knowledge) marks(t *check.Trace) (all []uint64) {
	for slot, shapes := range k.slots {
		slices.Sort(shapes)
		k.mark(2, append(shapes, hashText(uint64(slot.Round), slot.Name))...)
	}
	for i := range t.Notes {
		for _, n := range t.Notes[i] {
			if t.Plain(synod.NodeID(i)) {
				k.mark(3, uint64(n.Round), hashText(0, n.Source), uint64(len(n.Suspects)),
					uint64(len(n.Silent)))
			}
		}
	}
	for _, s := range t.States {
		k.mark(4, hashText(0, s))
	}
	for h := range k.found {
		all = append(all, h)
	}
	slices.Sort(all)
	return all
}
