package web

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"pmg/config"
)

// The page explains a message, and an operator submits it. What was filled in stays when it is refused, as text. No
// text is part of a URL, or in the audit log. Those who may not submit get the explanation alone.
func TestTry(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	base, lane := "http://"+s.Addr(), s.Gateway().Table.LaneOf(s.Gateway().Table.Connector("operator"))
	form := func(with ...string) url.Values {
		v := url.Values{"account": {`<b>"x`}, "from": {"<b>shop"}, "to": {"46<b>"}, "message": {"<b>hush"}, "receipt": {"1"}}
		for i := 0; i < len(with); i += 2 {
			v.Set(with[i], with[i+1])
		}
		return v
	}
	filled := []string{`<option selected>&lt;b&gt;&#34;x</option>`, `value="&lt;b&gt;shop"`, `value="46&lt;b&gt;"`, `>&lt;b&gt;hush</textarea>`, `name="receipt" value="1" checked`}
	for _, scope := range []string{config.LookScope, config.OperateScope, config.AdministerScope} {
		c := visitor(t, base, scope)
		_, body, _ := ask(t, c, "GET", base+"/ui/try", nil)
		if strings.Contains(body, `name="send"`) != (scope == config.AdministerScope) || strings.Contains(body, "data-stream") || strings.Contains(body, "What became") {
			t.Errorf("%s: %s", scope, body)
		}
		code, body, _ := ask(t, c, "POST", base+"/ui/try", form("explain", "1"))
		for _, want := range append(filled, "{Account:&lt;b&gt;&#34;x Connector: From:&lt;b&gt;shop To:46&lt;b&gt; Text:&lt;b&gt;hush}") {
			if code != 200 || !strings.Contains(body, want) || strings.Contains(body, "<b>") {
				t.Errorf("%s: no %s: %d %s", scope, want, code, body)
			}
		}
		if _, body, _ = ask(t, c, "POST", base+"/ui/try", form("explain", "1", "to", "46", "message", "one\r\ntwo")); !strings.Contains(body, "Text:one\ntwo}") {
			t.Errorf("%s: %q", scope, body)
		}
		if _, body, _ = ask(t, c, "POST", base+"/ui/try", form("explain", "1", "to", "none")); !strings.Contains(body, "&lt;b&gt;no answer") || strings.Contains(body, "<b>") {
			t.Errorf("%s: %s", scope, body)
		}
		if code, _, _ = ask(t, c, "POST", base+"/ui/try", form("send", "1")); scope != config.AdministerScope && code != http.StatusForbidden {
			t.Errorf("%s may submit: %d", scope, code)
		}
	}
	if n := lane.Queued.Load(); n != 1 {
		t.Errorf("%d messages wait", n)
	}
	c := visitor(t, base, config.AdministerScope)
	code, _, h := ask(t, c, "POST", base+"/ui/try", form("send", "1", "to", "46700000001"))
	at, err := url.Parse(h.Get("Location"))
	if code != http.StatusSeeOther || err != nil || at.Path != "/ui/try" || at.Query().Get("account") != `<b>"x` || at.Query().Get("to") != "46700000001" || strings.Contains(at.RawQuery, "hush") {
		t.Fatalf("%d %v, %v", code, h, err)
	}
	id := at.Query().Get("id")
	_, body, _ := ask(t, c, "GET", base+h.Get("Location"), nil)
	if !strings.Contains(body, "Message "+id+" is accepted from &lt;b&gt;&#34;x.") || !strings.Contains(body, `href="/ui/messages/`+id+`"`) || strings.Contains(body, "<b>") || strings.Contains(body, "hush") {
		t.Error(body)
	}
	code, body, _ = ask(t, c, "POST", base+"/ui/try", form("send", "1", "to", strings.Repeat("4", 65)))
	if code != 200 || !strings.Contains(body, `role="alert">cannot submit: an address has`) || !strings.Contains(body, filled[3]) || strings.Contains(body, "<b>") {
		t.Errorf("%d %s", code, body)
	}
	if _, body, _ = ask(t, c, "GET", base+"/ui/try?id=%3Cb%3E&account=%3Cb%3E&to=%22%3E%3Cscript%3E", nil); strings.Contains(body, "What became") || strings.Contains(body, "<b>") || strings.Contains(body, "<script>") {
		t.Error(body)
	}
	log, err := os.ReadFile(s.Gateway().Node.Config().Admin.Audit)
	if err != nil || strings.Contains(string(log), "hush") || !strings.Contains(string(log), `"act":"try/explain"`) || !strings.Contains(string(log), `"id":"`+id+`"`) {
		t.Errorf("%v: %s", err, log)
	}
}
