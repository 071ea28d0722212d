package store

import (
	"context"
	"database/sql"
	"encoding/binary"
)

// scrubAtOnce is how many pages one transaction looks at, so that gateways wait for none of them long.
const scrubAtOnce = 512

// scrub overwrites what lies in the unused parts of the pages of the file. SQLite overwrites what it deletes, but not
// the copies that it leaves behind when it moves rows between pages.
func (s *Store) scrub(ctx context.Context, gives bool) error {
	var size, pages int
	if err := s.db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	for first := 1; ; first += scrubAtOnce {
		if err := s.db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil || first > pages {
			return err
		}
		err := s.run(func(ctx context.Context, tx *sql.Tx) error {
			for n := first; n < min(first+scrubAtOnce, pages+1); n++ {
				if gives && isMap(n, size) {
					continue
				}
				var data []byte
				err := tx.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = $1", n).Scan(&data)
				if err == sql.ErrNoRows { // the file has shrunk
					return nil
				}
				if err == nil && blank(n, data) {
					_, err = tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = $1 WHERE pgno = $2", data, n)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// isMap reports whether a page has the map of a file that gives back free pages (section 1.8 of SQLite's file format).
func isMap(n, size int) bool {
	return n > 1 && (n-2)%(size/5+1) == 0
}

// blank writes zeros over the unused parts of a page of a tree (section 1.6 of SQLite's file format), and reports
// whether there was anything else. Pages of other kinds stay as they are.
func blank(n int, page []byte) (changed bool) {
	at := 0
	if n == 1 {
		at = 100 // after the header of the file
	}
	if len(page) < at+12 {
		return false
	}
	head := 8
	switch page[at] {
	case 2, 5: // inner pages
		head = 12
	case 10, 13:
	default:
		return false
	}
	word := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	free, cells, content := word(at+1), word(at+3), word(at+5)
	if content == 0 {
		content = 1 << 16
	}
	end := at + head + 2*cells
	if end > content || content > len(page) {
		return false // it is none
	}
	zero := func(part []byte) {
		for i := range part {
			changed = changed || part[i] != 0
			part[i] = 0
		}
	}
	type part struct{ from, to int }
	parts := []part{{end, content}}
	for before := content; free != 0; free = word(free) { // free blocks, in the order of their places
		if free < before || free+4 > len(page) || free+word(free+2) > len(page) || word(free+2) < 4 {
			return false // it is none
		}
		before = free + word(free+2)
		parts = append(parts, part{free + 4, before})
	}
	for _, p := range parts {
		zero(page[p.from:p.to])
	}
	return changed
}
