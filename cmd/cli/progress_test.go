package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
)

func TestBar(t *testing.T) {
	width := 60
	b := &bar{columns: func() int { return width }, text: func() string { return "starting" }}
	want := func(line string) {
		t.Helper()
		if got := b.line(3200 * time.Millisecond); got != line {
			t.Errorf("got  %q\nwant %q", got, line)
		}
	}
	want("starting") // the total is unknown
	b.set(3, 10)
	b.say(func() string { return "3 of 10 questions\x1b[2J\n now" })
	want("[======--------------] 3 of 10 questions\\u001b[2J now")
	for _, past := range []int64{10, 11} {
		b.set(past, 10)
		want("[====================] 3 of 10 questions\\u001b[2J now")
	}
	b.spins = true
	want("| 3 of 10 questions\\u001b[2J now 3s")
	width = 10
	want("| 3 of 10")
	b.say(func() string { return strings.Repeat("答", 9) })
	want("| 答答答") // two columns each

	(&bar{}).done()
	(&bar{}).set(1, 2)
}

// Without a terminal a line is printed from time to time, and not for every step.
func TestPlainly(t *testing.T) {
	var to bytes.Buffer
	began := time.Now()
	line := plainly(&to, 30*time.Second, began)
	for second := range 100 {
		now := bench.Progress{Finished: second, Now: second, Total: 200, Calls: 3 * second}
		line(began.Add(time.Duration(second)*time.Second), func() string {
			return questionsOf(now, time.Duration(second)*time.Second)
		})
	}
	const want = "synod: 30 of 200 questions · 90 calls · about 2m50s left\n" +
		"synod: 60 of 200 questions · 180 calls · about 2m20s left\n" +
		"synod: 90 of 200 questions · 270 calls · about 1m50s left\n"
	if to.String() != want {
		t.Errorf("%s", to.String())
	}
}

func TestBarIsRemoved(t *testing.T) {
	var to bytes.Buffer
	b := &bar{to: &to, columns: func() int { return 80 }, text: func() string { return "waiting" },
		stop: make(chan struct{}), stopped: make(chan struct{})}
	go b.draw()
	b.done()
	if got := to.String(); got != "\rwaiting\x1b[K\r\x1b[K" {
		t.Errorf("%q", got)
	}
}
