package store

import (
	"errors"
	"testing"

	"pmg/sms"
)

// A failing store takes no batch.
type failing struct{ Store }

func (failing) Durable() bool { return false }

func (failing) Commit(*Batch) error { return errors.New("disk error") }

// Close returns even if the store fails for good: what is undone of a batch that failed would
// otherwise be tried again and again.
func TestCommitterCloseFailing(t *testing.T) {
	t.Parallel()
	c := NewCommitter(failing{}, running{})
	c.Write(func(b *Batch) { b.Put(&sms.Message{ID: 1, Origin: &sms.Origin{}}, Lane{Connector: "a"}) })
	c.Close()
	if st := c.Stats(); st.Failed != 1 || st.Commits != 0 {
		t.Errorf("%+v", st)
	}
}

// Sync does not wait for a commit that does not come any more, of changes that the last one has
// left or that came after Close.
func TestCommitterSyncClosed(t *testing.T) {
	t.Parallel()
	c := NewCommitter(failing{}, running{})
	c.Close()
	if err := c.Sync(); err != nil {
		t.Errorf("nothing is to be committed: %v", err)
	}
	c.Write(func(b *Batch) { b.Delete(1, 0) })
	if err := c.Sync(); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}
