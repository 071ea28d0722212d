package certificate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
)

// misspelled encodes a value in CBOR with one value in it spelled in another way.
func misspelled(r *rand.Rand, v any) []byte {
	e := &speller{r: r, at: r.IntN(countValues(v))}
	e.value(v)
	return e.out
}

func countValues(v any) int {
	n := 1
	if list, ok := v.([]any); ok {
		for _, x := range list {
			n += countValues(x)
		}
	}
	return n
}

// speller encodes in core deterministic encoding, apart from the value number at.
type speller struct {
	r   *rand.Rand
	at  int // counts down
	out []byte
}

func (e *speller) head(major byte, n uint64) {
	switch major <<= 5; {
	case n < 24:
		e.out = append(e.out, major|byte(n))
	case n < 1<<8:
		e.out = append(e.out, major|24, byte(n))
	case n < 1<<16:
		e.out = binary.BigEndian.AppendUint16(append(e.out, major|25), uint16(n))
	case n < 1<<32:
		e.out = binary.BigEndian.AppendUint32(append(e.out, major|26), uint32(n))
	default:
		e.out = binary.BigEndian.AppendUint64(append(e.out, major|27), n)
	}
}

// wide writes a head with more bytes than it needs, or one that nobody may write.
func (e *speller) wide(major byte, n uint64) {
	switch major <<= 5; e.r.IntN(5) {
	case 0:
		e.out = append(e.out, major|24, byte(n))
	case 1:
		e.out = binary.BigEndian.AppendUint16(append(e.out, major|25), uint16(n))
	case 2:
		e.out = binary.BigEndian.AppendUint32(append(e.out, major|26), uint32(n))
	case 3:
		e.out = binary.BigEndian.AppendUint64(append(e.out, major|27), n)
	case 4:
		e.out = append(e.out, major|28+byte(e.r.IntN(4)))
	}
}

func (e *speller) value(v any) {
	odd := e.at == 0
	e.at--
	head := e.head
	if odd {
		switch e.r.IntN(6) {
		case 0:
			e.out = append(e.out, 0xc0|byte(e.r.IntN(24))) // a tag
		case 1: // another type, or what is no value
			e.out = append(e.out, [][]byte{{0xf7}, {0xf8, 20}, {0xf8, 32}, {0xf9, 0x3c, 0}, {0xfa, 0, 0, 0, 0}, {0x20},
				{0xa0}, {0xff}, {0xe0}, {0x5f, 0x41, 0, 0xff}, {0x7f, 0xff}, {0x9f, 0xff}}[e.r.IntN(12)]...)
			return
		default:
			head = e.wide
		}
	}
	switch v := v.(type) {
	case []any:
		head(4, uint64(len(v)))
		for _, x := range v {
			e.value(x)
		}
	case []byte:
		head(2, uint64(len(v)))
		e.out = append(e.out, v...)
	case string:
		if odd && e.r.IntN(2) == 0 {
			v += []string{"\xff", "\xed\xa0\x80", "\xc0\x80", "\xef\xbb\xbf", "\x00", "\xf4\x90\x80\x80"}[e.r.IntN(6)]
			head = e.head
		}
		head(3, uint64(len(v)))
		e.out = append(e.out, v...)
	case uint64:
		head(0, v)
	case bool:
		e.out = append(e.out, map[bool]byte{false: 0xf4, true: 0xf5}[v])
	default:
		e.out = append(e.out, 0xf6)
	}
}

// otherJSON writes a text of JSON in another way, which often means the same.
func otherJSON(r *rand.Rand, text []byte) []byte {
	s := string(text)
	at := func(of string) int { // a random place of a text
		places := []int{}
		for i := range s {
			if strings.HasPrefix(s[i:], of) {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			return 0
		}
		return places[r.IntN(len(places))]
	}
	insert := func(i int, x string) []byte { return []byte(s[:i] + x + s[i:]) }
	switch r.IntN(15) {
	case 0:
		place := at([]string{"{", "}", ":", ",", "[", "]"}[r.IntN(6)])
		return insert(place, []string{" ", "\n", "\t", "\r\n"}[r.IntN(4)])
	case 1: // an escaped character of a text
		i := at(`"`) + 1
		if i >= len(s) || strings.ContainsRune(`",:}]{`, rune(s[i])) {
			return insert(0, "\xef\xbb\xbf")
		}
		return fmt.Appendf(nil, `%s\u%04x%s`, s[:i], s[i], s[i+1:])
	case 2:
		return []byte(strings.Replace(s, "/", `\/`, 1+r.IntN(3)))
	case 3: // the same key twice, or one more
		return insert(at("{")+1, []string{`"payload":"",`, `"predicate":{},`, `"x":1,`, `"__proto__":{},`,
			`"signatures":[],`, `"cbor":"",`}[r.IntN(6)])
	case 4: // names of keys in capitals
		name := []string{"payload", "keyid", "sig", "cbor", "predicate", "payloadType"}[r.IntN(6)]
		return []byte(strings.Replace(s, `"`+name+`"`, `"`+strings.ToUpper(name)+`"`, 1))
	case 5: // hexadecimal in capitals
		i := at("ed25519:") + 8
		return []byte(s[:i] + strings.ToUpper(s[i:min(len(s), i+8)]) + s[min(len(s), i+8):])
	case 6:
		return []byte(strings.Replace(s, "=", "", 1))
	case 7:
		return []byte(strings.NewReplacer("+", "-").Replace(s))
	case 8: // bits that base64 does not use
		return []byte(strings.Replace(s, `A="`, `B="`, 1))
	case 9:
		return bytes.TrimSuffix(text, []byte("\n"))
	case 10:
		return append(bytes.Clone(text), []string{"\n", " ", "{}", "\x00", "x"}[r.IntN(5)]...)
	case 11: // another type in place of a text
		i := at(`:"`)
		other := []string{"null", "1", "[]", "{}", "true", "1e999", strings.Repeat("[", 20000)}[r.IntN(7)]
		return []byte(s[:i] + ":" + other + "," + s[i+1:])
	case 12:
		return insert(at(`"`)+1, []string{"\xff", "\x00", `\ud800`, "\u2028", " "}[r.IntN(5)])
	case 13: // a line break in base64
		return insert(min(len(s), at(`:"`)+8), []string{"\n", `\n`, "=", "====", "%"}[r.IntN(5)])
	}
	i := at(`:"`) + 2
	return []byte(s[:min(i, len(s))] + base64.RawURLEncoding.EncodeToString([]byte(s[min(i, len(s)):])))
}
