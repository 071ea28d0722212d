package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// batch is how many units are added to the queue between two looks at the context.
const batch = 64

// mostRefused is how often in a row an own queue may take no unit. It is in the same process, so its disk has failed.
const mostRefused = 3

// feed keeps the queue filled until the sweep is over.
func (h *hub) feed(ctx context.Context) {
	look := time.NewTicker(h.lease)
	defer look.Stop()
	empty := false // the queue was empty the last time, though it should not have been
	refused := 0   // how often in a row no unit could be added
	for ctx.Err() == nil {
		added, err := h.fill(ctx)
		if refused++; err == nil {
			refused = 0
		}
		switch {
		case refused == mostRefused && h.nats == "" && ctx.Err() == nil:
			h.fail(fmt.Errorf("the queue in %s takes nothing, as after a failure of the disk: %w",
				filepath.Join(h.dir, "queue"), err))
			return
		case err != nil && ctx.Err() == nil:
			fmt.Fprintf(h.log, "the queue: %v; trying again\n", err)
			h.mend(ctx)
		case added:
			continue
		case h.stateNow() == working && !h.units.again():
			h.become(finished)
		}
		select {
		case <-ctx.Done():
		case <-h.kick:
		case <-time.After(h.every):
		case <-look.C:
			empty = h.check(ctx, empty)
		}
	}
}

// fill adds waiting units to the queue.
func (h *hub) fill(ctx context.Context) (added bool, err error) {
	if h.stateNow() != working {
		return false, nil
	}
	all, round := h.units.take(batch)
	for i, x := range all {
		if err := h.queued.add(ctx, x, round); err != nil {
			h.units.giveBack(all[i:])
			return false, err
		}
	}
	return len(all) > 0, nil
}

// mend makes the queue again after a pause, if it was deleted.
func (h *hub) mend(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(h.every):
	}
	fresh, err := h.queued.make(ctx)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(h.log, "%v\n", err)
	}
	if fresh {
		fmt.Fprintln(h.log, "the queue was gone; it is made again from the store")
		h.units.lost()
	}
}

// check notices units that no worker plays and that the queue gives to nobody: somebody has deleted or emptied the
// queue, or the clock of its server was set back after a worker had taken them and was lost. It looks twice, a lease
// apart, because units come and go meanwhile.
func (h *hub) check(ctx context.Context, before bool) (empty bool) {
	_, queued, _, _ := h.units.tally()
	h.mu.Lock()
	playing := len(h.claims)
	h.mu.Unlock()
	if queued == 0 || playing > 0 {
		return false
	}
	waiting, err := h.queued.waiting(ctx)
	switch {
	case err != nil:
		h.mend(ctx)
		return false
	case waiting > 0:
		return false
	case !before:
		return true
	}
	h.units.lost()
	return false
}
