package app

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	width := 60
	b := &Bar{columns: func() int { return width }, text: func() string { return "starting" }}
	want := func(line string) {
		t.Helper()
		if got := b.line(3200 * time.Millisecond); got != line {
			t.Errorf("got  %q\nwant %q", got, line)
		}
	}
	want("starting") // the total is unknown
	b.Set(3, 10)
	b.Say(func() string { return "3 of 10 questions\x1b[2J\n now" })
	want("[======--------------] 3 of 10 questions\\u001b[2J now")
	for _, past := range []int64{10, 11} {
		b.Set(past, 10)
		want("[====================] 3 of 10 questions\\u001b[2J now")
	}
	b.spins = true
	want("| 3 of 10 questions\\u001b[2J now 3s")
	width = 10
	want("| 3 of 10")
	b.Say(func() string { return strings.Repeat("答", 9) })
	want("| 答答答") // two columns each

	(&Bar{}).Done()
	(&Bar{}).Set(1, 2)
}

func TestBarIsRemoved(t *testing.T) {
	var to bytes.Buffer
	b := &Bar{To: &to, columns: func() int { return 80 }, text: func() string { return "waiting" },
		stop: make(chan struct{}), stopped: make(chan struct{})}
	go b.draw()
	b.Done()
	if got := to.String(); got != "\rwaiting\x1b[K\r\x1b[K" {
		t.Errorf("%q", got)
	}
}
