package council

import (
	"cmp"
	"context"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
)

// secondChance returns the prompt of the second request for a reply; nil: there is none. The reply came and could not
// be read, and it is the first one to its prompt. Simulated and recorded members have no second reply.
func secondChance(p *plan.Plan, kind llm.Kind, asked *synod.Prompt, r *synod.Reply) *synod.Prompt {
	if plan.Free(kind) || !plan.SecondChances(p) || r.Status != synod.OK || r.Typed || asked.Exact ||
		asked.Unread != "" {
		return nil
	}
	if r.Reread != synod.RereadPending {
		if r.Reread != "" || strings.TrimSpace(clean.Fold(r.Text)) == "" || read.Readable(asked, r) {
			return nil
		}
	}
	again := *asked
	again.Unread, again.Failed, again.Plain = r.Text, r.Failed, r.Plain
	return &again
}

// pending returns a reply before the second request for it leaves. It stands in the journal, so that a run which is cut
// off has it.
func pending(r synod.Reply) synod.Reply {
	r.Reread = synod.RereadPending
	return r
}

// second returns the reply to a prompt after the reply to the second request for it has come. A second request that was
// not sent, because the run was ending or its budget was spent, stays pending: a resumed run sends it.
func second(asked *synod.Prompt, r, again synod.Reply) synod.Reply {
	out := r
	usable := again.Status == synod.OK && !again.Typed && read.Readable(asked, &again)
	switch {
	case again.Status == synod.Dropped:
		out.Reread = synod.RereadPending
	case usable:
		out = again
		out.Reread, out.Other = synod.RereadUsed, r.Text
		if r.Failed != nil {
			out.Reread = synod.RereadCorrected
		}
		out.Model, out.Confidence = cmp.Or(r.Model, again.Model), cmp.Or(again.Confidence, r.Confidence)
		out.Reused = r.Reused && again.Reused
	default:
		out.Reread, out.Other, out.Failed = synod.RereadUseless, again.Text, cmp.Or(again.Failed, r.Failed)
		if again.Status != synod.OK {
			out.Detail = cmp.Or(out.Detail, "the second request failed: "+again.Detail)
		}
	}
	return costing(out, &r, &again)
}

// costing returns a reply for which two requests were sent, with what both cost.
func costing(out synod.Reply, first, again *synod.Reply) synod.Reply {
	out.Calls, out.Usage = synod.Sum(first.Calls, again.Calls), first.Usage.Plus(again.Usage)
	out.Charged = synod.Usage{}
	if sum := first.Spent().Plus(again.Spent()); sum != out.Usage {
		out.Charged = sum
	}
	out.Fault, out.Took = cmp.Or(first.Fault, again.Fault), synod.Sum(first.Took, again.Took)
	return out
}

// reread sends the second request for a reply that could not be read, within the time of its call.
func (s *session) reread(ctx context.Context, seat *seated, call *sim.Call, spare bool, r *synod.Reply) {
	again := secondChance(s.council.plan, seat.model.Info().Kind, call.Prompt, r)
	if again == nil || ctx.Err() != nil || s.lost() != nil {
		return
	}
	*r = pending(*r)
	s.write(seat, call, r)
	var next synod.Reply
	s.asked(ctx, seat, &sim.Call{Node: call.Node, ID: call.ID, Prompt: again}, spare, &next)
	*r = second(call.Prompt, *r, next)
}

// write writes a reply into the journal.
func (s *session) write(seat *seated, call *sim.Call, r *synod.Reply) {
	switch {
	case s.journal == nil:
	case r.Calls == 0 || seat.free:
		s.journal.Free(call.Node, call.ID, *r)
	default:
		s.journal.Reply(call.Node, call.ID, *r)
	}
}

// unfinishedReply returns the first reply of an earlier, cut-off run for which the second request is still to be sent.
func unfinishedReply(s *session, call *sim.Call) (r synod.Reply, ok bool) {
	if s.ask.Resume == nil {
		return r, false
	}
	r = s.ask.Resume.Replies[journal.Key{Node: call.Node, ID: call.ID}]
	return r, r.Reread == synod.RereadPending
}
