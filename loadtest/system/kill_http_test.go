package system

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

var httpKills = flag.Int("http-kills", 5, "how often TestKillHTTP kills the gateway")

const killHTTPConfig = `
log: {format: json}
pdulog: {enabled: false}
admin: {address: "127.0.0.1:0"}
store: {dir: %q, ballast: 0B}
accounts: [{system_id: load, password: secret, bind: [transmitter], webhook: %q}]
connectors:
  - {name: api, direction: in, protocol: http, address: %q, throttle_pause: 1ms, retry: {temporary: [100ms, repeat]}}
  - {name: operator, direction: out, address: %q, instances: 2, window: 10, system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// A poster sends messages by HTTP, each with a key, until it has an answer to each.
type poster struct {
	url  string
	http http.Client

	mu  sync.Mutex
	ids map[string]map[string]bool // that messages were accepted under, by their references
}

// post sends a message again and again, with its key, until it is accepted.
func (p *poster) post(ctx context.Context, number int64) {
	reference := fmt.Sprint("r", number)
	body := fmt.Sprintf(`{"from":"1234","to":"46700000001","text":"#%012d ","client_reference":%q}`, number, reference)
	for ctx.Err() == nil {
		id := p.once(ctx, body, reference)
		if id == "" {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		p.mu.Lock()
		if p.ids[reference] == nil {
			p.ids[reference] = map[string]bool{}
		}
		p.ids[reference][id] = true
		again := len(p.ids[reference]) == 1 && rand.IntN(4) == 0 // as a client does that has lost the answer
		p.mu.Unlock()
		if !again {
			return
		}
	}
}

// once sends a request, and returns the id under which its message was accepted, or "".
func (p *poster) once(ctx context.Context, body, key string) string {
	if code, text := post(ctx, &p.http, p.url, "load", body, key); code == http.StatusAccepted {
		return idIn(text)
	}
	return ""
}

// post sends a message of an account to the HTTP API, and returns the answer. Status 0: there was none.
func post(ctx context.Context, client *http.Client, url, account, body, key string) (status int, text string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.SetBasicAuth(account, "secret")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(all)
}

// idIn returns the id in an answer, or "".
func idIn(answer string) string {
	var a struct{ ID string }
	_ = json.Unmarshal([]byte(answer), &a) // "" then
	return a.ID
}

// streamed is how many lines a stream has.
const streamed = 40

// stream sends the messages from a number on in a stream, all of them again and again with their references, until
// one stream was answered to its end, and sometimes once more, as a client does that has lost the answers.
func (p *poster) stream(ctx context.Context, first int64) {
	var body strings.Builder
	for number := first; number < first+streamed; number++ {
		fmt.Fprintf(&body, `{"from":"1234","to":"46700000001","text":"#%012d ","client_reference":"r%d","deduplicate":true}`+"\n", number, number)
	}
	for ctx.Err() == nil && (p.streamOnce(ctx, body.String()) < streamed || rand.IntN(4) == 0) {
		time.Sleep(20 * time.Millisecond)
	}
}

// streamOnce sends a stream, and returns how many of its lines were accepted, as far as it was answered.
func (p *poster) streamOnce(ctx context.Context, body string) (accepted int) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/messages:stream", strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.SetBasicAuth("load", "secret")
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := p.http.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	for d := json.NewDecoder(resp.Body); ; {
		var answer struct {
			ID        string
			Reference string `json:"client_reference"`
		}
		if d.Decode(&answer) != nil {
			return accepted
		}
		if answer.ID == "" {
			continue
		}
		accepted++
		p.mu.Lock()
		if p.ids[answer.Reference] == nil {
			p.ids[answer.Reference] = map[string]bool{}
		}
		p.ids[answer.Reference][answer.ID] = true
		p.mu.Unlock()
	}
}

// A gateway is killed again and again while clients send by HTTP, with keys or in streams with references. They send
// again what was not answered. Each message is accepted once, under one id, and arrives, and the webhook is called with
// its end.
func TestKillHTTP(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Receipts: true, Receipt: loadtest.ReceiptOptions{Delay: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	var told sync.Map // by the reference of the message: its event of the end
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct {
			Type string
			Data struct {
				Reference string `json:"client_reference"`
			}
		}
		if json.NewDecoder(r.Body).Decode(&e) == nil && e.Type == "message.delivered" {
			told.Store(e.Data.Reference, true)
		}
	}))
	defer hook.Close()
	address := testutil.FreeAddress(t)
	file := process.WriteConfig(t, fmt.Sprintf(killHTTPConfig, process.NewStoreDir(t), hook.URL, address, sink.Addr()))
	p := &poster{url: "http://" + address, ids: map[string]map[string]bool{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var posting sync.WaitGroup
	var number, sent atomic.Int64
	var ended atomic.Bool
	for range 2 {
		posting.Go(func() {
			for !ended.Load() {
				p.stream(ctx, number.Add(streamed)-streamed+1)
				sent.Add(streamed)
			}
		})
	}
	for range 6 {
		posting.Go(func() {
			for !ended.Load() {
				p.post(ctx, number.Add(1))
				sent.Add(1)
			}
		})
	}
	for range *httpKills {
		g := program(t).Serve(t, file)
		g.Wait("listening")
		time.Sleep(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		g.Kill()
		for _, line := range g.Problems() {
			t.Error(line)
		}
	}
	g := program(t).Serve(t, file)
	g.Wait("listening")
	ended.Store(true)
	posting.Wait()
	g.Settle()
	testutil.Eventually(t, "all ends are told", func() bool {
		n := 0
		told.Range(func(any, any) bool { n++; return true })
		return n == len(p.ids)
	})
	for reference, ids := range p.ids {
		if len(ids) != 1 {
			t.Errorf("%s was accepted under %d ids", reference, len(ids))
		}
	}
	r := sink.Result()
	if r.Unique != sent.Load() || int64(len(p.ids)) != sent.Load() {
		t.Errorf("%d were sent, %d are known, %d have arrived", sent.Load(), len(p.ids), r.Unique)
	}
	if most := int64(*httpKills * 2 * 10); r.Doubled > most {
		t.Errorf("%d have arrived twice, more than the windows of %d kills", r.Doubled, *httpKills)
	}
	t.Logf("%d kills: %d messages, %d twice", *httpKills, r.Unique, r.Doubled)
	if status := g.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}
