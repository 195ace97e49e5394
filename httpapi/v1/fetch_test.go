package v1

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"pmg/connector/streams"
	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
	"pmg/sms"
)

// fetch fetches events, and returns their ids.
func (r *rig) fetch(query string, words ...string) (ids []string) {
	r.client.T.Helper()
	for _, part := range strings.Split(r.ask("GET /v1/events?"+query, "").Want(200, words...).Body, `"id":"evt_`)[1:] {
		ids = append(ids, "evt_"+part[:16])
	}
	return ids
}

func (r *rig) acknowledge(ids ...string) apitest.Reply {
	r.client.T.Helper()
	return r.ask("POST /v1/events:ack", `{"ids": ["`+strings.Join(ids, `","`)+`"]}`).Want(200)
}

// An account fetches what became of its messages, and messages from mobiles, until it acknowledges them.
func TestFetch(t *testing.T) {
	t.Parallel()
	r := newRig(t, ", pull: true, bind: [transmitter]", "public_name: operator", "{from: operator, to: {account: shop}}, {to: operator}", "{system_id: other, password: secret, pull: true}")
	if ids := r.fetch(""); len(ids) > 0 {
		t.Errorf("%q", ids)
	}
	id := r.submit("").Field("id")
	r.SMSC.Accept("abc1")
	r.SMSC.Receipt("abc1", sms.StateDelivered)
	first := r.fetch("wait=30s", "message.delivered", id, `"smsc_id":"abc1"`)
	r.SMSC.Deliver("vote")
	r.SMSC.Deliver("vote again")
	second := r.fetch("wait=30s&limit=1", "inbound.received", "vote")
	if len(first) != 1 || len(second) != 1 {
		t.Fatalf("%q, %q", first, second)
	}
	other := r.by("other", "") // it may receive by sessions, too
	if ids := other.fetch(""); len(ids) > 0 {
		t.Errorf("another account fetches %q", ids)
	}
	other.submit("")
	r.SMSC.Refuse()
	other.acknowledge(other.fetch("wait=30s", "message.rejected")...)
	third := r.fetch("wait=30s", "vote again")
	r.acknowledge(append(third, first[0], "evt_1")...).Want(200, `{"unknown":["evt_1"]}`)
	r.acknowledge(first[0]).Want(200, first[0])
	r.pulls.Expire(r.Gateway.Node.Clock.Now()+int64(pullAgain), false)
	if again := r.fetch("wait=30s", "vote"); len(again) != 1 || again[0] != second[0] {
		t.Errorf("%q, want %q", again, second)
	}
	r.acknowledge(second...)
	r.Settled()
	answers := make(chan int, mostPulls+1)
	for range mostPulls + 1 {
		go func() { answers <- r.ask("GET /v1/events?wait=30s", "").Status }()
	}
	if status := <-answers; status != 429 { // the others wait
		t.Errorf("status %d", status)
	}
	all := &r.listener.Connector.Streams
	testutil.Eventually(t, "the others wait", func() bool { return len(all.All()) == mostPulls }) // they are counted a moment before
	all.Close()
	for range mostPulls {
		if status := <-answers; status != 200 {
			t.Errorf("status %d", status)
		}
	}
	r.ask("GET /v1/events", "").Want(503, "unavailable")
	r.client.Do("GET /v1/events", "", "Accept: text/event-stream").Want(503, "unavailable")
}

// listen begins a stream of events, after the last event that its client has.
func (r *rig) listen(last string) *bufio.Scanner {
	r.client.T.Helper()
	q, _ := http.NewRequestWithContext(r.client.T.Context(), "GET", r.client.URL+"/v1/events", nil)
	q.SetBasicAuth(r.client.Name, "secret")
	q.Header = http.Header{"Authorization": q.Header["Authorization"], "Accept": {"text/html, Text/Event-Stream;q=0.5"}, "Last-Event-Id": {last}}
	w, err := http.DefaultClient.Do(q)
	if err != nil {
		r.client.T.Fatal(err)
	}
	r.client.T.Cleanup(func() { w.Body.Close() })
	if kind := w.Header.Get("Content-Type"); w.StatusCode != 200 || kind != streamType {
		b, _ := io.ReadAll(w.Body)
		r.client.T.Fatalf("%s %s %s", w.Status, kind, b)
	}
	return bufio.NewScanner(w.Body)
}

