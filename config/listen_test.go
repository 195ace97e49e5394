package config

import (
	"net/netip"
	"strings"
	"testing"
)

// An out connector may listen in place of an address, and says what is wrong with that.
func TestListen(t *testing.T) {
	parse := func(options string) (*Config, string) {
		c, warnings, err := Parse([]byte("connectors:\n  - {name: a, direction: out, system_id: pmg, "+options+"}\n"), speaksSMPP)
		var all strings.Builder
		if err != nil {
			all.WriteString(err.Error())
		}
		for _, w := range warnings {
			all.WriteString(w.String())
		}
		return c, all.String()
	}
	for _, c := range []struct{ options, want string }{
		{`listen: ":2775", peer_password: secret`, ""},
		{`listen: ":2775", networks: [192.0.2.0/24]`, ""},
		{`listen: ":2775"`, "lets every peer in"},
		{`listen: "192.0.2.1"`, "must be host:port"},
		{`listen: ":2775", address: "192.0.2.1:2775"`, "must not be given together with address"},
		{`address: "192.0.2.1:2775", peer_system_id: smsc`, "no effect without listen"},
		{`address: "192.0.2.1:2775", proxies: 192.0.2.2`, "no effect without listen"},
		{`listen: ":2775", networks: [192.0.2.0/24], proxies: [192.0.2.2, "::/0"]`, "has everybody"},
		{`networks: [192.0.2.1]`, "must have address or listen"},
	} {
		if _, got := parse(c.options); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "listen") {
			t.Errorf("%s: got %q, want %q", c.options, got, c.want)
		}
	}
	c, _ := parse(`listen: ":2775", proxies: 192.0.2.0/24, peer_system_id: smsc, peer_password: secret, networks: [192.0.2.0/24], static: false`)
	cc := &c.Connectors[0]
	if !cc.Listens() || cc.Role().String() != "client" || !cc.IsStatic() || !cc.PeerLogsIn() || cc.Instances != 1 || cc.AllAddresses()[0] != ":2775" {
		t.Errorf("%+v", cc)
	}
	if !cc.IsPeer([]byte("smsc"), []byte("secret")) || cc.IsPeer([]byte("smsc"), nil) || cc.IsPeer([]byte("other"), []byte("secret")) {
		t.Error("the wrong credentials are right")
	}
	if !cc.TakesFrom(netip.MustParseAddr("::ffff:192.0.2.9")) || cc.TakesFrom(netip.MustParseAddr("192.0.3.9")) {
		t.Error("the wrong addresses are taken")
	}
	if !cc.IsProxy(netip.MustParseAddr("::ffff:192.0.2.9")) || cc.IsProxy(netip.MustParseAddr("192.0.3.9")) {
		t.Error("the wrong addresses are those of proxies")
	}
}

// A connector of HTTP has no options that would have no effect: it does not connect.
func TestHTTPConnector(t *testing.T) {
	t.Parallel()
	f := func(options, want string) {
		t.Helper()
		_, _, err := Parse([]byte("accounts: []\nroutes: []\nconnectors:\n  - {name: api, direction: in, protocol: http, address: \":0\""+options+"}\n"), Options{Protocols: []string{"http"}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
	f("", "")
	f(", dialects: [pmg, kannel, jasmin]", "")
	f(", dialects: [twilio]", "must be pmg, kannel or jasmin")
	f(", proxies: [192.0.2.1]", "")
	f(", long_messages: join", "")
	f(", long_messages: split8", "must be pass or join")
	f(", listen: \":0\"", "")
}
