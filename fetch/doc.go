// Package fetch brings files from public hubs, checked against what is pinned of
// them. It stands alone because models and data sets are fetched alike, and one
// careful downloader is better than two.
//
// Only https is asked, redirects included, and an answer is bounded by the pinned
// size. What has come is kept when a connection breaks, and the next try goes on
// there. The caller renames the file to its place once Download has returned, under
// Lock, so that no reader ever sees half a file and no two processes write one.
//
//	err := fetch.Client{}.Download(ctx, url, name+".part", fetch.Want{Bytes: 749738, SHA256: "3730…"}, nil)
package fetch
