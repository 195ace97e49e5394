package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
)

// An oracle is a service that answers each question as the text of the message says, and records what it was asked.
type oracle struct {
	*httptest.Server
	t    *testing.T
	hang chan struct{} // closed: what hangs goes on

	mu    sync.Mutex
	asked []question
}

type question struct {
	Hook, Account, Connector, To, Text, ID, State, Error string
	Parts                                                int
}

func newOracle(t *testing.T) *oracle {
	o := &oracle{t: t, hang: make(chan struct{})}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Messages []question }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) != 1 {
			t.Errorf("a question: %+v, %v", q, err)
			return
		}
		m := q.Messages[0]
		o.mu.Lock()
		again := len(o.of(m.Hook, m.ID)) > 0
		o.asked = append(o.asked, m)
		o.mu.Unlock()
		verdict := "{}"
		switch {
		case m.Hook == "result":
		case m.Text == "refuse":
			verdict = `{"do": "refuse", "why": "not him"}`
		case m.Text == "hold":
			verdict = `{"do": "hold"}`
		case m.Text == "delay" && !again:
			verdict = fmt.Sprintf(`{"do": "delay", "until": %q}`, time.Now().Add(time.Second).Format(time.RFC3339Nano))
		case m.Text == "change":
			verdict = `{"text": "changed", "to": "+46700000009", "from": "New", "tags": ["late"]}`
		case m.Text == "long":
			verdict = fmt.Sprintf(`{"text": %q}`, strings.Repeat("l", 161))
		case m.Text == "hang":
			select {
			case <-o.hang:
			case <-r.Context().Done():
			}
		}
		fmt.Fprintf(w, `{"verdicts": [%s]}`, verdict)
	}))
	t.Cleanup(o.Close)
	return o
}

// of returns the questions at a hook, about one message if id is not empty. The caller holds the lock, or nothing is asked.
func (o *oracle) of(hook, id string) (all []question) {
	for _, a := range o.asked {
		if a.Hook == hook && (id == "" || a.ID == id) {
			all = append(all, a)
		}
	}
	return all
}

// wantAsked waits until it was asked about texts that leave, so many times.
func (o *oracle) wantAsked(text string, n int) {
	o.t.Helper()
	testutil.Eventually(o.t, fmt.Sprintf("it is asked %d times about %s", n, text), func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(slices.DeleteFunc(o.of("send", ""), func(q question) bool { return q.Text != text })) == n
	})
}

// results returns how messages have ended, by their text.
func (o *oracle) results() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := map[string]string{}
	for _, a := range o.of("result", "") {
		all[a.Text] += strings.TrimSpace(a.Connector + " " + a.State + " " + a.Error)
	}
	return all
}

// asks is a configuration that asks the service as messages leave, and informs it when they end.
func (o *oracle) asks(more, events string) string {
	return fmt.Sprintf(`
events: {dir: %q, rotate_every: 0s}
plugins: [{name: oracle, url: %q, %s}]
hooks: [{at: send, plugin: oracle, connectors: [operator], accounts: [acme]}, {at: result, plugin: oracle}]
`, events, o.URL, more)
}

