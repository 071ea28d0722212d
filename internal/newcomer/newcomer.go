// Package newcomer has a protocol, an adversary and a task as somebody who is new to this module would write them, one
// file each.
//
// Tests add them to the catalogues and see that all parts of the module take them as they are: attacks, certificates,
// nodes, the gateway and its page, campaigns, runs of tasks. So nothing but an entry has to be written for them. The
// script in CONTRIBUTING.md copies these files to their places in a clone of the repository, and TestScript counts the
// files that it changes.
//
// The package has rank 6: it uses adversary.
package newcomer
