package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"synod.dev/synod/bench"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/durable"
)

// fetched is the most units that a worker takes from the queue at once.
const fetched = 16

// pull takes units from the queue and plays them, as many at a time as there are slots.
func (w *worker) pull(ctx context.Context) {
	slots := make(chan struct{}, w.parallel)
	var all sync.WaitGroup
	defer all.Wait()
	w.resume(ctx, slots, &all)
	var from jetstream.Consumer
	for n := 1; ctx.Err() == nil; {
		if !w.inTouch() {
			pause(ctx, w.now().Every/4)
			continue
		}
		free := reserve(ctx, slots)
		got, err := w.fetch(ctx, &from, free)
		for range free - len(got) {
			<-slots
		}
		for _, m := range got {
			all.Go(func() {
				defer func() { <-slots }()
				w.take(ctx, m)
			})
		}
		switch {
		case err != nil && len(got) == 0:
			from = nil // the queue may have been made again
			pause(ctx, backOff(n))
			n++
		default:
			n = 1
		}
	}
}

// reserve waits for a slot and takes those that are free.
func reserve(ctx context.Context, slots chan struct{}) (n int) {
	select {
	case <-ctx.Done():
		return 0
	case slots <- struct{}{}:
	}
	for n = 1; n < fetched; n++ {
		select {
		case slots <- struct{}{}:
			continue
		default:
		}
		break
	}
	return n
}

// fetch waits a moment for up to n units.
func (w *worker) fetch(ctx context.Context, from *jetstream.Consumer, n int) (all []jetstream.Msg, err error) {
	if n == 0 {
		return nil, nil
	}
	p := w.now()
	if *from == nil {
		js, err := jetstream.New(w.nc)
		if err != nil {
			return nil, err
		}
		within, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		if *from, err = js.Consumer(within, p.Stream, p.Consumer); err != nil {
			return nil, err
		}
	}
	got, err := (*from).Fetch(n, jetstream.FetchMaxWait(max(p.Every, time.Second)))
	if err != nil {
		return nil, err
	}
	for m := range got.Messages() {
		all = append(all, m)
	}
	return all, got.Error()
}

// take plays the unit of a message of the queue. While it does, it tells the queue so, else the queue would give the
// unit to another worker.
func (w *worker) take(ctx context.Context, m jetstream.Msg) {
	var x unit
	if err := json.Unmarshal(m.Data(), &x); err != nil || !isCell.MatchString(x.Cell) {
		_ = m.Term() // the hub puts what is missing into the queue again
		return
	}
	playing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for pause(playing, w.now().Lease/4) {
			_ = m.InProgress() // if it is lost, the hub still knows who plays the unit
		}
	}()
	answer, err := w.claim(ctx, x)
	switch {
	case err != nil:
		_ = m.Nak()
	case answer == play:
		if w.attempt(ctx, x) {
			_ = m.Ack()
		} else {
			_ = m.Nak()
		}
	case answer == busy:
		_ = m.NakWithDelay(w.now().Lease)
	case answer == later:
		_ = m.NakWithDelay(w.now().Every)
	default:
		_ = m.Ack()
	}
}

// claim asks the hub whether the unit may be played.
func (w *worker) claim(ctx context.Context, x unit) (string, error) {
	w.mu.Lock()
	mine := w.playing[x.id()]
	w.mu.Unlock()
	if mine { // it came a second time
		return busy, nil
	}
	var c claimed
	err := w.insist(ctx, askClaim, &claim{w.hello(), x}, &c)
	return c.Answer, err
}

// path returns the file of a unit's journal.
func (w *worker) path(x unit) string {
	return filepath.Join(w.dir, w.now().Sweep, x.file())
}

// attempt plays a unit that was claimed and sends what came of it to the hub. It reports whether the unit needs no
// other worker.
func (w *worker) attempt(ctx context.Context, x unit) (settled bool) {
	w.mu.Lock()
	w.playing[x.id()] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.playing, x.id())
		w.mu.Unlock()
	}()
	c, err := w.cell(ctx, x.Cell)
	if err != nil {
		if ctx.Err() == nil {
			w.fail(err)
		}
		return false
	}
	defer w.put(c)
	path := w.path(x)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.fail(err)
		return false
	}
	a, err := c.player.Play(ctx, x.Job, path)
	switch {
	case err != nil:
		w.fail(fmt.Errorf("%w; what was finished is kept in %s", err, w.dir))
		return false
	case a.Finished:
		return w.deliver(ctx, x, path, a) == nil
	case ctx.Err() != nil:
		return false
	}
	return w.insist(ctx, askFailed, &failure{w.hello(), x, a}, nil) == nil
}

