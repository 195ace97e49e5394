package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pmg/internal/testutil"
)

// ask returns the status and the body of an answer.
func (a *api) ask(method, path, body string) string {
	a.t.Helper()
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	if strings.HasPrefix(path, "/secure/") {
		req.SetBasicAuth("api", "s3cret")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(b))
}

// Jasmin's clients need another address and nothing else: their messages leave, and they are told what became of them until
// they say ACK/Jasmin.
func TestHTTPJasmin(t *testing.T) {
	parallel(t)
	h := newHook(t)
	s := withHook(t, h, "")
	s.more, s.routes = strings.Replace(s.more, "protocol: http", "protocol: http, dialects: [pmg, jasmin]", 1), "{to: operator, destination: 46}"
	g := start(t, s)
	a := g.api()
	f := func(method, path, body, want string) {
		t.Helper()
		if got := a.ask(method, path, body); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	const login = "username=api&password=s3cret"
	f("GET", "/ping", "", "200 Jasmin/PONG")
	f("GET", "/", "", "200 Jasmin 0.11.1")
	f("GET", "/send", "", `400 Error "Mandatory argument [to] is not found."`)
	f("GET", "/send?username=api&password=wrong&to=46700000001&content=a", "", `403 Error "Authentication failure for username:api"`)
	f("GET", "/send?"+login+"&to=46700000001&content=a&dlr-url=http://192.0.2.1/x", "", `400 Error "Argument [dlr-url] has an invalid value: [http://192.0.2.1/x]."`)
	f("GET", "/balance?"+login, "", `200 {"balance": "ND", "sms_count": "ND"}`)
	f("GET", "/rate?"+login+"&to=1", "", `412 "No route found"`)
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} { // nothing comes to the SMSC before what is sent below
		f(method, "/send?"+login+"&to=46700000001&content=a", "", "405 Method Not Allowed")
	}
	f("HEAD", "/send?"+login+"&to=46700000001&content=a", "", "405 ")
	f("GET", "/secure/rate?to=46700000001&content=a", "", `200 {"data":{"unit_rate":0.0,"submit_sm_count":1}}`)
	f("POST", "/secure/send", strings.Repeat(" ", 1<<20+1), `413 {"message":"Error \"Request is too large"}`)

	smsc := s.operator.session()
	sent := a.ask("GET", "/send?"+login+"&from=Shop&to=%2B46700000001&content=hej-p%C3%A5&dlr=yes&dlr-level=3&dlr-url="+url.QueryEscape(h.URL+"/given/dlr"), "")
	id, ok := strings.CutPrefix(strings.TrimSuffix(sent, `"`), `200 Success "`)
	if !ok || len(id) != 36 {
		t.Fatal(sent)
	}
	line := smsc.want("submit_sm", "source_addr=Shop", "destination_addr=46700000001", "dest_addr_ton=1", `short_message="hej-p\x0f"`)
	smsc.send(fmt.Sprintf("submit_sm_resp seq=%s status=0 message_id=00ab", field(line, "seq")))
	testutil.Eventually(t, "it is called again without ACK/Jasmin", func() bool { return len(h.of("id="+id, "level=1&", "ESME_ROK", "connector=operator&")) > 1 })
	h.say("ACK/Jasmin\n")
	smsc.send(receiptOf("00ab", "DELIVRD"))
	smsc.want("deliver_sm_resp")
	testutil.Eventually(t, "it is delivered", func() bool {
		return len(h.of("id="+id, "level=2&", "message_status=DELIVRD", "id_smsc=AB&", "sub=001")) == 1
	})

	for level, want := range map[string]string{"1": "message_status=ESME_RINVDSTADR", "2": "message_status=UNDELIV"} {
		a.ask("POST", "/send?"+login+"&to=46700000001&content=a&dlr-method=get&dlr-level="+level+"&dlr-url="+url.QueryEscape(h.URL+"/given/refused"+level), "")
		smsc.answer(0x0B, field(smsc.want("submit_sm"), "seq"))
		testutil.Eventually(t, "it is refused", func() bool {
			calls := h.at("/given/refused" + level + "?")
			return len(calls) == 1 && strings.Contains(calls[0].path, "level="+level+"&"+want)
		})
	}
	batch := a.ask("POST", "/secure/sendbatch", `{"messages":[{"to":["46700000002",46700000003],"content":"two"}],"globals":{"from":"1234"},"batch_config":{"callback_url":"`+h.URL+`/given/batch"}}`)
	if !strings.HasPrefix(batch, `200 {"data":{"batchId":"`) || !strings.HasSuffix(batch, `"messageCount":2}}`) {
		t.Error(batch)
	}
	for range 2 {
		smsc.answer(0, field(smsc.want("submit_sm", "source_addr=1234", `short_message="two"`), "seq"))
	}
	testutil.Eventually(t, "the batch is told", func() bool { return len(h.at("/given/batch?batchId=")) == 2 })
	g.settled()
}
