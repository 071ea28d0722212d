package reveal

import (
	"slices"

	"synod.dev/synod"
)

// outbox is the effects of a machine. All of one run are separate, and another run uses them again.
type outbox struct {
	sent   []synod.Effect // sends
	sends  int            // of this run
	held   []int          // openings in sent that have not left
	alarms []synod.Effect
	set    int // alarms of this run
}

// send sends a message of the package. body is copied, and to as well, unless it is the list of all neighbours.
func (o *outbox) send(m *machine, to []synod.NodeID, name string, round int, body []byte) {
	if len(to) == 0 {
		return
	}
	x := o.message(m, to, synod.Slot{Name: name, Round: round})
	x.Body = append(x.Body[:0], body...)
	m.out = append(m.out, o.sent[o.sends-1])
}

// hold keeps a message of the inner machine until open sends it behind the salt. It returns the body of the opening.
func (o *outbox) hold(m *machine, s synod.Send) []byte {
	x := o.message(m, s.To, synod.Slot{Name: Open})
	x.Body = append(append(x.Body[:0], m.salt[:]...), s.Body...)
	o.held = append(o.held, o.sends-1)
	return x.Body
}

// open sends what is held.
func (o *outbox) open(m *machine) {
	for _, k := range o.held {
		m.out = append(m.out, o.sent[k])
	}
	o.held = o.held[:0]
}

// message returns the next message, in an effect of an earlier run if there is one.
func (o *outbox) message(m *machine, to []synod.NodeID, slot synod.Slot) *synod.Message {
	k := o.sends
	o.sends++
	if k == len(o.sent) {
		o.sent = append(o.sent, synod.Send{Message: new(synod.Message)})
	}
	old := o.sent[k].(synod.Send)
	if !slices.Equal(old.To, to) {
		o.sent[k] = synod.Send{To: slices.Clone(to), Message: old.Message}
	}
	old.Message.From, old.Message.Slot = m.self, slot
	return old.Message
}

// alarm sets the next alarm.
func (o *outbox) alarm(m *machine, at synod.Tick) {
	k := o.set
	o.set++
	if k == len(o.alarms) {
		o.alarms = append(o.alarms, nil)
	}
	if a := (synod.Alarm{ID: ownAlarms + synod.AlarmID(k), At: at}); o.alarms[k] != synod.Effect(a) {
		o.alarms[k] = a
	}
	m.out = append(m.out, o.alarms[k])
}
