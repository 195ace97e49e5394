package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/connector"
	"pmg/connector/queue"
	"pmg/gateway"
	"pmg/gateway/keep"
	"pmg/gateway/operate"
	"pmg/gateway/roomtest"
	"pmg/sms"
	"pmg/store"
)

// The event of a message that an operator deletes from its queue contains the time at which it was
// accepted by the wall clock, also if that clock was set since the gateway began. It does not
// matter whether the lane keeps the message or only its entry.
func TestDeletedWhen(t *testing.T) {
	t.Parallel()
	durable, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(t, "")
	dir := p.withEvents(durable)
	const ahead = int64(time.Hour)
	p.g.Node.Clock.SetAhead(ahead)
	p.g.Keeper.SetRecovered()
	p.submit(p.client())
	stored := p.storing[0]
	share, entry := stored.Share, p.g.Node.Messages.Copy(stored.Message)
	entry.ID = p.g.Keeper.IDs.Add(100)
	p.g.Keeper.Put(stored.Accepted, []keep.Accepted{{Message: entry, Share: share}})
	if err := p.g.Keeper.Batches.Sync(); err != nil {
		t.Fatal(err)
	}
	p.c.Stored(p.now, stored, sms.OK)
	e := p.withLanes()
	share.Lane.Queues.Restore(p.now, share, queue.Waiting{ID: entry.ID, Arrived: p.now})
	p.g.Keeper.Begin(roomtest.Engine(e.Do))
	page, err := p.g.Operate.ChangeStored(t.Context(), operate.QueueChange{What: operate.DeleteMessages}, operate.Selection{}, 0, 10)
	if err != nil || len(page.Messages) != 2 || page.Messages[0].Result != operate.ResultDeleted || page.Messages[1].Result != operate.ResultDeleted {
		t.Fatalf("%+v, %v", page, err)
	}
	if err := p.g.Close(); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "events.log"))
	want := `"accepted_at":"` + time.Unix(0, now+ahead).UTC().Format("2006-01-02T15:04:05")
	if err != nil || strings.Count(string(b), want) != 2 {
		t.Errorf("%s %v, want %s", b, err, want)
	}
}

// An interruptedEngine is one whose operator goes away when a lane is asked, once; lanes that are
// asked then do not answer.
type interruptedEngine struct {
	gateway.Engine
	cancel func()
	asked  int
	waits  []func()
}

func (e *interruptedEngine) Do(l *connector.Lane, f func(now int64)) bool {
	if e.asked++; e.asked != 2 {
		return e.Engine.Do(l, f)
	}
	e.cancel()
	e.waits = append(e.waits, func() { e.Engine.Do(l, f) })
	return true
}

// A change of queues that is interrupted leaves messages in their lanes.
func TestChangeInterrupted(t *testing.T) {
	t.Parallel()
	for _, what := range []string{operate.RetryMessages, operate.MoveMessages} {
		durable, err := store.Open("store", store.Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		p := newPort(t, "")
		p.withEvents(durable)
		p.g.Keeper.SetRecovered()
		p.submit(p.client())
		stored := p.storing[0]
		share, other := stored.Share, p.g.Node.Messages.Copy(stored.Message)
		other.ID = p.g.Keeper.IDs.Add(100)
		p.g.Keeper.Put(stored.Accepted, []keep.Accepted{{Message: other, Share: share}}) // which is under way
		if err := p.g.Keeper.Batches.Sync(); err != nil {
			t.Fatal(err)
		}
		e := p.withLanes()
		share.Lane.Queues.Restore(p.now, share, queue.Waiting{ID: stored.Message.ID, Arrived: stored.Message.Arrived})
		ctx, cancel := context.WithCancel(t.Context())
		gone := &interruptedEngine{Engine: e, cancel: cancel}
		change := operate.QueueChange{What: what, To: "operator"}
		p.g.Keeper.Begin(roomtest.Engine(gone.Do))
		if _, err = p.g.Operate.ChangeStored(ctx, change, operate.Selection{}, 0, 10); err == nil {
			t.Errorf("%s was not interrupted", what)
		}
		p.c.Stored(p.now, stored, sms.OK)
		for _, f := range gone.waits {
			f() // that reaches the lane too late
		}
		if n := share.Lane.Queues.Len(); n != 1 {
			t.Errorf("%s: %d messages are in the lane", what, n)
		}
	}
}
