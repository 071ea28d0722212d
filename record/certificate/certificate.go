// Package certificate makes and verifies certificates of decisions: a file with which
// somebody who was not there can check who stands behind an answer.
//
// A certificate is a DSSE envelope with an in-toto statement about the answer. The
// statement holds a Statement in canonical CBOR: hashes of question and answer, protocol
// and parameters, the council's hash, the graph with its robustness, the claimed bound F,
// the answers of all members as hashes, and what follows from them. File has one spelling:
// Parse refuses a file that differs in one bit (CE-1, finding F9).
//
// One owner who runs all members signs alone (Owner); everything in such a certificate is
// that owner's claim. In a council of several owners (Roster) every member signs its own
// vote, and more than F members with the answer sign the statement.
//
// Verify checks the signatures and recomputes what can be recomputed: the robustness of the
// graph, what the protocol guarantees on it, support, what the answer withstands, and that
// the rule leads to the answer. examples/verify has a second verifier, in Python, that
// shares no code with this one.
//
//	s, err := plan.Statement(instance, &outcome)  // package council
//	c, err := certificate.Signed(&s, secret)
//	file, err := c.File()
//	…
//	c, err = certificate.Parse(file)
//	report, err := certificate.Verify(c, nil)     // err: the first thing that is wrong
//
// DSSE's encoding of what is signed is a dozen lines in package sign, because the library
// go-securesystemslib brings signers for cloud services and formats that Synod does not
// use. The package has rank 4: it uses roster, committee, sign and graph/robustness.
package certificate
