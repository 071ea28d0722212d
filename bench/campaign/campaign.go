// Package campaign tries the claims of this module in many random executions. An execution is drawn from a seed: a
// protocol with its parameters, a graph, a bound F, Byzantine members, and a schedule of faults as a list of events. It
// is played under package sim with the machines that councils use, and all claims of its protocol are checked in it.
//
//	x := campaign.Draw(campaign.Subjects()[0], 42, campaign.Want{})
//	r := campaign.NewPlayer().Play(&x)
//	for _, v := range r.Violations {
//		fmt.Println(v.Claim, v.Detail)
//	}
//
// Run plays many executions on all processors and keeps a Tally in a folder; Shrink makes a failing execution small;
// Save and Load keep one as a file. The same code is behind "synod research campaign", "synod research verify-claims"
// and the tests of the protocols.
//
// What is claimed of a protocol and how to check it stands in the protocol's folder, as subjects (package
// protocol/check).
//
// The package has rank 7: it knows protocols and adversaries. It is no test code, because it runs on users' machines.
package campaign
