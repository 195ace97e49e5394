package system

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/loadtest/httpload"
)

// Messages that a load sends by HTTP, one by one and in streams, arrive once each, and its receiver of events hears the end
// of each once.
func TestHTTPLoad(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	for _, way := range []httpload.Way{httpload.Single, httpload.Keyed, httpload.Stream} {
		t.Run(fmt.Sprintf("way %d", way), func(t *testing.T) {
			t.Parallel()
			p, sink := startBetween(t, loadtest.SinkOptions{Receipts: true}, site{
				more:     "{name: api, direction: in, protocol: http, address: \"127.0.0.1:0\"}\n",
				accounts: "{system_id: api, password: s3cret, bind: [transmitter], callback_urls: [127.0.0.0/8], callbacks: public}",
			})
			o := httpload.Options{LoadOptions: loadtest.DefaultLoadOptions(), Way: way}
			o.To, o.SystemID, o.Password, o.Timeout = p.Listens("api"), "api", "s3cret", testutil.Patience
			o.Connections, o.Window, o.Messages, o.Receipts, o.First = 4, 50, 1000, true, 7
			ctx, cancel := context.WithTimeout(t.Context(), 3*testutil.Patience)
			defer cancel()
			r, err := httpload.Load(ctx, o)
			if err != nil {
				t.Fatal(err)
			}
			if p := r.Problems(); p != nil || r.Accepted != 1000 || r.Receipts != 1000 || r.ReceiptStates["delivered"] != 1000 || r.Latency.P50 <= 0 {
				t.Errorf("%v, %+v", p, r)
			}
			if err := sink.Await(ctx, 1000); err != nil {
				t.Error(err)
			}
			if c := loadtest.Compare(r, sink.Result()); c.Delivered != 1000 || c.Problems() != nil {
				t.Errorf("%+v", c)
			}
			if c := loadtest.Compare(r, new(nothing)); c.Missing != 1000 {
				t.Errorf("nothing arrives: %+v", c)
			}
		})
	}
}

// Nothing is the result of a sink where nothing has arrived.
type nothing struct{ numbers loadtest.Numbers }

func (n *nothing) Numbers() *loadtest.Numbers { return &n.numbers }

// What goes wrong with a load by HTTP is in its result.
func TestHTTPLoadFails(t *testing.T) {
	t.Parallel()
	p := startSite(t, site{more: `{name: api, direction: in, protocol: http, address: "127.0.0.1:0"}`, operator: `{name: operator, direction: out, address: "127.0.0.1:1", system_id: a, static: false}`})
	f := func(change func(*httpload.Options)) *loadtest.LoadResult {
		t.Helper()
		o := httpload.Options{LoadOptions: loadtest.DefaultLoadOptions()}
		o.To, o.SystemID, o.Password, o.Timeout = p.Listens("api"), "acme", "s3cret", testutil.Patience
		o.Messages = 5
		change(&o)
		r, err := httpload.Load(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := f(func(*httpload.Options) {}); r.Refused != 5 || r.Statuses["422"] != 5 {
		t.Errorf("no route: %+v", r)
	}
	if r := f(func(o *httpload.Options) { o.Way = httpload.Stream }); r.Refused != 5 || r.Statuses["422"] != 5 {
		t.Errorf("no route: %+v", r)
	}
	for _, way := range []httpload.Way{httpload.Single, httpload.Stream} {
		r := f(func(o *httpload.Options) { o.Password, o.Way, o.Messages = "wrong", way, 1 })
		if r.Accepted != 0 || r.Problems() == nil {
			t.Errorf("a wrong password, way %d: %+v", way, r)
		}
		if r := f(func(o *httpload.Options) { o.To, o.Way = testutil.FreeAddress(t), way }); r.ConnectionsLost != 1 {
			t.Errorf("nobody is there, way %d: %+v", way, r)
		}
	}
	if r := f(func(o *httpload.Options) { o.Messages, o.Duration, o.Rate = 0, 200*time.Millisecond, 100 }); r.Answered == 0 || r.Answered > 40 {
		t.Errorf("a rate: %+v", r)
	}
}
