package param

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A hostile text costs little: less than 100 MB and 3 s each.
func TestHostileShapes(t *testing.T) {
	many := func(unit string, n int) string { return strings.Repeat(unit, n/len(unit)) }
	var keys strings.Builder
	for i := range 9_900 {
		fmt.Fprintf(&keys, "k%d: b\n", i)
	}
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		nine := strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 9)
		laughs += fmt.Sprintf("%c: &%[1]c [%s]\n", 'b'+i, strings.TrimSuffix(nine, ","))
	}
	for name, c := range map[string]struct {
		text   string
		reject bool
	}{
		"brackets":       {many("[", 32<<10), true},
		"a megabyte":     {many("[", 1<<20), true},
		"hidden closes":  {many(`["]", `, 32<<10), true},
		"braces":         {many("{a: ", 32<<10), true},
		"dashes":         {many("- ", 32<<10), true},
		"questions":      {many("? ", 32<<10), true},
		"tags":           {many("!!a ", 64<<10), true},
		"anchors":        {many("&a ", 64<<10), true},
		"laughs":         {laughs, true},
		"many keys":      {keys.String(), false},
		"too many keys":  {keys.String() + keys.String(), true},
		"too long":       {many("a", 2<<20), true},
		"commas":         {"[" + many(",", 900_000) + "]", true},
		"one alias":      {"a: &x {b: 1}\nc: *x\n", false},
		"edges":          {"e: [" + many("[1,2],", 256<<10) + "[1,2]]", false},
		"sixty brackets": {many("[", 60) + many("]", 60), false},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		var v any
		err := UnmarshalAny([]byte(c.text), &v)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if (err != nil) != c.reject {
			t.Errorf("%s: %v", name, err)
		}
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; c.reject && (mb > 100 || took > tooLong) {
			t.Errorf("%s: %d MB, %v", name, mb, took)
		}
	}
}

// tooLong is more than a slow machine needs for a second of work, and less than unbounded work takes.
const tooLong = time.Minute

// An error about a long line is found at once.
func TestErrorsOfLongLines(t *testing.T) {
	start := time.Now()
	var v struct{ A, B int }
	text := "b: 1\na: [" + strings.Repeat("0,", 99_000) + "0]\n"
	if err := Unmarshal([]byte(text), &v); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("%.200v", err)
	}
	err := UnmarshalAny([]byte(text), &v)
	if err == nil || len(err.Error()) > 1000 {
		t.Errorf("%.200v", err)
	}
	if took := time.Since(start); took > tooLong {
		t.Errorf("it took %v", took)
	}
}
