package report

import (
	"fmt"
	"slices"
	"strings"
)

// kindsCell is KindsCell of the report.
func (r *Report) kindsCell() string { return KindsCell(r.MembersKind, r.Seats) }

// KindsCell names the kinds of members in a cell of a table, and what is assumed to fool simulated ones, so that their
// figures are not taken for measured ones: "simulated (assumed, not measured: it …)".
func KindsCell(kinds []string, seats []Member) string {
	return strings.Join(kinds, "+") + fooledBy(fooling(seats))
}

// fooling lists what is assumed to fool simulated members, each assumption once.
func fooling(seats []Member) (all []string) {
	for _, m := range seats {
		if m.Fooling != "" && !slices.Contains(all, m.Fooling) {
			all = append(all, m.Fooling)
		}
	}
	return all
}

// mostJudges is how many kinds of judges a report names.
const mostJudges = 4

// judging names the assumption that a ranking of protocols hangs on: how simulated members judge. "": no member is
// simulated.
func judging(seats []Member) string {
	var all []string
	for _, m := range seats {
		if m.Judging != "" && !slices.Contains(all, m.Judging) {
			all = append(all, m.Judging)
		}
	}
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - mostJudges; more > 0 {
		return said(all[:mostJudges]) + fmt.Sprintf(" %d more kinds of judges are in the JSON report.", more)
	}
	return said(all)
}

func said(all []string) string {
	return "Figures of protocols in which simulated members judge depend on how well they do: such a judge " +
		plain(strings.Join(all, "; another one ")) + "."
}

// fooledBy prints assumptions in brackets, nothing without any.
func fooledBy(fooling []string) string {
	if len(fooling) == 0 {
		return ""
	}
	return " (" + plain(strings.Join(fooling, "; ")) + ")"
}
