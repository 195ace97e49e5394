package e2e

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pmg/internal/testkit/testutil"
)

// Kannel sends through the gateway by HTTP (smsc = http): as to another Kannel, and as to any server (generic). Each
// message arrives once, and each report that the gateway calls Kannel with reaches the server of Kannel's user once.
func TestKannelHTTP(t *testing.T) {
	parallel(t)
	const messages = 150
	for system, options := range map[string]string{
		"kannel": "system-type = kannel\nsend-url = http://%[1]s/cgi-bin/sendsms\ndlr-url = http://127.0.0.1:$PORT/?username=kannel&password=s3cret\n",
		"generic": "system-type = generic\nstatus-success-regex = ^0:\nstatus-permfail-regex = ^Not.routable\n" +
			"send-url = \"http://%[1]s/cgi-bin/sendsms?username=kannel&password=s3cret&from=%%P&to=%%p&text=%%b&dlr-mask=23&dlr-url=%[2]s\"\n",
	} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			operator := newSMSC(t)
			var ports, urls []string
			for range 5 {
				_, port, _ := net.SplitHostPort(testutil.FreeAddress(t))
				ports, urls = append(ports, port), append(urls, fmt.Sprintf("%q", "http://127.0.0.1:"+port+"/"))
			}
			g := start(t, site{
				operator: operator, memory: true, clients: "protocol: http, dialects: [kannel]", routes: "{destination: [467], to: operator}",
				accounts: fmt.Sprintf(`{system_id: kannel, password: s3cret, callback_urls: [%s]}`, strings.Join(urls, ", ")),
			})
			smsc := operator.session()
			go smsc.serveReceipts()
			back := url.QueryEscape("http://127.0.0.1:") + "$PORT" + url.QueryEscape("/?username=kannel&password=s3cret&dlr-mask=") + "%25d" + "%26dlr-mid%3D%I"
			k := startKannel(t, g.addr("clients"), "http", "connect-allow-ip = 127.0.0.1\n"+fmt.Sprintf(options, g.addr("clients"), back), ports...)
			const mask = dlrAll &^ dlrAccepted // that it reports itself when the gateway has accepted a message
			var want []string
			for n := range messages {
				to := fmt.Sprintf("467%08d", n)
				states, _ := fates(n, dlrFailed)
				if states[0] == dlrRefused {
					to = fmt.Sprintf("468%08d", n)
				}
				for _, s := range states {
					if s&mask != 0 {
						want = append(want, fmt.Sprintf("n=%03d&state=%d", n, s))
					}
				}
				k.send(fmt.Sprint(n), "to", to, "dlr-mask", fmt.Sprint(mask), "dlr-url", fmt.Sprintf("%s/dlr?n=%03d&state=%%d", k.seen.URL, n))
			}
			slices.Sort(want)
			testutil.Eventually(t, "each state is reported", func() bool { return len(k.saw("/dlr")) >= len(want) })
			if got := k.saw("/dlr"); !slices.Equal(got, want) {
				t.Errorf("%d calls, want %d:\n%s", len(got), len(want), difference(got, want))
			}
		})
	}
}
