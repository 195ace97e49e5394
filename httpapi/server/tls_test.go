package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"pmg/httpapi/apitest"
	"pmg/internal/tlsfiles"
)

// A connection begins with a certificate of its client, which has to be one that is taken at each request: with the same authority
// it goes on, whatever else has changed; with another one it is refused and closed.
func TestCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".pem") }
	for _, name := range []string{"ca", "other"} {
		a, err := tlsfiles.NewAuthority("test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Write(file(name)); err != nil {
			t.Fatal(err)
		}
		if name == "other" {
			break
		}
		for _, of := range []string{"server", "client"} {
			if err := a.Issue(file(of), file(of+"-key"), time.Hour, of, "127.0.0.1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	api := func(ca, more string) string {
		return fmt.Sprintf("tls: {certificate: %q, key: %q, client_ca: %q}%s", file("server"), file("server-key"), file(ca), more)
	}
	const account = "{system_id: shop, certificates: client}"
	r := newRig(t, api("ca", ""), account)
	config, _, err := tlsfiles.Load(&tlsfiles.Options{
		Authorities: file("ca"), ServerName: "server", Certificates: []string{file("client")}, Keys: []string{file("client-key")},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	p := r.dial("127.0.0.1")
	c := tls.Client(p.Conn, config)
	p.Conn, p.in = c, bufio.NewReader(c)
	p.ask("GET /ask", "Authorization: Basic c2hvcDo=\r\n", "")
	p.want(202, "shop 127.0.0.1 ")
	if got := c.ConnectionState().NegotiatedProtocol; got != "" && got != "http/1.1" {
		t.Errorf("it speaks %s", got)
	}
	r.Reload(apitest.YAML(account, api("ca", ", window: 17"), "", ""))
	p.ask("GET /ask", "Authorization: Basic c2hvcDo=\r\n", "")
	p.want(202, "shop 127.0.0.1 ")
	r.Reload(apitest.YAML(account, api("other", ""), "", ""))
	p.ask("GET /ask", "Authorization: Basic c2hvcDo=\r\n", "")
	if w := p.want(401, ""); !w.Close {
		t.Error("it goes on")
	}
	p.wantEnd()
}
