package bench

import "synod.dev/synod/council/outcome"

// Failed reports whether a question has no valid outcome because calls failed or a limit was reached, and why. Such a
// question is in no figure. It is for protocols without named endings.
func Failed(o *outcome.Outcome) (yes bool, reason string) { return failed(o, false) }
