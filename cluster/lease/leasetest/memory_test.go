package leasetest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pmg/cluster/lease"
)

func TestContract(t *testing.T) {
	Test(t, func(*testing.T) (one, other lease.Cell) {
		c := New(nil)
		return c.Of("a"), c.Of("b")
	})
}

// Each fault is what its comment says.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fault Fault
		c := New(func(string, bool) Fault { return fault })
		a := c.Of("a")
		update := func(value string, last uint64, f Fault) (uint64, error) {
			fault = f
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return a.Update(ctx, []byte(value), last)
		}
		read := func(f Fault) (string, uint64, error) {
			fault = f
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			value, version, err := a.Read(ctx)
			return string(value), version, err
		}
		wantRead := func(f Fault, wantValue string, wantVersion uint64, wantErr error) {
			t.Helper()
			if value, version, err := read(f); value != wantValue || version != wantVersion || !errors.Is(err, wantErr) {
				t.Errorf("read %q, version %d, %v; want %q, %d, %v", value, version, err, wantValue, wantVersion, wantErr)
			}
		}
		wantUpdate := func(value string, last uint64, f Fault, wantVersion uint64, wantErr error) {
			t.Helper()
			if version, err := update(value, last, f); version != wantVersion || !errors.Is(err, wantErr) {
				t.Errorf("update: version %d, %v; want %d, %v", version, err, wantVersion, wantErr)
			}
		}
		gone := context.DeadlineExceeded
		wantRead(Fault{}, "", 0, nil)
		wantUpdate("one", 1, Fault{}, 0, lease.ErrChanged)
		wantUpdate("one", 0, Fault{}, 1, nil)
		wantUpdate("other", 0, Fault{}, 0, lease.ErrChanged)
		wantUpdate("lost", 1, Fault{Lost: true}, 0, gone)
		wantRead(Fault{}, "one", 1, nil)
		wantUpdate("two", 1, Fault{Silent: true}, 0, gone)
		wantRead(Fault{Request: 400 * time.Millisecond, Answer: 400 * time.Millisecond}, "two", 2, nil)
		wantRead(Fault{Request: 600 * time.Millisecond, Answer: 600 * time.Millisecond}, "", 0, gone)
		wantRead(Fault{Stale: 1}, "one", 1, nil)
		wantRead(Fault{Stale: 9}, "", 0, nil)
		wantUpdate("late", 2, Fault{Request: 2 * time.Second}, 0, gone)
		wantRead(Fault{}, "two", 2, nil)
		time.Sleep(2 * time.Second)
		wantRead(Fault{}, "late", 3, nil)
		c.Cut("a", true)
		wantRead(Fault{}, "", 0, gone)
		wantUpdate("cut", 3, Fault{}, 0, gone)
		c.Cut("a", false)
		wantRead(Fault{}, "late", 3, nil)
		if got := c.Values(); len(got) != 3 || string(got[0]) != "one" {
			t.Errorf("values %q", got)
		}
	})
}
