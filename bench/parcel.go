package bench

import "fmt"

// Parcel is what another machine needs to play questions of a run: its manifest and its questions, as they are stored.
type Parcel struct {
	Manifest []byte `json:"manifest"`
	Items    []byte `json:"items"`
}

// Bounds of a parcel, in bytes.
const (
	maxManifest = 16 << 20
	maxItems    = 64 << 20
)

// Parcel returns the parcel of a run that has a folder.
func (r *Run) Parcel() (Parcel, error) {
	items, err := encodeItems(r.Items)
	return Parcel{[]byte(r.sealed), items}, err
}

// Unpack returns the run of a parcel, which has no folder. It fails if the run does not have this hash.
func (p Parcel) Unpack(hash string) (*Run, error) {
	if len(p.Manifest) > maxManifest || len(p.Items) > maxItems {
		return nil, fmt.Errorf("bench: the run has a manifest of %d bytes and questions of %d; at most %d and %d are "+
			"accepted", len(p.Manifest), len(p.Items), maxManifest, maxItems)
	}
	if err := checkVersion(p.Manifest, Version); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	r := &Run{}
	if _, _, err := unseal(p.Manifest, &r.RunManifest); err != nil {
		return nil, fmt.Errorf("bench: the manifest: %w", err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var err error
	if r.Items, err = readItems(p.Items, "the questions", r.RunManifest.Items); err != nil {
		return nil, err
	}
	if len(r.Items) != r.N {
		return nil, fmt.Errorf("bench: the run has %d questions and its manifest says %d", len(r.Items), r.N)
	}
	got, err := r.Hash()
	if err != nil {
		return nil, err
	}
	if got != hash {
		return nil, fmt.Errorf("bench: the run has the hash %.12s, not %.12s", got, hash)
	}
	return r, nil
}
