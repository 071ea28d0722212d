package game

import (
	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Entry is the protocol in the catalogue.
var Entry = protocol.Entry{
	Entry:   synod.Entry{Name: "game", Summary: "the Byzantine consensus game: propose a number, hear all, vote to stop"},
	Source:  `Berdoz, Rugli, Wattenhofer, "Can AI Agents Agree?"`,
	About:   About,
	New:     func() protocol.Protocol { return New() },
	Prompts: Prompts,
}

// About says what the protocol is, for "synod explain".
const About = `Every player is given a whole number. In each round all tell each other a number
and a reason, and then vote on ending the game, which two thirds of all players
do. It has gone well if it ends with all honest players on one number that one of
them was given. It measures members and not questions: see synod game.

guaranteed  exactly one of valid, invalid, premature, none; with at most a third of
            the players Byzantine the honest alone can end it.
not promised  that they do: most games of small models run out of rounds.

rounds    T_max (50)
low, high the range of the numbers (0, 50)
variant   what prompts say of hostile players: may-exist, no-adversary, unmentioned
stop      two-thirds, or 66-percent as the paper's prompts have it
history   rounds that a prompt shows (1)
reason    bytes of a public reason that are shown (300)
attempts  tries at a reply that can be read (3)
rule      who says what a player holds: none (its model), or code: mode, median,
          w-msr, and final-vote, which ends a game that nobody ended
threat    restricted: one message a sender and round, checked by all who hear;
          open: whatever comes is taken`
