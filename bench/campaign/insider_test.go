package campaign

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
)

// Two campaigns with one seed draw the same executions, also where these follow from what earlier ones reached.
func TestDrawsRepeat(t *testing.T) {
	for _, name := range []string{"broadcast", "rotating-leader", "sac"} {
		a, b, p := NewDraws(name, 3, 0), NewDraws(name, 3, 0), NewPlayer()
		for range 300 {
			x, y := a.Next(), b.Next()
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("%s: %+v and %+v", name, x, y)
			}
			a.Learn(&x, p.Play(&x))
			b.Learn(&y, NewPlayer().Play(&y))
		}
		if len(a.kept) == 0 {
			t.Errorf("%s: no execution reached a new state", name)
		}
	}
}

// Half of the executions are those of DrawAt, without a gap, so that every adversary and every fault has its turn.
func TestDrawsHavePlainOnes(t *testing.T) {
	d, plain := NewDraws("sac", 3, 0), uint64(0)
	for range 20 {
		x := d.Next()
		if d.next%2 == 1 {
			if want := DrawAt("sac", 3, plain); !reflect.DeepEqual(x, want) {
				t.Fatalf("execution %d is %+v, not %+v", plain, x, want)
			}
			plain++
		}
	}
}

// A blank signature is valid for the first statement that it is checked for, by the insider who is asked for, and for
// nothing else: an insider can sign whatever it likes, but each signature is for one statement.
func TestBlankSignature(t *testing.T) {
	k := newKnowledge(&Execution{Byzantine: []synod.NodeID{1, 2}}, nil, nil)
	keys := sign.DeriveSymbolic(1, 3)
	verify := func(by synod.NodeID, data string, sig []byte) bool {
		return k.verify(keys.Verifier("run"), by, []byte(data), sig)
	}
	sig, other := k.fresh(), k.fresh()
	for _, c := range []struct {
		by   synod.NodeID
		data string
		sig  []byte
		want bool
	}{
		{0, "a", sig, false}, // an honest member
		{1, "a", sig, true}, {1, "b", sig, false}, {2, "a", sig, false}, {1, "a", sig, true},
		{2, "", other, true}, {2, "a", other, false},
		{0, "a", keys.Signer(0, "run").Sign([]byte("a")), true},
		{1, "a", keys.Signer(0, "run").Sign([]byte("a")), false},
	} {
		if verify(c.by, c.data, c.sig) != c.want {
			t.Errorf("n%d, %q: %v", c.by, c.data, !c.want)
		}
	}
}

// letter is a message with parts of all kinds, which no other package can reach.
type letter struct {
	author synod.NodeID
	pages  []sheet
	seal   *sheet
}

type sheet struct {
	round int
	text  string
	sig   []byte
}

func (l letter) AppendBinary(b []byte) ([]byte, error) {
	return append(append(b, byte(l.author)), l.pages[0].text...), nil
}

func (l *letter) UnmarshalBinary(b []byte) error {
	if len(b) < 2 {
		return errors.New("short")
	}
	*l = letter{author: synod.NodeID(b[0]), pages: []sheet{{text: string(b[1:])}}}
	return nil
}

// A message is read by its type, its fields can be set, and a copy shares nothing with it.
func TestParts(t *testing.T) {
	v := parsed(reflect.TypeFor[letter](), []byte{7, 'a', 'b'})
	v.Set(reflect.ValueOf(letter{7, []sheet{{1, "ab", []byte("x")}}, &sheet{2, "c", []byte("y")}}))
	copied := cloned(v)
	seen := map[string]int{}
	walk(v, "", func(v reflect.Value, field string) {
		seen[field]++
		switch {
		case v.Kind() == reflect.String:
			v.SetString("zz")
		case v.CanInt():
			v.SetInt(9)
		case field == "sig":
			v.SetBytes([]byte("new"))
		}
	})
	if seen["sig"] != 2 || seen["round"] != 2 || seen["author"] != 1 || seen["seal"] != 2 {
		t.Errorf("the parts are %v", seen)
	}
	old := copied.Interface().(letter)
	if !reflect.DeepEqual(old, letter{7, []sheet{{1, "ab", []byte("x")}}, &sheet{2, "c", []byte("y")}}) {
		t.Errorf("the copy has changed: %+v", old)
	}
	if body, readable := written(v); string(body) != "\tzz" || !readable {
		t.Errorf("it is written as %q, readable: %v", body, readable)
	}
	if raw := parsed(reflect.TypeFor[letter](), []byte{1}); raw.Type() != reflect.TypeFor[[]byte]() {
		t.Errorf("an unreadable body is a %s", raw.Type())
	}
}

// A statement's numbers tell its kind: another round is another state, another hash of a value is not.
func TestNumbersIn(t *testing.T) {
	statement := func(round uint32, hash byte) []byte {
		b := binary.BigEndian.AppendUint32([]byte("domain"), round)
		for range 32 {
			b = append(b, hash)
		}
		return b
	}
	if numbersIn(statement(1, 0xab)) != numbersIn(statement(1, 0xcd)) ||
		numbersIn(statement(1, 0xab)) == numbersIn(statement(2, 0xab)) {
		t.Error("statements are told apart by their hashes, or not by their rounds")
	}
}

// failing is a machine that panics.
type failing struct{}

func (failing) Step(synod.Tick, synod.Event) []synod.Effect { panic("it believed something") }

// The machine of an insider may panic, which is no fault of the protocol: the insider decides, and is silent.
func TestBrokenInsider(t *testing.T) {
	m := &insider{Machine: failing{}, k: newKnowledge(&Execution{}, nil, nil)}
	if out := m.Step(0, synod.Begin{}); len(out) != 1 || out[0] != synod.Effect(synod.Decide{}) {
		t.Errorf("it does %v", out)
	}
	if out := m.Step(1, synod.Expired{}); len(out) != 0 {
		t.Errorf("then it does %v", out)
	}
}
