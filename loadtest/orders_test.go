package loadtest

import (
	"testing"
	"time"
)

func TestParseOrders(t *testing.T) {
	t.Parallel()
	none := [3]byte{'0', '0', '0'}
	for text, want := range map[string]Orders{
		"nothing": {},
		`#000000000042 {"submit":{"status":88,"delay":"2s","answer":false},"receipt":{"state":"UNDELIV","err":"045"}}xxx`: {
			Status: 88, Delay: 2 * time.Second, NoAnswer: true, state: stateUndeliverable, err: [3]byte{'0', '4', '5'}},
		"submit:{status:0x58,timeout:1}":                                     {Status: 0x58, Delay: time.Second, err: none},
		"{submit:{status:0,timeout:1},receipt:{status:delivered,timeout:5}}": {Delay: time.Second, state: stateDelivered, After: 5 * time.Second, err: none},
		"receipt:{err:7}":               {err: [3]byte{'0', '0', '7'}},
		`{"receipt": {"send": false}}`:  {NoReceipt: true, err: none},
		"{curly but without any orders": {err: none},
	} {
		if got, err := ParseOrders([]byte(text)); got != want || err != nil {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"submit:{status:1", "submit:{staus:1}", "submit:{status:-1}", "submit:{delay:soon}", "submit:{answer:perhaps}",
		"receipt:{state:lost}", "receipt:{err:1234}", "receipt:{delay:-1s}", "receipt:{}",
	} {
		if got, err := ParseOrders([]byte(text)); err == nil {
			t.Errorf("%s: no error, %+v", text, got)
		}
	}
}

// A sink obeys what the messages order, but only with the option to do so.
func TestOrders(t *testing.T) {
	t.Parallel()
	run := func(text string, o SinkOptions) *LoadResult {
		o.Receipts, o.Messages = true, 20
		s := startSink(t, o)
		return load(t, s, func(o *LoadOptions) {
			o.Receipts, o.Messages, o.Text, o.Size, o.Timeout = true, 20, text, 100, 3*time.Second
		})
	}
	r := run("submit:{status:0x0B,delay:1ms}", SinkOptions{Orders: true})
	want(t, "refused", r.Statuses["ESME_RINVDSTADR"], 20)
	r = run("submit:{status:11}", SinkOptions{})
	wantClean(t, r.Problems())
	r = run("submit:{delay:30ms},receipt:{state:EXPIRED,delay:30ms}", SinkOptions{Orders: true})
	wantClean(t, r.Problems())
	want(t, "expired", r.ReceiptStates["EXPIRED"], 20)
	if r.Latency.P50 < 30_000 || r.ReceiptLatency.P50 < 60_000 {
		t.Errorf("latencies: %+v, %+v", r.Latency, r.ReceiptLatency)
	}
	r = run("submit:{answer:false}", SinkOptions{Orders: true})
	want(t, "unanswered", r.Unanswered, 20)
	r = run("receipt:{send:false}", SinkOptions{Orders: true})
	want(t, "answered", r.Accepted, 20)
	want(t, "without receipt", r.ReceiptsMissing, 20)
}
