package journal

import "synod.dev/synod"

// Asked is a model call on file, with what was asked.
type Asked struct {
	Key
	Prompt *synod.Prompt
}

// Asked lists every model call, in order.
func (run *Run) Asked() []Asked {
	var out []Asked
	for _, k := range run.lines {
		if k.What != "consult" || k.Prompt == nil {
			continue
		}
		p := *k.Prompt
		p.Question = &run.Head.Question
		out = append(out, Asked{Key{k.Node, synod.ConsultID(k.ID)}, &p})
	}
	return out
}
