package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"testing"

	"pmg/internal/testkit/testutil"
	"pmg/internal/tlsfiles"
)

// fingerprint returns the fingerprint of a certificate.
func (k *keys) fingerprint(name string) string {
	k.t.Helper()
	c, err := tls.LoadX509KeyPair(k.file(name), k.file(name+"-key"))
	if err != nil {
		k.t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(c.Certificate[0]))
}

// shows returns the configuration of a client that shows a certificate of another authority's files, or none.
func (k *keys) shows(by *keys, name string) *tls.Config {
	k.t.Helper()
	o := tlsfiles.Options{Authorities: k.file("ca"), ServerName: "localhost"}
	if name != "" {
		o.Certificates, o.Keys = []string{by.file(name)}, []string{by.file(name + "-key")}
	}
	c, _, err := tlsfiles.Load(&o, false)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

// An account with certificates logs in with one of them, and with its password if it has one; others do not, with
// whatever password, and neither does it on a connector without TLS.
func TestTLSAccounts(t *testing.T) {
	parallel(t)
	k, other := newKeys(t), newKeys(t)
	for _, own := range []*keys{k, other} {
		own.issue("one", "one.example.net", "ONE")
		own.issue("two", "two")
	}
	tlsOptions := k.listens(fmt.Sprintf(", client_ca: %q", k.file("ca")))
	s := site{
		operator: newSMSC(t), clients: tlsOptions,
		accounts: fmt.Sprintf("{system_id: one, certificates: [One]}\n{system_id: two, certificates: [nobody, %q], password: pass2}",
			k.fingerprint("two")),
		more: `{name: plain, direction: in, address: "127.0.0.1:0"}` + "\n" +
			fmt.Sprintf(`{name: ucp, direction: in, protocol: ucp, address: "127.0.0.1:0", %s}`, tlsOptions),
	}
	g := start(t, s)
	bind := func(config *tls.Config, id, password, want string) {
		t.Helper()
		c := g.dial("clients").secure(config, false)
		c.send(bindLine("transceiver", id, password))
		c.want("bind_transceiver_resp", "status="+want)
	}
	one, two := k.shows(k, "one"), k.shows(k, "two")
	bind(one, "one", "", "0")
	bind(one, "one", "whatever", "0")
	bind(two, "two", "pass2", "0")
	bind(two, "two", "wrong", "0xd(ESME_RBINDFAIL)")
	bind(one, "two", "pass2", "0xd(ESME_RBINDFAIL)")
	bind(two, "one", "", "0xd(ESME_RBINDFAIL)")
	bind(k.shows(k, ""), "two", "pass2", "0xd(ESME_RBINDFAIL)")
	bind(two, "acme", "s3cret", "0") // whose account has none
	testutil.Eventually(t, "the log says why", func() bool { return g.log.count("no certificate of the account") > 0 })

	p := g.dial("plain")
	p.send(bindLine("transceiver", "one", ""))
	p.want("bind_transceiver_resp", "status=0xd(ESME_RBINDFAIL)")
	u := &ucpPeer{t: t, conn: tls.Client(g.dial("ucp").conn, two)}
	u.send("op60 seq=0 OAdC=two OTON=6 ONPI=5 STYP=1 PWD=7061737332 VERS=0100")
	u.want("op60_result seq=0 status=0")
	c := g.dial("clients").secure(k.shows(other, "one"), false)
	c.writeQuietly(wire(t, bindLine("transceiver", "one", "")))
	if _, err := c.conn.Read(make([]byte, 1)); err == nil {
		t.Error("a certificate of another authority is taken")
	}
}

// A session is not resumed with the certificate of an authority that a reload has removed.
func TestTLSRevoked(t *testing.T) {
	parallel(t)
	k, next := newKeys(t), newKeys(t)
	s := site{operator: newSMSC(t), clients: k.listens(fmt.Sprintf(", client_ca: %q", k.file("ca"))), accounts: "{system_id: one, certificates: acme}"}
	g := start(t, s)
	config := k.shows(k, "client")
	config.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	bind := func() *peer {
		c := g.dial("clients").secure(config, false)
		c.writeQuietly(wire(t, bindLine("transceiver", "one", "")))
		return c
	}
	resumed := func(c *peer) bool { return c.conn.(*tls.Conn).ConnectionState().DidResume }
	first := bind()
	first.want("bind_transceiver_resp", "status=0")
	again := bind()
	again.want("bind_transceiver_resp", "status=0")
	if resumed(first) || !resumed(again) {
		t.Fatal("the second session does not resume the first one")
	}
	s.clients = k.listens(fmt.Sprintf(", client_ca: %q", next.file("ca")))
	if err := g.reload(s); err != nil {
		t.Fatal(err)
	}
	late := bind()
	if n, err := late.conn.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d octets for a client whose authority was removed", n)
	}
	again.exchange()
}
