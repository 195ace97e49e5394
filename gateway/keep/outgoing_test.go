package keep

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"pmg/connector"
	"pmg/gateway/node"
	"pmg/store"
)

// What the gateway has made waits for the next commit if its own has failed.
func TestOutgoingAfterFailedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := New(&node.Node{Pass: func(string) {}})
		k.Outgoing.Begin(func(*connector.Lane, func(int64)) bool { return true })
		var given []uint64
		for _, at := range []uint64{0, 3, 5} {
			k.Outgoing.Give(Own{After: store.PositionOf(at), Work: func() { given = append(given, at) }})
		}
		want := func(want ...uint64) {
			t.Helper()
			if synctest.Wait(); fmt.Sprint(given) != fmt.Sprint(want) {
				t.Errorf("%v were given, want %v", given, want)
			}
		}
		want(0)
		k.committed(store.PositionOf(3), errors.New("disk error"))
		want(0)
		k.committed(store.PositionOf(4), nil)
		want(0, 3)
	})
}
