package system

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
	"pmg/loadtest/httpsink"
)

// startHTTPSink starts a gateway whose operator is a sink that is called by HTTP.
func startHTTPSink(t *testing.T, preset string, o httpsink.Options, options string) (*process.Process, *httpsink.Sink) {
	t.Helper()
	o.Listen, o.SystemID, o.Password = "127.0.0.1:0", "pmg", "s3cret"
	sink, err := httpsink.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sink.Close() })
	callbacks := testutil.FreeAddress(t)
	p := startSite(t, site{
		clients: "charset: ascii", // braces
		more:    fmt.Sprintf("{name: callbacks, direction: in, protocol: http, address: %q}", callbacks),
		operator: fmt.Sprintf(`{name: operator, direction: out, protocol: http, url: "http://%s", system_id: pmg, password: s3cret, reconnect_delay: 20ms,
     connect_timeout: 5s, callbacks: {listener: callbacks, url: "http://%s", secret: 0123456789}, preset: %s, window: 8, throttle_pause: 1ms%s}`,
			sink.Addr(), callbacks, preset, options),
		routes: "{from: operator, to: {account: acme}}\n{to: operator}",
	})
	return p, sink
}

// load sends a load by SMPP to a gateway, and returns what differs from each message once, with its receipt.
func load(t *testing.T, p *process.Process, sink *httpsink.Sink, messages int64) []string {
	t.Helper()
	o := loadtest.DefaultLoadOptions()
	o.To, o.SystemID, o.Password, o.Timeout = p.Listens("clients"), "acme", "s3cret", testutil.Patience
	o.Connections, o.Messages, o.Receipts = 2, messages, true
	ctx, cancel := context.WithTimeout(t.Context(), 3*testutil.Patience)
	defer cancel()
	r, err := loadtest.Load(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Await(ctx, r.Accepted); err != nil {
		t.Error(err)
	}
	testutil.Eventually(t, "the sink hears that receipts are taken", func() bool { return sink.Result().ReceiptsAnswered >= r.Accepted })
	seen := sink.Result()
	return append(append(r.Problems(), loadtest.Compare(r, seen).Problems()...), seen.Problems()...)
}

// Messages reach a sink that is called by HTTP once each, and their receipts come back, also where it is slow and refuses
// some for the moment.
func TestHTTPSink(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"pmg", "kannel"} {
		for name, change := range map[string]func(*httpsink.Options){
			"plain": func(*httpsink.Options) {},
			"slow": func(o *httpsink.Options) {
				o.Delay, o.Receipt.Delay, o.Receipt.DelayMax = time.Millisecond, time.Millisecond, 20*time.Millisecond
			},
			"throttled": func(o *httpsink.Options) { o.ThrottleEvery = 10 },
			"first":     func(o *httpsink.Options) { o.Receipt.First = true },
		} {
			t.Run(preset+" "+name, func(t *testing.T) {
				t.Parallel()
				o := httpsink.Options{SinkOptions: loadtest.SinkOptions{Receipts: true}}
				change(&o)
				p, sink := startHTTPSink(t, preset, o, ", retry: {temporary: [1ms, repeat]}")
				const messages = 300
				problems := load(t, p, sink, messages)
				if r := sink.Result(); problems != nil || r.Unique != messages || o.ThrottleEvery > 0 && r.Throttled == 0 {
					t.Errorf("%q, %+v", problems, r)
				}
				p.Settle()
				sink.Close()
			})
		}
	}
}

// Messages order how they end, and what the SMSC says of it reaches the client.
func TestHTTPSinkOrders(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"pmg", "kannel"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			p, sink := startHTTPSink(t, preset, httpsink.Options{SinkOptions: loadtest.SinkOptions{Receipts: true, Orders: true}}, "")
			o := loadtest.DefaultLoadOptions()
			o.To, o.SystemID, o.Password, o.Timeout = p.Listens("clients"), "acme", "s3cret", testutil.Patience
			o.Messages, o.Receipts, o.Size, o.Text = 20, true, 100, "{receipt:{state:EXPIRED,err:045}}"
			r, err := loadtest.Load(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if p := r.Problems(); p != nil || r.ReceiptStates["EXPIRED"] != 20 {
				t.Errorf("%v, %+v, %+v", p, r, sink.Result())
			}
			p.Settle()
			sink.Close()
		})
	}
}

// Requests that are not answered, or too late, come again: a sink of the gateway's own kind knows them by their references,
// and each message and its receipt are there once.
func TestHTTPSinkStalls(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*httpsink.Options){
		"drops": func(o *httpsink.Options) { o.DropEvery = 10 },
		"late":  func(o *httpsink.Options) { o.LateEvery, o.Late = 10, time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := httpsink.Options{SinkOptions: loadtest.SinkOptions{Receipts: true}}
			change(&o)
			p, sink := startHTTPSink(t, "pmg", o, ", response_timeout: 200ms, on_unknown: resend, retry: {lost: [1ms, repeat], temporary: [1ms, repeat]}")
			const messages = 100
			problems := load(t, p, sink, messages)
			if r := sink.Result(); problems != nil || r.Dropped+r.Late == 0 || o.LateEvery > 0 && r.Repeated == 0 {
				t.Errorf("%q, %+v", problems, r)
			}
			p.Settle()
			sink.Close()
		})
	}
}

// A sink is the webhook of an account: each event comes, however often it refuses calls, does not answer or answers late.
// Calls are signed.
func TestHTTPSinkWebhook(t *testing.T) {
	t.Parallel()
	const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for name, batch := range map[string]int{"one by one": 1, "batches": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := httpsink.Options{WebhookKey: key}
			o.ThrottleEvery, o.RefuseEvery, o.DropEvery, o.LateEvery, o.Late = 11, 13, 17, 7, time.Millisecond
			o.Listen = "127.0.0.1:0"
			receiver, err := httpsink.Start(o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { receiver.Close() })
			p, sink := startBetween(t, loadtest.SinkOptions{Receipts: true}, site{
				more:     "{name: api, direction: in, protocol: http, address: \"127.0.0.1:0\", throttle_pause: 1ms, retry: {temporary: [1ms, repeat], lost: [1ms, repeat]}}\n",
				accounts: fmt.Sprintf(`{system_id: api, password: s3cret, bind: [transmitter], webhook: "http://%s/webhook", webhook_key: %s, webhook_batch: %d}`, receiver.Addr(), key, batch),
			})
			ctx, cancel := context.WithTimeout(t.Context(), 3*testutil.Patience)
			defer cancel()
			for n := range 100 {
				body := fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"#%012d ","receipt":"all"}`, n)
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.Listens("api")+"/v1/messages", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.SetBasicAuth("api", "s3cret")
				a, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				a.Body.Close()
				if a.StatusCode != http.StatusAccepted {
					t.Errorf("message %d: %s", n, a.Status)
				}
			}
			if err := sink.Await(ctx, 100); err != nil {
				t.Error(err)
			}
			testutil.Eventually(t, "the end of each is told", func() bool { return receiver.Result().EventTypes["message.delivered"] >= 100 })
			p.Settle()
			if r := receiver.Result(); r.EventTypes["message.delivered"] != 100 || r.Forged != 0 || r.Malformed != 0 || r.CallsRefused == 0 {
				t.Errorf("%+v", r)
			}
			receiver.Close()
		})
	}
}
