package synod

// Guards say how a member treats what other members send. The switches of a council file set them (package
// defence), for all members alike. The zero value fences texts of others, breaks control tokens in them, reads
// answers in the declared form only and names nobody in prompts; it does none of the rest.
type Guards struct {
	NoFence     bool // texts of others stand between fixed lines that everybody can write
	KeepTokens  bool // control tokens of chat templates stay in texts of others
	Untyped     bool // a text that is no answer of the declared form counts as an answer
	Named       bool // lists of answers name the members that gave them
	DrawOrder   bool // each member draws the order in which it is shown equally good answers of others
	DropEchoes  bool // reasoning that repeats another member's earlier reasoning is not shown
	DropMeta    bool // sentences about members, judges and instructions are removed from reasoning
	AnswerFirst bool // who judges answers first, alone, and has its answer before it when it judges
	Commit      bool // members commit to their first answers before they tell them (package protocol/reveal)
}
