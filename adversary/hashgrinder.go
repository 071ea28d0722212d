package adversary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/llm/read"
)

var hashGrinderEntry = Entry{
	Entry: synod.Entry{Name: "hash-grinder",
		Summary: "phrases its answer so that its hash wins ties, if it knows the salt"},
	Facts: Facts{Number: 23, Place: AtSeat, Model: Restricted, Where: synod.With(synod.HashTies),
		Defence: "a salt that is fixed after all answers (DL-4)", Kind: Statistical, Source: "DecentLLMs §III.C.3, " +
			"I-DL-7"},
	About: `Answers with its own model. Of many phrasings of a free-text answer it sends the one
whose SHA-256 with the salt is the largest, because DecentLLMs uses that hash to decide
between equal scores (§III.C.3, DL-4). It gains only if it knows the salt when it
answers. A number, a choice or a formula has one canonical form, so there it has no
effect.

variants  how many phrasings it tries, 2 to 1024 (1000)
salt      the salt that it expects, in hexadecimal digits (none)`,
	New:    newHashGrinder,
	Params: func() any { p := defaultHashGrinder(); return &p },
}

type hashGrinderParams struct {
	Variants int    `yaml:"variants" doc:"phrasings that it tries" range:"2:1024"`
	Salt     string `yaml:"salt" doc:"the salt that it expects, in hexadecimal digits; default: none" example:"00ff"`
}

func defaultHashGrinder() hashGrinderParams { return hashGrinderParams{Variants: 1000} }

type hashGrinder struct {
	variants int
	salt     []byte
}

func newHashGrinder(params map[string]any) (Adversary, error) {
	given := defaultHashGrinder()
	if err := param.Decode(params, &given); err != nil {
		return nil, err
	}
	salt, err := hex.DecodeString(given.Salt)
	if err != nil {
		return nil, fmt.Errorf("salt is %s; it must be hexadecimal digits, two for each byte", given.Salt)
	}
	return hashGrinder{given.Variants, salt}, inRange("variants", given.Variants, 2, 1<<len(fillers))
}

func (hashGrinder) Steady() bool { return true }

func (a hashGrinder) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	return ReplyForger{Answer: func(given read.Confident) synod.Answer {
		best, top := given.Answer, []byte(nil)
		for v := range a.variants {
			phrased := extended(seat.Question, given, filler(v))
			h := sha256.Sum256(append(append([]byte(phrased), 0), a.salt...))
			if bytes.Compare(h[:], top) > 0 {
				best, top = phrased, h[:]
			}
		}
		return best
	}}.Machine(seat, honest)
}

// fillers change the phrasing of an answer and not its meaning.
var fillers = [...]string{"surely", "indeed", "I think", "in fact", "to be exact", "for certain", "of course",
	"no doubt", "clearly", "as is known"}

// filler returns the v-th combination of fillers; "" for 0.
func filler(v int) string {
	var s strings.Builder
	for i, word := range fillers {
		if v>>i&1 == 1 {
			s.WriteString(", " + word)
		}
	}
	return s.String()
}
