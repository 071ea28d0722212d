package adversary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

var hashGrinderEntry = Entry{
	Entry: synod.Entry{Name: "hash-grinder", Summary: "words its answer so that its hash wins ties, if it knows the salt"},
	About: `Answers with its own model and, of many ways to word a free-text answer, says the
one whose SHA-256 with the salt is the largest, because DecentLLMs decides between
equal scores by that (§III.C.3, DL-4). It gains only if it knows the salt when it
answers. A number, a choice or a formula has one canonical form and nothing to try.

variants  how many wordings it tries, 2 to 1024 (1000)
salt      the salt that it expects, in hexadecimal digits (none)`,
	New: newHashGrinder,
}

type hashGrinder struct {
	variants int
	salt     []byte
}

func newHashGrinder(params map[string]any) (Adversary, error) {
	a := hashGrinder{variants: 1000}
	if err := strict(params, "variants", "salt"); err != nil {
		return nil, err
	}
	if v, is := params["salt"]; is {
		var err error
		if a.salt, err = hex.DecodeString(fmt.Sprint(v)); err != nil {
			return nil, fmt.Errorf("salt is %v; it must be hexadecimal digits, two a byte", v)
		}
	}
	return a, whole(params, "variants", &a.variants, 2, 1<<len(fillers))
}

func (hashGrinder) Steady() bool { return true }

// Corrupt leaves everything but the wording of answers to the honest machine.
func (a hashGrinder) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return forgery{answer: func(said read.Confident) synod.Answer {
		best, top := said.Answer, []byte(nil)
		for v := range a.variants {
			worded := appended(seat.Question, said, filler(v))
			h := sha256.Sum256(append(append([]byte(worded), 0), a.salt...))
			if bytes.Compare(h[:], top) > 0 {
				best, top = worded, h[:]
			}
		}
		return best
	}}.forge(seat, honest)
}

// fillers change how an answer sounds and not what it says.
var fillers = [...]string{"surely", "indeed", "I think", "in fact", "to be exact", "for certain", "of course", "no doubt", "clearly", "as is known"}

// filler is the v-th choice of fillers, none for 0.
func filler(v int) string {
	var s strings.Builder
	for i, word := range fillers {
		if v>>i&1 == 1 {
			s.WriteString(", " + word)
		}
	}
	return s.String()
}
