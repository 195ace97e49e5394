package operate

import (
	"context"
	"errors"
	"testing"
)

// A list is one at a time for an account, and few for all. It ends its search whatever becomes of it.
func TestListBusy(t *testing.T) {
	t.Parallel()
	d := newRig(t, 0)
	client := d.client()
	list := func() error {
		_, err := d.List(context.Background(), client, 0, 0, func(*Known) bool { return true })
		return err
	}
	for range 2 {
		if err := list(); !errors.Is(err, ErrNoList) {
			t.Errorf("a store that does not list: %v", err)
		}
	}
	client.Search()
	if err := list(); !errors.Is(err, ErrBusy) {
		t.Errorf("while the account searches: %v", err)
	}
	client.EndSearch()
	d.searching.Add(maxSearching)
	if err := list(); !errors.Is(err, ErrBusy) {
		t.Errorf("while others search: %v", err)
	}
	if d.searching.Add(-maxSearching) != 0 || !client.Search() {
		t.Errorf("%d search when all have ended", d.searching.Load())
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
