package game

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol/bargain"
)

// What players say and see is that of all protocols whose members bargain.
type (
	// Vote is a player's vote about ending the game (GM-2).
	Vote = bargain.Vote
	// Proposal is what a player sent to everybody in a round.
	Proposal = bargain.Proposal
	// Past is an earlier round.
	Past = bargain.Past
	// Table is the game as one player may see it (GM-1, GM-5).
	Table = bargain.Table
)

// The votes, and the purposes of the prompts.
const (
	Stop      = bargain.Stop
	Continue  = bargain.Continue
	Abstain   = bargain.Abstain
	Proposing = bargain.Proposing
	Voting    = bargain.Voting
)

// TableOf returns the table of a prompt, or nil if the prompt is not from a game.
func TableOf(p *synod.Prompt) *Table { return bargain.TableOf(p) }
