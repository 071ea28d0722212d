package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
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

// places fails if the node plays as many runs as it may, in all or of one caller. n.mu is held.
func (n *Node) places(caller string) error {
	playing, own := 0, 0
	for _, r := range n.order {
		if r.over() {
			continue
		}
		if playing++; r.caller == caller {
			own++
		}
	}
	switch all, of := n.config.Caps.atOnce(); {
	case playing >= all:
		return fmt.Errorf("the node plays %d runs, and no more at once", playing)
	case own >= of:
		return fmt.Errorf("the node plays %d runs of this caller, and no more at once of one", own)
	}
	return nil
}

// admit decides whether to take part in a run that the owner of a key asks for. n.mu is held.
func (n *Node) admit(q *synod.Question, s *call.Start, caller string) error {
	c, now := n.config.Caps, n.now()
	ahead := time.UnixMilli(s.At).Sub(now)
	n.asked = slices.DeleteFunc(n.asked, func(t time.Time) bool { return now.Sub(t) > time.Hour })
	size := len(s.Question)
	_, priced := n.daily.prices.Of(n.model.Info())
	switch {
	case s.Limits.Nano > 0 && !priced:
		return errors.New("the caller limits the cost in USD, and this node does not know the price of its model")
	case n.draining.Load():
		return n.leaving()
	case n.shared.horizon.covers(s.At):
		return errors.New("this node has removed what it has signed in runs that began then")
	case n.wrongClock.Load():
		return fmt.Errorf("the node's clock differs from most of its neighbours' by more than %v", n.within/4)
	case ahead < -n.within/4:
		return fmt.Errorf("%s: by this node's clock it was %v ago, and may have been %v ago: compare the clocks",
			call.LateStart, -ahead.Round(time.Millisecond), n.within/4)
	case ahead > time.Minute:
		return fmt.Errorf("the run begins %v from now by this node's clock; it must begin within 1m: compare the "+
			"clocks", ahead.Round(time.Millisecond))
	case len(c.Forms) > 0 && !slices.Contains(c.Forms, q.Form):
		return fmt.Errorf("the node answers questions of the forms %v, and this one is %s", c.Forms, q.Form)
	case size > max(c.Question, 0) && c.Question > 0 || c.Question == 0 && size > defaultQuestion:
		return fmt.Errorf("the question has %d bytes, which is more than the node reads", size)
	case c.Hourly > 0 && len(n.asked) >= c.Hourly:
		return fmt.Errorf("the node has taken %d questions in the last hour, and takes no more", len(n.asked))
	}
	if err := n.places(caller); err != nil {
		return err
	}
	if err := n.hasRoom(caller, size); err != nil {
		return err
	}
	if err := n.daily.left(caller); err != nil {
		return err
	}
	if err := n.plan.Accepts(q); err != nil {
		return err
	}
	for _, p := range q.Attached() {
		if err := llm.TakesPart(n.model, &p); err != nil {
			return fmt.Errorf("the node's model cannot take the %s %s: %w", p.Kind, p.Name, err)
		}
	}
	n.asked = append(n.asked, now)
	return nil
}

// saveAfter is how long after a call its cost is on disk, so that several calls share one write.
const saveAfter = 100 * time.Millisecond

// daily counts what the node spends in a day. A call that cost something is on disk saveAfter later, and when the
// node ends.
type daily struct {
	path   string
	caps   Caps
	now    func() time.Time
	prices llm.Prices
	log    *slog.Logger
	mu     sync.Mutex
	timer  *time.Timer // nil: all is on disk
	saving sync.Mutex  // held while the file is written
	Day    string      `json:"day"`
	Calls  int         `json:"calls"`
	Tokens int         `json:"tokens"`
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
		err = json.Unmarshal(b, d)
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

// left fails if the day's limit is reached, in all or of a caller.
func (d *daily) left(caller string) error {
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

// spend counts the cost of a call for a question of a caller.
func (n *Node) spend(r *synod.Reply, caller string) {
	if kind := n.model.Info().Kind; r.Calls == 0 || r.Reused || kind == llm.Simulated || kind == llm.Recorded {
		return
	}
	d := n.daily
	d.mu.Lock()
	defer d.mu.Unlock()
	d.today()
	d.Calls, d.Tokens = synod.Sum(d.Calls, r.Calls), synod.Sum(d.Tokens, r.Spent().Total())
	if d.Callers == nil {
		d.Callers = map[string]int{}
	}
	d.Callers[caller] = synod.Sum(d.Callers[caller], r.Calls)
	use := llm.Use{Info: n.model.Info()}
	use.Add(r)
	money := d.prices.Bill([]llm.Use{use})
	if d.CallersUSD == nil {
		d.CallersUSD = map[string]float64{}
	}
	d.CallersUSD[caller] += money.AtLeast
	if d.USD += money.AtLeast; d.timer == nil {
		d.timer = time.AfterFunc(saveAfter, d.save)
	}
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
	b, err := json.Marshal(d)
	d.mu.Unlock()
	if err == nil {
		err = durable.WriteFile(d.path, b)
	}
	if err != nil {
		d.log.Error("the day's spending cannot be written", "error", err)
	}
}
