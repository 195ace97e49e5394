package system

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
)

// A stranger who reaches the ports of a cluster that pmg cluster setup has made, without a certificate of its authority, reads and
// writes nothing. One who has a certificate and the password publishes a thousand messages in the stream of the journal: the nodes
// ignore and count them, and go on.
func TestClusterStranger(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	x := startTraffic(t, hubAddress, hubAddress)
	m := newMachines(t, clusterTimes{10 * time.Second, 12 * time.Second}, x.sink.Addr(), x.hook.URL)
	u := &upgrade{machines: m, x: x}
	x.submits("127.0.0.1:2775", "127.0.0.1:8080")
	x.flows(m.g)
	u.ready()
	m.refused()
	heard := m.rogue()
	x.flows(m.g)
	if n := m.foreign(); n != 0 {
		t.Errorf("%d messages of a server without a certificate are in the stream", n)
	}
	if n := heard(); n != 0 {
		t.Errorf("a server without a certificate has got %d messages", n)
	}
	m.publish(1000)
	x.flows(m.g)
	testutil.Eventually(t, "the nodes that stand by have seen the messages", func() bool { return m.foreign() >= 1000 })
	owner := m.g.owner(nil)
	u.move()
	m.g.owner(owner.p)
	x.flows(m.g)
	u.ready()
	x.end()
	m.g.wants("3 copies have the same", "check")
}

// refused connects to the servers without a certificate.
func (m *machines) refused() {
	m.g.t.Helper()
	password := m.password()
	for _, options := range [][]nats.Option{
		nil, {nats.UserInfo("pmg", password)},
		{nats.UserInfo("pmg", password), nats.Secure(&tls.Config{InsecureSkipVerify: true})},
	} {
		for i := range m.servers {
			conn, err := nats.Connect(fmt.Sprintf("nats://10.0.0.%d:4222", i+1), append(options, nats.Timeout(2*time.Second))...)
			if err == nil {
				conn.Close()
				m.g.t.Error("a client without a certificate is served")
			}
		}
	}
}

// password returns the password of the user pmg.
func (m *machines) password() string {
	m.g.t.Helper()
	found := regexp.MustCompile(`user: pmg, password: "([^"]+)"`).FindStringSubmatch(m.made("a/nats/nats-server.conf"))
	if found == nil {
		m.g.t.Fatal("the file of the server has no password")
	}
	return found[1]
}

// rogue starts a server that says that it belongs to the cluster, and publishes junk by it. heard returns how many
// messages of the stream have come there.
func (m *machines) rogue() (heard func() int) {
	t := m.g.t
	for _, secure := range []string{"", `tls { cert_file: "%[1]s/server.pem", key_file: "%[1]s/server-key.pem", ca_file: "%[1]s/ca.pem" }`} {
		dir := filepath.Join(t.TempDir(), "own")
		if secure != "" {
			if out, err := program(t).Run("tls", "init", dir); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			secure = fmt.Sprintf(secure, dir)
		}
		address := testutil.FreeAddress(t)
		s := natstest.NewWithin(t, nil, "rogue", address, func(string) string {
			return fmt.Sprintf(`server_name: rogue
listen: %q
cluster { name: pmg, listen: %q, routes: ["nats://routes:guess@10.0.0.1:6222", "nats://10.0.0.2:6222", "nats://10.0.0.3:6222"]
  %s }
accounts { SYS: {}, PMG: { users: [{ user: evil, password: evil }] } }
system_account: SYS
`, address, hubAddress+":0", secure)
		}).Start()
		s.Accepts()
		conn, err := nats.Connect("nats://"+address, nats.UserInfo("evil", "evil"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conn.Close)
		sub, err := conn.SubscribeSync("PMG")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second) // it tries to connect once a second
		for range 4 {
			if err := conn.Publish("PMG", []byte("junk")); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Flush(); err != nil {
			t.Fatal(err)
		}
		before := heard
		heard = func() int {
			n, _, _ := sub.Pending()
			if before != nil {
				n += before()
			}
			return n - 4 // its own
		}
	}
	return heard
}

// publish publishes messages in the journal's stream, as somebody who has what a node has, but for the secret.
func (m *machines) publish(n int) {
	t := m.g.t
	password := m.password()
	dir := m.setup + "/a/nats/"
	conn, err := nats.Connect("tls://10.0.0.1:4222", nats.UserInfo("pmg", password),
		nats.RootCAs(dir+"ca.pem"), nats.ClientCert(dir+"node.pem", dir+"node-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for i := range n {
		if _, err := conn.Request("PMG", []byte(strings.Repeat("x", i%100)), 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// foreign returns how many messages of others the node that has seen most has seen.
func (m *machines) foreign() (most int) {
	t := m.g.t
	ca, err := os.ReadFile(m.setup + "/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
	for i := range m.servers {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://10.0.0.%d:2780/metrics", i+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(documents.Read(t, m.setup+"/admin.token")))
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^pmg_cluster_foreign_messages (\d+)$`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("node %d: no metric of foreign messages: %.300s", i+1, text)
		}
		n, _ := strconv.Atoi(string(found[1]))
		most = max(most, n)
	}
	return most
}
