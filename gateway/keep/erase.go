package keep

import (
	"context"

	"pmg/store"
)

// Erasing gives access to the notes of a keeper's store, to remove the data of a person.
type Erasing struct{ keeper *Keeper }

// NewErasing returns the Erasing of a keeper.
func NewErasing(k *Keeper) *Erasing { return &Erasing{k} }

// EachNote implements store.Eraser.
func (e *Erasing) EachNote(ctx context.Context, f func(*store.Note) error) error {
	if err := e.keeper.Batches.Sync(); err != nil {
		return err
	}
	s := store.EraserOf(e.keeper.store)
	if s == nil {
		return nil
	}
	return s.EachNote(ctx, f)
}

// IsStill implements store.Eraser.
func (e *Erasing) IsStill(v *store.Note) (bool, error) {
	s := store.EraserOf(e.keeper.store)
	if s == nil {
		return false, nil
	}
	return s.IsStill(v)
}

// Purge implements store.Eraser.
func (e *Erasing) Purge(ctx context.Context, change func() error) error {
	s := store.EraserOf(e.keeper.store)
	if s == nil {
		return nil
	}
	return s.Purge(ctx, change)
}

// Write writes changes of notes, and returns when they are safe.
func (e *Erasing) Write(change func(*store.Batch)) error {
	e.keeper.Batches.Write(change)
	return e.keeper.Batches.Sync()
}
