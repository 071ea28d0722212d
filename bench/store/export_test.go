package store

// Break makes the next write to the segment fail.
func Break(s *Store) { s.out.file.Close() }