// A service decides about each message as it leaves. What it changes leaves so, and stays as it was accepted; what it refuses,
// holds or delays does not leave, over a restart and for an operator. It is informed how each ended.
func TestPluginSend(t *testing.T) {
	parallel(t)
	o, operator, dir := newOracle(t), newSMSC(t), filepath.Join(t.TempDir(), "events")
	s := site{operator: operator, out: "long_messages: split8", store: vfs.NewMem(), top: o.asks("on_failure: refuse, deadline: 30s", dir)}
	g := start(t, s)
	smsc, c := operator.session(), g.bind("transceiver")
	submit := func(seq int, text string) {
		t.Helper()
		c.send(fmt.Sprintf(
			`submit_sm seq=%d source_addr=1234 destination_addr=46700000001 registered_delivery=1 short_message="%s"`, seq, text,
		))
		c.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0")
	}
	submit(2, "pass")
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="pass"`), "seq"))
	submit(3, "change")
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="changed"`, "destination_addr=46700000009", "source_addr=New"), "seq"))
	for i, text := range []string{"refuse", "long"} {
		submit(4+i, text)
		c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm", "stat:REJECTD"), "seq") + " status=0")
	}
	submit(6, "hold")
	g.wantStored(operate.StateParked)
	submit(7, "delay")
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="delay"`), "seq"))
	submit(8, "hang") // the gateway stops while it is asked about
	o.wantAsked("hang", 1)
	close(o.hang)
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="hang"`), "seq"))
	g.wantStored(operate.StateParked)
	c.conn.Close()
	smsc.answerUnbind()
	g.stop()

	g = start(t, s)
	smsc = operator.session()
	g.online("operator", 1)
	page, err := g.Operate.ListStored(operate.Selection{}, 0, 10)
	if err != nil || len(page.Messages) != 1 || page.Messages[0].Reason != "held by plugin oracle" {
		t.Fatalf("%+v, %v", page, err)
	}
	g.wantChange(operate.RetryMessages, "", operate.Selection{}, operate.ResultRetried)
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="hold"`), "seq"))
	g.wantStored()
	want := map[string]string{
		"pass": "operator sent", "changed": "operator sent", "refuse": "operator rejected rejected",
		"long": "operator rejected rejected", "hold": "operator sent", "delay": "operator sent", "hang": "operator sent",
	}
	testutil.Eventually(t, "all results are there", func() bool { return len(o.results()) == len(want) })
	for text, end := range o.results() {
		if end != want[text] {
			t.Errorf("%s: %s, want %s", text, end, want[text])
		}
	}
	smsc.answerUnbind()
	g.stop()
	if n := len(o.of("send", "")); n != 8 { // delay twice, hold once
		t.Errorf("asked %d times as messages left: %+v", n, o.of("send", ""))
	}
	lines, _ := os.ReadFile(filepath.Join(dir, "events.log"))
	for _, want := range []string{
		`"destination":"46700000009",`, `"plugin":"oracle","verdict":"change"`, `"plugin":"oracle","verdict":"refuse"`,
		`"plugin":"oracle","verdict":"hold"`,
	} {
		if !strings.Contains(string(lines), want) {
			t.Errorf("no event has %s:\n%s", want, lines)
		}
	}
}

// While a plugin hangs its own messages keep their slots, and no others wait. Those come to their queue again when the
// session ends; with the deadline on_failure decides.
func TestPluginSendHangs(t *testing.T) {
	parallel(t)
	o, operator := newOracle(t), newSMSC(t)
	g := start(t, site{
		operator: operator, memory: true, accounts: "{system_id: other, password: s3cret}",
		top: o.asks("on_failure: pass, deadline: 2s", filepath.Join(t.TempDir(), "events")),
	})
	smsc, c, other := operator.session(), g.bind("transmitter"), g.dial("clients")
	other.bind("transmitter", "other", "s3cret")
	const submit = `submit_sm seq=%d source_addr=1 destination_addr=46 short_message="%s"`
	c.send(fmt.Sprintf(submit, 2, "hang"))
	c.want("submit_sm_resp", "seq=2", "status=0")
	other.send(fmt.Sprintf(submit, 2, "other"))
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="other"`), "seq"))
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="hang"`), "seq"))
	c.send(fmt.Sprintf(submit, 3, "hang"))
	c.want("submit_sm_resp", "seq=3", "status=0")
	o.wantAsked("hang", 2)
	smsc.conn.Close()
	smsc = operator.session()
	smsc.answer(0, field(smsc.want("submit_sm", `short_message="hang"`), "seq"))
	g.settled()
	close(o.hang)
}

// A message with another recipient that is answered after response_timeout has ended with the addresses with which it left: its
// event has those, and its receipt finds it, though the copy that waits has the ones of its client.
func TestPluginSendAnsweredLate(t *testing.T) {
	parallel(t)
	dir := filepath.Join(t.TempDir(), "events")
	s := site{operator: newSMSC(t), store: vfs.NewMem(), out: "response_timeout: 300ms, enquire_interval: 0s, retry: 1h", top: eventsIn(dir) + `
plugins: [{name: other, on_failure: refuse, rules: [{if: 'to == "46700000001"', to: '"+46799999999"'}]}]
hooks: [{at: send, plugin: other}]
`}
	g := start(t, s)
	smsc, c := s.operator.session(), g.bind("transceiver")
	known := c.submitOne(1, asks)
	seq := field(smsc.want("submit_sm", "destination_addr=46799999999"), "seq")
	testutil.Eventually(t, "it is queued again", func() bool { return g.stats("operator").Retried.Load() == 1 })
	smsc.send("submit_sm_resp seq=" + seq + " status=0 message_id=A1")
	testutil.Eventually(t, "its copy has ended", func() bool { return g.stats("operator").Late.Load() == 1 })
	smsc.send(strings.ReplaceAll(smscReceipt(101, "A1", "DELIVRD"), "46700000001", "46799999999"))
	smsc.want("deliver_sm_resp", "seq=101", "status=0")
	c.wantReceipt(known, "DELIVRD")
	c.conn.Close()
	smsc.conn.Close()
	g.stop()
	lines, _ := os.ReadFile(filepath.Join(dir, "events.log"))
	line, _, _ := strings.Cut(string(lines), "\n")
	for _, want := range []string{`"destination":"46799999999",`, `"attempts":1`, `"verdict":"change"`} {
		if !strings.Contains(line, want) {
			t.Errorf("the event lacks %s: %s", want, line)
		}
	}
}
