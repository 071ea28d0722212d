package defence

import "synod.dev/synod"

// Where several defences do something.
var (
	listing   = synod.With(synod.Lists)
	quoting   = synod.With(synod.Lists).Or(synod.Judges)
	reasoning = synod.With(synod.Reasons)
	typed     = synod.With(synod.Tells, synod.Votes).Or(synod.FirstVotes, synod.Votes)
)

func about(name, summary string) synod.Entry { return synod.Entry{Name: name, Summary: summary} }

// Catalogue lists every defence that has a switch.
var Catalogue = synod.NewCatalogue("defence",
	Entry{Entry: about("fence", "texts of others stand in prompts between borders that are new in every call"),
		About: `on   a text of another member stands on one line between two borders that follow from a secret of the
     asking seat and differ from call to call; quotation marks in quoted answers are escaped
off  it keeps its lines and stands between the lines "--- Proposed Answer ---" and
     "--- End of Proposed Answer ---", as in DecentLLMs Fig. 5; quotation marks stay`,
		Where: quoting, Against: []string{"delimiter-forger", "prompt-thief"}, Default: On,
		Cost:  "about 20 tokens for each text that is shown",
		field: func(g *synod.Guards) *bool { return &g.NoFence }, weak: true},
	Entry{Entry: about("tokens", "control tokens of chat templates are broken in texts of others"),
		About: `on   a space breaks every string that a chat template may use as a control token: <…>, [WORD], [|…|], <<…>>
off  texts of others keep them. Embedded models read the text of a message as plain text in both cases;
     whether the server of an endpoint does is not known`,
		Where: quoting, Against: []string{"delimiter-forger", "role-breaker"}, Default: On, Cost: "none",
		field: func(g *synod.Guards) *bool { return &g.KeepTokens }, weak: true},
	Entry{Entry: about("typed", "what is no answer of the declared form is dropped before anybody judges it"),
		About: `on   a message whose answer cannot be read in the form of the question counts as silence
off  a text of one line that cannot be read in the form of the question is judged, and may be taken over, as
     it stands`,
		Where: typed, Against: []string{"master-key", "null-model"}, Default: On, Cost: "none",
		field: func(g *synod.Guards) *bool { return &g.Untyped }, weak: true},
	Entry{Entry: about("blind", "lists of answers in prompts name no member"),
		About: `on   a list of answers does not say whose they are
off  each answer of a list has the id of its member before it. The owner of a member chooses its id`,
		Where: listing, Against: []string{"rival-slander"}, Default: On, Cost: "none",
		field: func(g *synod.Guards) *bool { return &g.Named }, weak: true},
	Entry{Entry: about("order", "each member draws the order in which it is shown answers of others"),
		About: `on   the order follows from a secret of the asking seat and from who sent each answer, so no member can
     foresee its place or choose it by its seat or its text; sac still shows the best scores first and draws
     among equal ones
off  the order is that of the seats; in sac, of the seats among equal scores; in cp-wbft, of the answers`,
		Where: listing, Against: []string{"position-squatter"}, Default: On, Cost: "none",
		field: func(g *synod.Guards) *bool { return &g.DrawOrder }, since: true},
	Entry{Entry: about("commit", "members commit to their first answers before any of them tells its own"),
		About: `on   a member first sends a hash of its first answer. It sends the answer when all members that are asked have
     committed, or their time is over, and all have said so; an answer without a commitment in time is silence
     and supports nothing. In cascade this is about the members that are asked at first: who is asked later
     has seen the answers before. In majority it does something with same: members only; in sac not with
     asynchronous: true
off  answers are sent at once, and a member that waits can copy one, which counts as independent`,
		Where: synod.With(synod.Tells).Or(synod.Joins), Against: []string{"copier", "last-mover"}, Default: On,
		Cost:  "no calls; two more messages to each neighbour, one after the other, before the first answers",
		field: func(g *synod.Guards) *bool { return &g.Commit }, since: true, later: true},
	Entry{Entry: about("echo-detector", "reasoning that repeats another member's earlier reasoning is not shown"),
		About: `on   a member remembers the runs of eight words of the reasoning that it heard and sent, with the member
     that sent each first. Reasoning of which a third or more is another member's of an earlier round is
     neither shown nor, where it is the member's own, sent; the answer beside it stays
off  reasoning is shown whoever wrote it first`,
		Where:   synod.With(synod.Reasons, synod.Rounds),
		Against: []string{"prompt-infector", "style-mirror"}, Default: Off, Cost: "none",
		field: func(g *synod.Guards) *bool { return &g.DropEchoes }, since: true},
	Entry{Entry: about("meta-talk", "sentences about members, judges and instructions are removed from reasoning"),
		About: `on   a sentence of another member's reasoning that speaks of members, judges, marks, prompts, instructions or
     other answers, and not of the question alone, is left out. It is a list of words: other words pass, and
     an honest sentence with such a word is lost, unless the question has the word too
off  reasoning is shown as it was written`,
		Where: reasoning, Default: Off, Cost: "none", Against: []string{"bandwagon", "judge-hypnotist",
			"peer-commander", "prompt-infector", "rival-slander", "threat-crier"},
		field: func(g *synod.Guards) *bool { return &g.DropMeta }, since: true},
	Entry{Entry: about("answer-first", "who judges answers first, alone, and sees its own answer when it judges"),
		About: `on   the prompt that asks for a score or for grades has the judge's own first answer, which it gave before it
     heard others. Evaluators of decentllms, which otherwise answer nothing, answer once
off  judges are told to solve the question themselves, in the same call`,
		Where: synod.With(synod.Solves), Default: Off,
		Cost:    "sac: about 15 tokens a score; decentllms: one call of each evaluator",
		Against: []string{"essayist", "judge-hypnotist", "persuader", "style-mirror"},
		field:   func(g *synod.Guards) *bool { return &g.AnswerFirst }, since: true},
	Entry{Entry: about("one-answer", "a judge sees one answer in each call"),
		About: `on   protocol.judge: one
off  protocol.judge: all. In sac every score has a call of its own, and there is no switch`,
		Key: "protocol.judge", Where: synod.With(synod.Grades, synod.Lists, synod.HashTies), Default: On,
		Against: []string{"delimiter-forger", "position-squatter", "rival-slander"},
		Cost:    "a call for each answer in place of one for all"},
	Entry{Entry: about("rationale", "reasoning that others see is capped"),
		About: `on   protocol.rationale is at most 1000 bytes: the protocol's default, or what the file says
off  protocol.rationale: 4000, the most that a message holds`,
		Key: "protocol.rationale", Where: reasoning, Default: On, Cost: "fewer tokens",
		Against: []string{"essayist", "overthinker", "persuader"}},
	Entry{Entry: about("support", "a decision needs more than F members that gave the answer before they heard others"),
		About: `on   rule.support: F+1, so at least one honest member gave the decided answer by itself
off  rule.support: 0`,
		Key: "rule.support", Where: synod.Anywhere, Default: Off,
		Cost: "decisions: an answer that few members found alone is not decided",
		Against: []string{"adaptive-persuader", "bandwagon", "division-of-labour", "echo", "insider-strategist",
			"judge-hypnotist", "last-mover", "peer-commander", "persuader", "sleeper", "style-mirror"}},
	Entry{Entry: about("strict-trim", "the F lowest-scored answers are dropped whatever the score of one's own"),
		About: `on   protocol.strict-trim: true
off  protocol.strict-trim: false: only answers that score below one's own are dropped`,
		Key: "protocol.strict-trim", Where: synod.With(synod.Judges, synod.Trims), Default: Off, Cost: "none",
		Against: []string{"anchor-poisoner"}},
	Entry{Entry: about("co-error", "members that err together count as one voice"),
		About: `on   protocol.together: the pairs that the trust file shows to give the same wrong answers too often, or
     those that the file lists
off  protocol.together: []: each member is a voice of its own. Weights by reliability stay`,
		Key: "protocol.together", Where: synod.With(synod.Learns), Default: On,
		Cost: "calls: a pair that counts once decides later", Against: []string{"colluder", "copier", "sybil-clones"}},
)
