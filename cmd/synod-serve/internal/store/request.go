package store

import (
	"math"
	"time"
)

// Money is an amount in 1e-9 USD.
type Money int64

// USD returns the amount in 1e-9 USD, rounded up: a sum of rounded amounts never falls below what was spent.
func USD(usd float64) Money {
	if usd >= math.MaxInt64/2e9 {
		return math.MaxInt64 / 2
	}
	return Money(math.Ceil(usd * 1e9))
}

// USD returns the amount in USD.
func (m Money) USD() float64 { return float64(m) / 1e9 }

// Amount is money and tokens: what a request may cost or has cost, or a limit, where 0 is none.
type Amount struct {
	Money  Money
	Tokens int64
}

// Plus returns the sum.
func (a Amount) Plus(b Amount) Amount { return Amount{a.Money + b.Money, a.Tokens + b.Tokens} }

// Minus returns the difference.
func (a Amount) Minus(b Amount) Amount { return Amount{a.Money - b.Money, a.Tokens - b.Tokens} }

// Covers reports whether a is as much as b of both.
func (a Amount) Covers(b Amount) bool { return a.Money >= b.Money && a.Tokens >= b.Tokens }

// least returns the smaller amount of both.
func (a Amount) least(b Amount) Amount { return Amount{min(a.Money, b.Money), min(a.Tokens, b.Tokens)} }

// Request is a request as it begins.
type Request struct {
	ID    string
	Key   *Key // nil: none is needed
	API   string
	Model string
	Kept  string // the name of the journal that it will have; "": none
	// Question is kept beside the journal for searches; "" with Kept "".
	Question string
	Want     Amount // what is reserved for it; it gets less if its key has less left
	Whole    bool   // less than Want is of no use to it
}

// Grant is what a request may spend.
type Grant struct {
	Request
	Limit Amount // of a key with limits for a day; 0 of what has none
	Begun time.Time
}

// Result is how a request ended.
type Result struct {
	Status     string // of the decision, or what went wrong
	HTTP       int
	Spent      Money
	Tokens     int64 // what counts against a limit in tokens, if that is more than Prompt and Completion together
	Unpriced   bool  // the price of a part is not known
	Alone      Money // what the question would have cost the reference model alone, if it is compared
	Compared   bool  // that is known, and so is what was spent
	Calls      int
	Prompt     int
	Completion int
	Journal    string // its file's name; "": none is kept
	Answer     string // the decision, kept beside the journal for searches; "": there is none
	Bytes      int64  // size of the journal
}

// cost is what counts against the limits of a key.
func (r *Result) cost() Amount {
	return Amount{r.Spent, max(r.Tokens, int64(r.Prompt)+int64(r.Completion))}
}

// LimitError reports that a limit of a key is reached.
type LimitError struct {
	Limit string        // "rpm", "usd_day" or "tokens_day"
	Held  bool          // requests that have not ended have reserved what is missing, so some of it comes back
	Key   string        // the name of the key
	Wait  time.Duration // until the limit allows a request
	Text  string
}

// Error says which limit is reached.
func (e *LimitError) Error() string { return e.Text }

func (g *Grant) keyID() string {
	if g.Key == nil {
		return ""
	}
	return g.Key.ID
}

// day is the day of a time, in UTC, as a count.
func day(t time.Time) int64 { return t.Unix() / 86400 }

// Draw is what a request that runs wants to have reserved.
type Draw struct {
	Least, Need Amount
	Idle        bool // it has no call in flight: Least is spent, and does not come back
}
