package lab

import (
	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/metrics"
	"synod.dev/synod/report"
)

// drops counts by pair of seats whose answers were dropped and whose retained.
type drops struct{ dropped, retained [][]int }

func newDrops(seats int) *drops {
	square := func() [][]int {
		rows := make([][]int, seats)
		for i := range rows {
			rows[i] = make([]int, seats)
		}
		return rows
	}
	return &drops{square(), square()}
}

func (d *drops) add(noted []journal.Noted) {
	for _, n := range noted {
		add := func(to [][]int, of []synod.NodeID) {
			for _, j := range of {
				if in(n.Node, len(to)) && in(j, len(to)) && j != n.Node {
					to[n.Node][j]++
				}
			}
		}
		add(d.dropped, n.Dropped)
		add(d.retained, n.Retained)
	}
}

func in(id synod.NodeID, seats int) bool { return id >= 0 && int(id) < seats }

// list is every pair that met, in order.
func (d *drops) list(seats []report.Seat) []report.Drop {
	list := []report.Drop{}
	for i, by := range seats {
		for j, of := range seats {
			k := d.dropped[i][j]
			if share := metrics.Wilson(k, k+d.retained[i][j]); share != nil {
				list = append(list, report.Drop{By: by.ID, Of: of.ID, Dropped: k, Share: share})
			}
		}
	}
	return list
}
