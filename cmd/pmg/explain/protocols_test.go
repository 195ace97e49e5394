package explain

import (
	"fmt"
	"strings"
	"testing"

	"pmg/config"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// everyDriver makes the drivers that pmg has.
func everyDriver(protocol string, _ *config.Config) (protocols.Driver, error) {
	switch protocol {
	case "ucp":
		return ucp.New(ucp.Options{}), nil
	case "http":
		return httpsms.New(), nil
	}
	return smpp.New(smpp.Options{}), nil
}

// Messages of every protocol are explained, whichever protocol they leave by, both ways.
func TestEveryProtocol(t *testing.T) {
	t.Parallel()
	names := []string{"smpp", "ucp", "http"}
	var b strings.Builder
	b.WriteString("pdulog: {dir: /nonexistent}\naccounts: [{system_id: acme, password: x, receives: ['46']}]\nconnectors:\n")
	for i, protocol := range names {
		out := map[string]string{"smpp": "address: 'a:1', system_id: x", "ucp": "address: 'a:1', system_id: x", "http": "preset: kannel, url: 'http://a:1'"}[protocol]
		fmt.Fprintf(&b, "  - {name: in-%[1]s, direction: in, protocol: %[1]s, address: ':%[2]d'}\n  - {name: out-%[1]s, direction: out, protocol: %[1]s, %[3]s}\n", protocol, i+1, out)
	}
	b.WriteString("routes:\n")
	for i, protocol := range names {
		fmt.Fprintf(&b, "  - {account: acme, destination: '%d', to: out-%s}\n", i+1, protocol)
	}
	b.WriteString("  - {destination: '46', to: {account: acme}}\n")
	c := parse(t, b.String())
	check := func(q Question, want ...string) {
		t.Helper()
		answer, err := Ask(c, everyDriver, q)
		if err != nil {
			t.Errorf("%+v: %v", q, err)
		}
		for _, w := range want {
			if !strings.Contains(answer, w) {
				t.Errorf("%+v:\n%s\nnot %q", q, answer, w)
			}
		}
	}
	for _, from := range names {
		for i, to := range names {
			check(Question{Account: "acme", Connector: "in-" + from, From: "PMG", To: fmt.Sprintf("%d70", i+1), Text: "Grüße €"},
				"1. connector out-"+to, fmt.Sprintf("to %d70", i+1), "the text is sent in", "of 160 septets")
		}
		check(Question{Connector: "out-" + from, From: "12", To: "4670", Text: "Hej"},
			"the sessions of account acme on connector in-smpp: from 12", "or those on connector in-ucp: from 12", "or events on connector in-http: from 12")
	}
	check(Question{Account: "acme", To: "370", Text: strings.Repeat("x", 400)}, "3 short messages")
	check(Question{Account: "acme", Connector: "in-http", To: "170", Text: "a"}, "it has no sender")
	check(Question{Account: "acme", Connector: "in-smpp", To: "170", Text: "a"}, "1. connector out-smpp: from")
	for _, q := range []Question{
		{Account: "acme", Connector: "in-http", PDU: `http_submit seq=1 body="to=370"`},
		{Connector: "out-http", PDU: `http_deliver seq=1 body="to=370"`},
	} {
		if _, err := Ask(c, everyDriver, q); err == nil || !strings.Contains(err.Error(), "--from") {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
