package journal

import "synod.dev/synod"

// Asked is a model call on file, with what was asked.
type Asked struct {
	Key
	Prompt *synod.Prompt
	Round  int // of the asker's next note; -1: it noted nothing more
}

// Asked lists every model call, in order.
func (run *Run) Asked() []Asked {
	var out []Asked
	open := map[synod.NodeID]int{} // from where in out a node's calls wait for its next note
	for _, k := range run.lines {
		if k.Opinion != nil {
			for i := open[k.Node]; i < len(out); i++ {
				if out[i].Node == k.Node {
					out[i].Round = k.Opinion.Round
				}
			}
			open[k.Node] = len(out)
		}
		if k.What != "consult" || k.Prompt == nil {
			continue
		}
		p := *k.Prompt
		p.Question = &run.Head.Question
		out = append(out, Asked{Key{k.Node, synod.ConsultID(k.ID)}, &p, -1})
	}
	return out
}