// maxRefused is how many journals the hub may refuse before the worker ends: something is wrong with it.
const maxRefused = 3

// deliver sends the journal of a finished unit until the hub has it, and removes it then.
func (w *worker) deliver(ctx context.Context, x unit, path string, a bench.Attempt) error {
	text, err := durable.ReadFile(path, maxJournal)
	if err != nil {
		w.fail(err)
		return err
	}
	packed, err := pack(text)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		said, err := w.upload(ctx, x, packed, a.Seconds)
		switch {
		case err == nil && said.Stored:
			return forget(path)
		case err == nil && said.Refused != "":
			return w.refused(ctx, x, path, said.Refused)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if fatal := new(hubError); errors.As(err, &fatal) && fatal.fatal {
			return w.refused(ctx, x, path, fatal.text)
		}
		pause(ctx, backOff(n))
	}
}

// upload sends all parts of a journal once.
func (w *worker) upload(ctx context.Context, x unit, packed []byte, seconds float64) (said stored, err error) {
	for at := 0; at < len(packed); at += maxPart {
		said = stored{}
		err = w.ask(ctx, askResult, &resultPart{hello: w.hello(), Unit: x, From: at, Total: len(packed),
			Part: packed[at:min(at+maxPart, len(packed))], Seconds: seconds}, &said)
		if err != nil || said.Stored || said.Refused != "" {
			return said, err
		}
	}
	return said, err
}

// forget removes the journal of a unit that the hub has.
func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// refused keeps a journal that the hub does not take under another name, and reports the attempt as failed.
func (w *worker) refused(ctx context.Context, x unit, path, why string) error {
	w.mu.Lock()
	w.bad++
	bad := w.bad
	w.mu.Unlock()
	fmt.Fprintf(w.log, "the hub refuses the journal of question %q: %s; it is kept as %s.refused\n", x.Question, why,
		path)
	if err := os.Rename(path, path+".refused"); err != nil {
		w.fail(err)
		return err
	}
	if bad >= maxRefused {
		w.fail(fmt.Errorf("the hub has refused %d journals: %s", bad, why))
	}
	return w.insist(ctx, askFailed, &failure{w.hello(), x, bench.Attempt{Stopped: "refused", Reason: why}}, nil)
}

// resume goes on with the journals that an earlier process of this worker has left.
func (w *worker) resume(ctx context.Context, slots chan struct{}, all *sync.WaitGroup) {
	left, err := filepath.Glob(filepath.Join(w.dir, w.now().Sweep, "*.journal"))
	if err != nil {
		w.fail(err)
	}
	if len(left) > 0 {
		fmt.Fprintf(w.log, "going on with %d unfinished questions of before\n", len(left))
	}
	for _, path := range left {
		select {
		case <-ctx.Done():
			return
		case slots <- struct{}{}:
		}
		all.Go(func() {
			defer func() { <-slots }()
			w.goOn(ctx, path)
		})
	}
}

// goOn goes on with a journal, unless the unit is finished or another worker plays it.
func (w *worker) goOn(ctx context.Context, path string) {
	x, err := leftUnit(path)
	if err != nil {
		fmt.Fprintf(w.log, "%s is left as it is: %v\n", path, err)
		return
	}
	if x.Question == "" { // the process died before anything was in it
		_ = os.Remove(path)
		return
	}
	for {
		answer, err := w.claim(ctx, x)
		switch {
		case err != nil:
			return
		case answer == later:
			if !pause(ctx, w.now().Every) {
				return
			}
			continue
		case answer == play:
			w.attempt(ctx, x)
		case answer == done:
			if err := forget(path); err != nil {
				fmt.Fprintln(w.log, err)
			}
		}
		return
	}
}

// leftUnit returns the unit of a journal; without a question if the journal has not begun.
func leftUnit(path string) (x unit, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return x, err
	}
	run, err := journal.Load(path)
	if err != nil {
		return x, err
	}
	cell, rest, _ := strings.Cut(filepath.Base(path), "-")
	repeat, _, _ := strings.Cut(rest, "-")
	x.Cell, x.Question = cell, run.Head.Question.ID
	if x.Repeat, err = strconv.Atoi(repeat); err != nil || filepath.Base(path) != x.file() {
		return x, errors.New("its name is not that of its question")
	}
	return x, nil
}
