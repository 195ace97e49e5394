package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/gateway/operate"
	"pmg/internal/testkit/testutil"
)

const deciding = `
plugins:
  - name: rules
    on_failure: refuse
    rules:
      - {if: 'text startsWith "bad"', do: refuse, status: bad_destination, why: "not here"}
      - {if: 'text startsWith "vip"', tags: [vip], text: '"to" + text'}
      - {if: 'text contains "doubtful"', do: hold}
hooks: [{at: accept, plugin: rules}, {at: mo, plugin: rules}]
`

// A plugin refuses messages, gives them tags by which they are routed, and holds them for an operator, over a restart too:
// then the tags still choose the route.
func TestPluginVerdicts(t *testing.T) {
	parallel(t)
	operator, second := newSMSC(t), newSMSC(t)
	s := site{
		operator: operator, store: vfs.NewMem(), top: deciding, more: row("second", second, ""),
		routes: "{tag: vip, to: second}\n{from: operator, to: clients}\n{to: operator}",
	}
	g := start(t, s)
	one, other, c := operator.session(), second.session(), g.bind("transceiver")
	submit := func(seq, text, status string) {
		t.Helper()
		c.send("submit_sm seq=" + seq + ` source_addr=1234 destination_addr=46700000001 short_message="` + text + `"`)
		c.want("submit_sm_resp", "seq="+seq, "status="+status)
	}
	submit("2", "bad2", "0xb(ESME_RINVDSTADR)")
	submit("3", "3", "0")
	submit("4", "vip4", "0")
	one.answer(0, field(one.want("submit_sm", `short_message="3"`), "seq"))
	other.answer(0, field(other.want("submit_sm", `short_message="tovip4"`), "seq"))
	submit("5", "vipdoubtful5", "0")
	submit("6", "doubtful6", "0")
	g.wantStored(operate.StateParked, operate.StateParked)
	c.send(`submit_multi seq=7 source_addr=1234 number_of_dests=2 dest_flag=1 destination_addr=461 dest_flag=1 destination_addr=462 short_message="bad7"`)
	c.want("submit_multi_resp", "seq=7", "status=0xb(ESME_RINVDSTADR)")
	one.send(`deliver_sm seq=90 source_addr=46700000001 destination_addr=1234 short_message="badmo"`)
	one.want("deliver_sm_resp", "seq=90", "status=0xb(ESME_RINVDSTADR)")
	one.send(`deliver_sm seq=91 source_addr=46700000001 destination_addr=1234 short_message="mo"`)
	c.send("deliver_sm_resp seq=" + field(c.want("deliver_sm", `short_message="mo"`), "seq") + " status=0")
	one.want("deliver_sm_resp", "seq=91", "status=0")
	c.conn.Close()
	g.stop()

	g = start(t, s)
	one, other = operator.session(), second.session()
	g.online("operator", 1)
	g.online("second", 1)
	page, err := g.Operate.ListStored(operate.Selection{}, 0, 10)
	if err != nil || len(page.Messages) != 2 || page.Messages[0].Reason != "held by plugin rules" {
		t.Fatalf("%+v, %v", page, err)
	}
	done := operate.ResultRetried
	g.wantChange(operate.RetryMessages, "", operate.Selection{State: operate.StateParked}, done, done)
	other.answer(0, field(other.want("submit_sm", `short_message="tovipdoubtful5"`), "seq"))
	one.answer(0, field(one.want("submit_sm", `short_message="doubtful6"`), "seq"))
	g.wantStored()
}

// A reload changes what plugins decide from the next message on.
func TestPluginReload(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{operator: operator, memory: true}
	g := start(t, s)
	smsc, c := operator.session(), g.bind("transmitter")
	c.send(`submit_sm seq=2 source_addr=1 destination_addr=46 short_message="bad"`)
	c.want("submit_sm_resp", "seq=2", "status=0")
	s.top = deciding
	g.mustReload(s)
	c.send(`submit_sm seq=3 source_addr=1 destination_addr=46 short_message="bad"`)
	c.want("submit_sm_resp", "seq=3", "status=0xb(ESME_RINVDSTADR)")
	s.top = ""
	g.mustReload(s)
	c.send(`submit_sm seq=4 source_addr=1 destination_addr=46 short_message="bad"`)
	c.want("submit_sm_resp", "seq=4", "status=0")
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
	}
	g.settled()
}