// next returns the id of the next event of a stream, "" at its end.
func next(in *bufio.Scanner) string {
	for in.Scan() {
		if id, ok := strings.CutPrefix(in.Text(), "id: "); ok {
			return id
		}
	}
	return ""
}

// A client gets events as they come, by one of its streams. One that comes back acknowledges what it has, and gets the
// rest. The stream that it has left ends, and so does each stream when its login is not valid any more.
func TestListen(t *testing.T) {
	t.Parallel()
	r := newRig(t, ", pull: true, bind: [transmitter]", "", "{from: operator, to: {account: shop}}, {to: operator}")
	first := r.listen("")
	for n := range 3 {
		r.SMSC.Deliver(fmt.Sprint(n))
	}
	ids := []string{next(first), next(first), next(first)}
	second := r.listen(ids[0])
	if end := next(first); end != "" {
		t.Errorf("%s by a stream whose client has left it", end)
	}
	got := []string{next(second), next(second)}
	if fmt.Sprint(got) != fmt.Sprint(ids[1:]) && fmt.Sprint(got) != fmt.Sprint([]string{ids[2], ids[1]}) {
		t.Errorf("%q, want %q", got, ids[1:])
	}
	r.acknowledge(ids[1:]...)
	r.Settled()
	all := []*bufio.Scanner{second, r.listen("x"), r.listen(""), r.listen("")}
	w := r.client.Do("GET /v1/events", "", "Accept: text/event-stream").Want(429, "too-many-streams")
	if w.Header.Get("Retry-After") == "" {
		t.Error(w.Header)
	}
	r.client.Do("HEAD /v1/events", "", "Accept: text/event-stream").Want(200) // is no stream
	r.Reload(apitest.YAML("{system_id: shop, password: secret, bind: [transmitter]}", "", "", ""))
	for i, one := range all {
		if id := next(one); id != "" {
			t.Errorf("stream %d goes on: %s", i, id)
		}
	}
	testutil.Eventually(t, "all have ended", func() bool { return len(r.listener.Connector.Streams.All()) == 0 })
}

// A stream of messages that the gateway ends says why, and is cut, so that nobody takes it for whole.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", "", "")
	for why, words := range map[streams.Reason]string{streams.Revoked: "unauthenticated", streams.Kicked: "an operator has ended", streams.Stopping: "the gateway is stopping"} {
		out, body := io.Pipe()
		q, _ := http.NewRequestWithContext(t.Context(), "POST", r.client.URL+"/v1/messages:stream", out)
		q.SetBasicAuth("shop", "secret")
		go func() { _, _ = io.WriteString(body, message("")+"\n") }()
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(w.Body)
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"state":"queued"`) {
			t.Errorf("%s %v", line, err)
		}
		all := r.listener.Connector.Streams.All()
		if len(all) != 1 || all[0].Account != "shop" || all[0].Kind != "stream" || !all[0].May() {
			t.Fatalf("%+v", all)
		}
		all[0].Stop(why)
		if rest, err := io.ReadAll(in); err == nil || !strings.Contains(string(rest), words) {
			t.Errorf("%s, %v; want %s", rest, err, words)
		}
		body.Close()
		r.SMSC.Accept("")
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(r.client.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	line := message("") + "\n"
	fmt.Fprintf(c, "POST /v1/messages:stream HTTP/1.1\r\nHost: x\r\nAuthorization: Basic c2hvcDpzZWNyZXQ=\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n5\r\n{\"to\r\n", len(line), line)
	_ = c.(*net.TCPConn).CloseWrite()
	if b, _ := io.ReadAll(c); !strings.Contains(string(b), `"state":"queued"`) || !strings.Contains(string(b), "malformed-json") {
		t.Errorf("a stream that ends within a line: %s", b)
	}
	r.SMSC.Accept("")
	testutil.Eventually(t, "it has ended", func() bool { return len(r.listener.Connector.Streams.All()) == 0 })
	r.Settled()
}
