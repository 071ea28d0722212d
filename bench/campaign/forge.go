package campaign

import (
	"math"
	"reflect"

	"synod.dev/synod"
)

// forged returns an opinion with another answer, another confidence, a record that was changed, or several of these.
func (c *recombiner) forged(o *synod.Opinion) *synod.Opinion {
	p := *o
	if c.r.IntN(2) == 0 {
		p.Answer = c.otherAnswer()
	}
	if p.Confidence != nil && c.r.IntN(2) == 0 {
		sure := []float64{0, .5, 1, 1.5, -.5, math.NaN(), math.Inf(1)}[c.r.IntN(7)]
		p.Confidence = &sure
	}
	if p.Record != nil {
		p.Record = c.forgedRecord(p.Record)
	}
	return &p
}

// otherAnswer returns an answer that was heard, or none, or another one.
func (c *recombiner) otherAnswer() synod.Answer {
	heard, known := pick(c.r, c.now.leaves[reflect.TypeFor[synod.Answer]()])
	switch k := c.r.IntN(6); {
	case k == 0:
		return synod.None
	case known && k < 4:
		return synod.Answer(heard.String())
	}
	return synod.Answer(rune('0' + c.r.IntN(4)))
}

// forgedRecord returns a copy of a record with a change, and with what its member has signed signed again.
func (c *recombiner) forgedRecord(r synod.Record) synod.Record {
	given := reflect.ValueOf(r)
	if given.Kind() == reflect.Pointer {
		given = given.Elem()
	}
	c.v = cloned(given)
	change := []func(*recombiner) bool{(*recombiner).repeat, (*recombiner).leaveOut, (*recombiner).renumber,
		(*recombiner).revalue, (*recombiner).lift, (*recombiner).invent,
		func(*recombiner) bool { return true }}[c.r.IntN(7)]
	change(c)
	if c.r.IntN(4) > 0 {
		c.sign()
	}
	if reflect.TypeOf(r).Kind() == reflect.Pointer {
		return c.v.Addr().Interface().(synod.Record)
	}
	return c.v.Interface().(synod.Record)
}
