package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pmg/cmd/pmg/explain"
	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms/rewrite"
)

func onlySMPP(string, *config.Config) (protocols.Driver, error) { return smpp.New(smpp.Options{}), nil }

// What pmg explain says of a message is what happens to it.
func TestRewriteExplained(t *testing.T) {
	parallel(t)
	operator := newSMSC(t)
	s := site{
		operator: operator,
		clients:  `rewrite: [{in: destination, strip: "+", ton: 1}, {in: destination, match: "0([1-9].*)", replace: "49$1"}, {in: source, match: "(?i)a(.*)", replace: "B$1", ton: auto}]`,
		out:      `rewrite: [{out: destination, match: "49.*", add: "00"}, {out: source, ton: 2, npi: 3}, {out: source, match: "Bx+", set: "77"}]`,
		accounts: `{system_id: other, password: s3cret, rewrite: [{in: source, default: NONE}, {in: destination, deny: ["4799*", "112"]}, {in: source, allow: ["B*", NONE, "1*"]}]}`,
		routes:   "{to: operator, destination: [49, 112, 47], account: other}\n{to: operator, destination: 49}",
	}
	g := start(t, s)
	session := operator.session()
	clients := map[string]*peer{"acme": g.bind("transmitter"), "other": g.dial("clients")}
	clients["other"].bind("transmitter", "other", "s3cret")
	refused := regexp.MustCompile("\nRefused as ([a-z_]+) by")
	leaves := regexp.MustCompile(`1\. connector operator: from (.*?)(?: \(TON (\d+), NPI (\d+)\))? to (\d+) \(TON (\d+), NPI (\d+)\)\n`)
	n := 0
	for account, client := range clients {
		for _, from := range []string{"", "1", "axx", "Bank", "Axxxxxxxxxxxxxxx", "+4917012345678"} {
			for _, to := range []string{"49", "+49170", "0170", "112", "47", "04799", "4799", "0112"} {
				n++
				said, err := explain.Ask(g.Gateway.Node.Config(), onlySMPP, explain.Question{Account: account, Connector: "clients", From: from, To: to})
				if err != nil {
					t.Fatal(err)
				}
				source, dest := rewrite.Auto([]byte(from)), rewrite.Auto([]byte(to))
				client.send(fmt.Sprintf("submit_sm seq=%d source_addr_ton=%d source_addr_npi=%d source_addr=%q dest_addr_ton=%d dest_addr_npi=%d destination_addr=%s short_message=\"x\"",
					n, source.TON, source.NPI, from, dest.TON, dest.NPI, to))
				status := "0"
				if r := refused.FindStringSubmatch(said); r != nil {
					status = map[string]string{"bad_source": "0xa(ESME_RINVSRCADR)", "bad_destination": "0xb(ESME_RINVDSTADR)"}[r[1]]
				}
				client.want("submit_sm_resp", fmt.Sprint("seq=", n), "status="+status)
				if status != "0" {
					continue
				}
				w := leaves.FindStringSubmatch(said)
				if w == nil {
					t.Fatal(said)
				}
				var want []string
				for i, name := range []string{"source_addr", "source_addr_ton", "source_addr_npi", "destination_addr", "dest_addr_ton", "dest_addr_npi"} {
					if v := w[i+1]; v != "" && v != "0" && v != "(none)" { // the log leaves out what is 0 or empty
						want = append(want, name+"="+v)
					}
				}
				line := session.want("submit_sm", want...)
				if n := len(strings.Fields(line)); n != len(want)+3 { // and the name, seq and short_message
					t.Errorf("%s, want %s", line, want)
				}
				session.answer(0, field(line, "seq"))
			}
		}
	}
}
