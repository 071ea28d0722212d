package node

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
	"synod.dev/synod/network/node/call"
)

// Caps bound what others can make a node do. Zero is no limit, except for Question.
type Caps struct {
	Calls, Tokens int     // of a day, in UTC
	USD           float64 // of a question
	DailyUSD      float64 // of a day, in UTC; the model's price must be known
	Hourly        int     // questions of an hour
	AtOnce        int     // runs at once; 0: 16
	PerCaller     int     // runs at once of one caller; 0: half of AtOnce
	CallerCalls   int     // of a day, for questions of one caller; 0: half of Calls
	CallerUSD     float64 // of a day, for questions of one caller; 0: half of DailyUSD
	Memory        int64   // bytes that runs which have not ended hold; 0: 512 MiB
	CallerMemory  int64   // the same of one caller; 0: half of Memory
	Forms         []synod.Form
	Question      int // bytes of a question; 0: 16 KiB
}

// The values of Caps that are 0.
const (
	DefaultAtOnce   = 16
	defaultQuestion = 16 << 10
)

// atOnce returns how many runs are played at once, and how many of one caller: one that asks without end leaves places
// to others.
func (c *Caps) atOnce() (all, caller int) {
	if all = c.AtOnce; all == 0 {
		all = DefaultAtOnce
	}
	if caller = c.PerCaller; caller == 0 {
		caller = (all + 1) / 2
	}
	return all, caller
}

// callerCalls returns how many calls of a day questions of one caller may cause; 0: no limit.
func (c *Caps) callerCalls() int {
	if c.CallerCalls == 0 && c.Calls > 0 {
		return (c.Calls + 1) / 2
	}
	return c.CallerCalls
}

// callerUSD returns how much of a day's money questions of one caller may cost; 0: no limit.
func (c *Caps) callerUSD() float64 {
	if c.CallerUSD == 0 {
		return c.DailyUSD / 2
	}
	return c.CallerUSD
}

// saveAfter is how long after a call its cost is on disk, so that several calls share one write.
const saveAfter = 100 * time.Millisecond

// daily counts what the node spends in a day. A call that cost something is on disk saveAfter later, and when the
// node ends.
type daily struct {
	path    string
	caps    Caps
	now     func() time.Time
	prices  llm.Prices
	log     *slog.Logger
	mu      sync.Mutex
	timer   *time.Timer // nil: all is on disk, or unsaved is set
	unsaved error       // of the last write; nil: it succeeded
	saving  sync.Mutex  // held while the file is written
	Day     string      `json:"day"`
	Calls   int         `json:"calls"`
	Tokens  int         `json:"tokens"`
	// USD is what the replies of the day have cost.
	USD float64 `json:"usd"`
	// Callers has the calls of the day by who asked: their keys in hexadecimal.
	Callers map[string]int `json:"callers,omitempty"`
	// CallersUSD has what the replies for them have cost.
	CallersUSD map[string]float64 `json:"callers_usd,omitempty"`
}

func openDaily(path string, caps Caps, now func() time.Time, prices llm.Prices, log *slog.Logger) (*daily, error) {
	if prices == nil {
		prices = llm.Published()
	}
	d := &daily{path: path, caps: caps, now: now, prices: prices, log: log}
	b, err := durable.ReadFile(path, 1<<18)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		_, err = durable.DecodeSealed(b, d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; it counts what the node spent today: remove it to count from 0", path, err)
	}
	return d, nil
}

func (d *daily) today() {
	if day := d.now().UTC().Format(time.DateOnly); d.Day != day {
		d.Day, d.Calls, d.Tokens, d.USD, d.Callers, d.CallersUSD = day, 0, 0, 0, nil, nil
	}
}

// left fails if the day's limit is reached, in all or of a caller, or if what was spent cannot be written.
func (d *daily) left(caller string) error {
	if err := d.again(); err != nil {
		return fmt.Errorf("the node cannot write what it has spent today, so it spends nothing more: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	switch {
	case d.caps.Calls > 0 && d.Calls >= d.caps.Calls:
		return fmt.Errorf("the node has made %d calls today, which is its limit", d.Calls)
	case d.caps.callerCalls() > 0 && d.Callers[caller] >= d.caps.callerCalls():
		return fmt.Errorf("the node has made %d calls today for this caller, which is its limit for one",
			d.Callers[caller])
	case d.caps.callerUSD() > 0 && d.CallersUSD[caller] >= d.caps.callerUSD():
		return fmt.Errorf("the node has spent $%.2f today for this caller, and its limit for one is $%.2f",
			d.CallersUSD[caller], d.caps.callerUSD())
	case d.caps.Tokens > 0 && d.Tokens >= d.caps.Tokens:
		return fmt.Errorf("the node has used %d tokens today, which is its limit", d.Tokens)
	case d.caps.DailyUSD > 0 && d.USD >= d.caps.DailyUSD:
		return fmt.Errorf("the node has spent $%.2f today, and its limit is $%.2f", d.USD, d.caps.DailyUSD)
	}
	return nil
}

// budget returns what one run of a caller may spend: the limits of the council, and what is left of the day, in all and
// for the caller.
func (d *daily) budget(l plan.Limits, caller string) *llm.Budget {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	least := func(limit, left int) int {
		if left <= 0 {
			return limit
		}
		if limit == 0 {
			return left
		}
		return min(limit, left)
	}
	usd := l.USD
	for _, most := range []float64{d.caps.USD, max(d.caps.DailyUSD-d.USD, 0),
		max(d.caps.callerUSD()-d.CallersUSD[caller], 0)} {
		if most > 0 && (usd == 0 || most < usd) {
			usd = most
		}
	}
	return llm.NewBudget(least(l.Calls, d.caps.Calls-d.Calls), least(l.Tokens, d.caps.Tokens-d.Tokens)).WithMoney(usd,
		d.prices)
}

// again writes once more what could not be written. While it cannot be, the node spends nothing: it would forget it.
func (d *daily) again() error {
	d.mu.Lock()
	failed := d.unsaved != nil
	if failed && d.timer == nil {
		d.timer = time.NewTimer(saveAfter)
	}
	d.mu.Unlock()
	if !failed {
		return nil
	}
	d.save()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unsaved
}

// save writes what was spent, if it is not on disk.
func (d *daily) save() {
	d.saving.Lock()
	defer d.saving.Unlock()
	d.mu.Lock()
	if d.timer == nil {
		d.mu.Unlock()
		return
	}
	d.timer.Stop()
	d.timer = nil
	b, err := durable.EncodeSealed(d)
	d.mu.Unlock()
	if err == nil {
		err = durable.WriteFile(d.path, b)
	}
	d.mu.Lock()
	d.unsaved = err
	d.mu.Unlock()
	if err != nil {
		d.log.Error("the day's spending cannot be written", "error", err)
	}
}

// largest returns how many bytes of a question with its frame are read.
func (c *Caps) largest() int { return min(max(call.MaxText, c.Question+1<<10), call.MaxStart) }

// forwards counts the requests of callers that this node passes on now.
type forwards struct {
	mu  sync.Mutex
	all map[string]int // by the caller's key
}

// enter takes a place of a caller, of so many; false: it has none left.
func (f *forwards) enter(caller string, places int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]int{}
	}
	if f.all[caller] >= places {
		return false
	}
	f.all[caller]++
	return true
}

func (f *forwards) leave(caller string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[caller]--; f.all[caller] == 0 {
		delete(f.all, caller)
	}
}
