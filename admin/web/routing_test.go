package web

import (
	"net/http"
	"strings"
	"testing"

	"pmg/config"
	"pmg/sms"
)

// The page shows the routes and the state of their targets, and explains a message. To those who may operate, it
// compares the file with the running configuration.
func TestRouting(t *testing.T) {
	t.Parallel()
	base, g := start(t)
	m := &sms.Message{Kind: sms.MO, Origin: g.Node.Origins.Of("", "clients")}
	m.Set(sms.Address{Addr: []byte("1234")}, sms.Address{Addr: []byte("46")}, nil)
	if g.Table.Choose(m) == nil {
		t.Fatal("no route")
	}
	browsers := map[string]*http.Client{}
	for _, scope := range []string{config.LookScope, config.OperateScope, config.AdministerScope} {
		browsers[scope] = visitor(t, base, scope)
	}
	for _, c := range []struct{ scope, query, want, not string }{
		{config.LookScope, "", "destination: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more", "failed"},
		{config.LookScope, "", "source: &lt;b&gt;", "failed"},
		{config.LookScope, "", "weight 3", "weight 0"},
		{config.LookScope, "?filter=failing", "line 11", "No route fits"},
		{config.LookScope, "?filter=line+11", `data-k="m1">1<`, "m0"},
		{config.LookScope, "?filter=keyword", "line 10", "line 11"},
		{config.LookScope, "?to=46&account=a&connector=c&from=f", "&lt;b&gt;{Account:a Connector:c From:f To:46 Text:}", "failed"},
		{config.LookScope, "?to=46&word=stop&length=7", "Text:stop aa}", "failed"},
		{config.LookScope, "?to=46&length=3&unicode=1", "Text:жжж}", "failed"},
		{config.LookScope, "?to=46&word=stop&length=5", "Text:stop }", "failed"},
		{config.LookScope, "?to=46&word=stop&length=-5", "Text:stop}", "failed"},
		{config.LookScope, "?to=46&length=99999999999999999999", "Text:" + strings.Repeat("a", mostLength) + "}", "failed"},
		{config.LookScope, "?to=none", "&lt;b&gt;no answer", "{Account"},
	} {
		_, body, _ := ask(t, browsers[c.scope], "GET", base+"/ui/routing"+c.query, nil)
		if !strings.Contains(body, c.want) || strings.Contains(body, c.not) || strings.Contains(body, "<b>") {
			t.Errorf("%s %s: %s", c.scope, c.query, body)
		}
	}
}

// The page Configuration shows what a reload would change, and the audit log, to those who may operate; the button is for those who administer.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	base, _ := start(t)
	for _, c := range []struct{ scope, query, want, not string }{
		{config.LookScope, "?pending=1", "key shop of account &lt;b&gt;", "window: 10"},
		{config.LookScope, "", "2037-01-31", "Audit log"},
		{config.OperateScope, "", "Compare the file with the configuration in force", "window: 10"},
		{config.OperateScope, "?pending=1", "&lt;b&gt;window: 10", "Reload the configuration"},
		{config.OperateScope, "", "<td>login</td>", "Nothing yet"},
		{config.AdministerScope, "?pending=1", "Reload the configuration", "Compare the file"},
	} {
		_, body, _ := ask(t, visitor(t, base, c.scope), "GET", base+"/ui/configuration"+c.query, nil)
		if !strings.Contains(body, c.want) || strings.Contains(body, c.not) || strings.Contains(body, "<b>") {
			t.Errorf("%s %s: no %s, or %s: %s", c.scope, c.query, c.want, c.not, body)
		}
	}
}