// A service decides about each account's messages. One that hangs holds its own account's messages until the deadline, and
// no others.
func TestPluginService(t *testing.T) {
	parallel(t)
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Messages []struct{ Account, To, Text string }
		}
		if json.NewDecoder(r.Body).Decode(&question) != nil || len(question.Messages) != 1 {
			t.Error("the question cannot be read")
		}
		switch m := question.Messages[0]; m.Text {
		case "hang":
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		case "spam":
			_, _ = io.WriteString(w, `{"verdicts": [{"do": "refuse", "status": "bad_source"}]}`)
		default:
			fmt.Fprintf(w, `{"verdicts": [{"text": "%s of %s"}]}`, m.Text, m.Account)
		}
	}))
	defer server.Close()
	defer close(hang)
	operator := newSMSC(t)
	g := start(t, site{
		operator: operator, memory: true, accounts: "{system_id: other, password: s3cret}",
		top: fmt.Sprintf("plugins: [{name: service, url: %q, on_failure: refuse, deadline: 5s}]\nhooks: [{at: accept, plugin: service}]\n", server.URL),
	})
	smsc, c := operator.session(), g.bind("transmitter")
	other := g.dial("clients")
	other.bind("transmitter", "other", "s3cret")
	const submit = `submit_sm seq=%d source_addr=1 destination_addr=46 short_message="%s"`
	for seq, text := range []string{"hang", "spam", "one"} {
		c.send(fmt.Sprintf(submit, seq+2, text))
	}
	other.send(fmt.Sprintf(submit, 2, "two"))
	other.want("submit_sm_resp", "seq=2", "status=0")
	line := smsc.want("submit_sm")
	if !strings.Contains(line, `short_message="two of other"`) {
		t.Error(line)
	}
	smsc.answer(0, field(line, "seq"))
	c.want("submit_sm_resp", "seq=2", "status=0x64(ESME_RX_T_APPN)")
	c.want("submit_sm_resp", "seq=3", "status=0xa(ESME_RINVSRCADR)")
	c.want("submit_sm_resp", "seq=4", "status=0")
	if line = smsc.want("submit_sm"); !strings.Contains(line, `short_message="one of acme"`) {
		t.Error(line)
	}
	smsc.answer(0, field(line, "seq"))
	g.settled()
	if s := g.Hooks.Status(); len(s) != 1 || s[0].Asked != 4 || s[0].Failed != 1 || s[0].Refused != 1 || s[0].Changed != 2 {
		t.Errorf("%+v", s)
	}
}

// The program shorten.py of packaging/examples/plugins shortens URLs, goes on when it is killed, and is gone when the gateway
// stops.
func TestPluginProgram(t *testing.T) {
	parallel(t)
	e := newExample(t, "shorten")
	file := filepath.Join(e.dir, "shorten.py")
	code, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append([]byte("import os\nopen('"+file+".pid', 'w').write(str(os.getpid()))\n"), code...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	operator := newSMSC(t)
	g := start(t, site{operator: operator, memory: true, top: strings.NewReplacer("on_failure: pass", "on_failure: refuse, deadline: 1m", "workers: 2", "workers: 1").Replace(e.yaml)})
	smsc, c := operator.session(), g.bind("transmitter")
	submit := func(seq int, text, want string) {
		t.Helper()
		c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1 destination_addr=46 short_message="%s"`, seq, text))
		c.want("submit_sm_resp", fmt.Sprint("seq=", seq), "status=0")
		line := smsc.want("submit_sm")
		if !strings.Contains(line, want) {
			t.Errorf("%s, want %s", line, want)
		}
		smsc.answer(0, field(line, "seq"))
	}
	submit(2, "look: https://example.com/a/long/path?with=much", `short_message="look: https://s.example/`)
	submit(3, "nothing", `short_message="nothing"`)
	pid := func() int {
		b, _ := os.ReadFile(file + ".pid")
		n, _ := strconv.Atoi(string(b))
		return n
	}
	first := pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "it is gone", func() bool { return syscall.Kill(first, 0) != nil })
	for seq := 4; pid() == first; seq++ { // until another one has answered
		c.send(fmt.Sprintf(`submit_sm seq=%d source_addr=1 destination_addr=46 short_message="again"`, seq))
		if strings.Contains(c.want("submit_sm_resp", fmt.Sprint("seq=", seq)), "status=0 ") {
			smsc.answer(0, field(smsc.want("submit_sm"), "seq"))
		}
		time.Sleep(10 * time.Millisecond)
	}
	g.settled()
	second := pid()
	c.conn.Close()
	g.stop()
	if syscall.Kill(second, 0) == nil {
		t.Error("a process of the plugin is left")
	}
}
