package faultdisk

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Sector is how many bytes a disk writes at once, or not at all.
const Sector = 512

// Kill lets the process die, if it has not, and begins another one. What was written can be read, whether it is on the
// disk or not.
func (d *Disk) Kill() { d.dead = false }

// PowerCut cuts the power and begins another process. Calls whose effect is not on the disk are lost from one on that
// is drawn, those of names and those of each file by themselves. With torn every sector of every write that is not on
// the disk is lost or not by itself.
func (d *Disk) PowerCut(r *rand.Rand, torn bool) {
	d.dead = false
	for _, c := range d.names[:r.IntN(len(d.names)+1)] {
		c.apply(d.stable)
	}
	d.names = nil
	for _, path := range slices.Sorted(maps.Keys(d.seen)) {
		if n := d.seen[path]; !n.folder {
			n.lose(r, torn)
		}
	}
	maps.DeleteFunc(d.stable, func(path string, n *node) bool { return !d.reached(path) })
	d.seen = maps.Clone(d.stable)
	for _, n := range d.seen { // among them those whose new name was lost
		n.data, n.dirty = slices.Clone(n.disk), nil
	}
}

// reached reports whether all folders above a name are on the disk.
func (d *Disk) reached(path string) bool {
	for above := filepath.Dir(path); above != path; path, above = above, filepath.Dir(above) {
		if d.stable[above] == nil {
			return false
		}
	}
	return true
}

// lose puts a part of the writes of a file that are not on the disk there.
func (n *node) lose(r *rand.Rand, torn bool) {
	most := r.IntN(len(n.dirty) + 1)
	for i, w := range n.dirty {
		switch {
		case torn && !w.cut:
			n.disk = w.sectors(n.disk, func(int) bool { return r.IntN(2) == 0 })
		case i < most || torn && r.IntN(2) == 0:
			n.disk = w.apply(n.disk)
		case i == most && !w.cut:
			whole := r.IntN(len(w.bytes)/Sector + 2)
			n.disk = w.sectors(n.disk, func(k int) bool { return k < whole })
			if r.IntN(2) == 0 { // the file has its new length, and the rest was never written
				n.disk = pad(n.disk, w.at+int64(len(w.bytes)))
			}
		}
	}
}

// sectors writes those sectors of a write that are to be kept, by their number in the write.
func (w *write) sectors(disk []byte, keep func(k int) bool) []byte {
	for k, from := 0, 0; from < len(w.bytes); k++ {
		end := min(len(w.bytes), from+Sector-int((w.at+int64(from))%Sector))
		if keep(k) {
			part := write{at: w.at + int64(from), bytes: w.bytes[from:end]}
			disk = part.apply(disk)
		}
		from = end
	}
	return disk
}

// apply makes a write or a truncation in the bytes of a file.
func (w *write) apply(b []byte) []byte {
	if w.cut {
		return pad(b, w.at)[:w.at]
	}
	b = pad(b, w.at+int64(len(w.bytes)))
	copy(b[w.at:], w.bytes)
	return b
}

// pad makes the bytes of a file at least so long, with zeros.
func pad(b []byte, size int64) []byte {
	if more := size - int64(len(b)); more > 0 {
		b = append(b, make([]byte, more)...)
	}
	return b
}
