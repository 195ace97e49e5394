package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"pmg/httpapi/apitest"
	"pmg/internal/testkit/testutil"
)

// Accounts do not see by which SMSC their messages go, in any dialect: neither the connector's name nor the SMSC's ids. With
// public_name they see that name, and the ids. The pdu log has both names as they are.
func TestHTTPPublicName(t *testing.T) {
	parallel(t)
	for _, public := range []string{"", "route-1"} {
		t.Run(public, func(t *testing.T) {
			t.Parallel()
			h := apitest.NewHook(t)
			h.Answers(200, "ACK/Jasmin", "")
			s := site{
				operator: newSMSC(t), store: vfs.NewMem(), out: fmt.Sprintf("public_name: %q", public),
				more: `{name: api, direction: in, protocol: http, dialects: [pmg, kannel, jasmin], address: "127.0.0.1:0"}`,
				accounts: fmt.Sprintf("{system_id: api, password: s3cret, bind: [transmitter], webhook: \"%[1]s/own\", callback_urls: [\"%[1]s/given\"]}\n"+
					"{system_id: pull, password: s3cret, bind: [transmitter], pull: true}\n", h.URL),
				routes: "{from: operator, destination: 80, to: {account: api}}\n",
			}
			for i, form := range []string{"kannel-get", "kannel-post", "jasmin-post"} {
				s.accounts += fmt.Sprintf("{system_id: mo%d, password: s3cret, bind: [transmitter], webhook: \"%s/mo%[1]d?i=%%i\", webhook_form: %[3]s}\n", i, h.URL, form)
				s.routes += fmt.Sprintf("{from: operator, destination: 8%d, to: {account: mo%d}}\n", i+1, i)
			}
			s.routes += "{to: operator}"
			g := start(t, s)
			seen := clientsSee(t, g, s.operator, h)
			if all := strings.ToLower(strings.Join(seen, "\n")); strings.Contains(all, "operator") || public == "" && strings.Contains(all, "5ec7e7a") {
				t.Errorf("clients see which SMSC it is:\n%s", all)
			}
			for _, one := range seen {
				if public != "" && !strings.Contains(one, public) {
					t.Errorf("%s does not have %s", one, public)
				}
			}
			g.wantLog("operator", "> submit_sm", "account=api")
		})
	}
}

// clientsSee returns what clients read of messages that they send and get, in each dialect, where it may name the connector.
func clientsSee(t *testing.T, g *gw, operator *smsc, h *apitest.Hook) (seen []string) {
	a := g.api()
	smsc := operator.session()
	n := 0
	ends := func() {
		n++
		id := fmt.Sprint("5ec7e7a", n)
		smsc.accepts(id)
		smsc.send(receiptOf(id, "DELIVRD"))
		smsc.want("deliver_sm_resp")
	}
	calls := func(path string, least int) {
		t.Helper()
		testutil.Eventually(t, path+" is called", func() bool { return len(h.Calls(path)) >= least })
		for _, c := range h.Calls(path) {
			seen = append(seen, fmt.Sprint(c.Path, " ", c.Header, " ", c.Body))
		}
	}
	const own = `{"from":"1234","to":"46700000001","text":"hello","receipt":"all"}`
	a.name = "api"
	seen = append(seen, a.do("POST", "/v1/messages:preview", own).want(t, 200, "").body)
	id := a.do("POST", "/v1/messages", own).want(t, 202, "").text("id")
	ends()
	calls("/own", 2)
	for _, path := range []string{"/v1/messages/" + id, "/v1/messages"} {
		seen = append(seen, a.do("GET", path, "").want(t, 200, "").body)
	}
	a.name = "pull"
	a.do("POST", "/v1/messages", own).want(t, 202, "")
	ends()
	fetched := a.do("GET", "/v1/events?wait=10s", "").want(t, 200, "")
	seen = append(seen, fetched.body)

	const login = "username=api&password=s3cret&from=1234&to=46700000001&dlr-url="
	back := func(path string) string { return url.QueryEscape(h.URL + "/given/" + path) }
	a.ask("GET", "/cgi-bin/sendsms?text=a&dlr-mask=31&"+login+back("kannel?i=%i&F=%F&A=%A&D=%D"), "")
	ends()
	calls("/given/kannel", 2)
	a.ask("GET", "/send?content=a&dlr=yes&dlr-level=3&"+login+back("jasmin"), "")
	ends()
	calls("/given/jasmin", 2)

	for i, path := range []string{"/own", "/mo0", "/mo1", "/mo2"} {
		smsc.send(fmt.Sprintf(`deliver_sm seq=%d source_addr=46700000001 destination_addr=8%[1]d short_message="vote"`, i))
		smsc.want("deliver_sm_resp", "status=0")
		calls(path, []int{3, 1, 1, 1}[i])
	}
	return seen
}
