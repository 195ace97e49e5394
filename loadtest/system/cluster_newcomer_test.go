package system

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// A newcomer types commands on machines with nothing but the programs, as docs/cluster.md and pmg cluster setup say.
type newcomer struct {
	t     *testing.T
	path  string // $PATH
	typed int
}

// on returns a command on a machine, whose directories below /etc and /var/lib are its own. Machine hub has the balancer.
func (n *newcomer) on(machine int, command string) *exec.Cmd {
	n.typed++
	cmd := exec.Command("/bin/sh", "-ec", command)
	if machine != hub {
		cmd = exec.Command("ip", "netns", "exec", fmt.Sprintf("m%d", machine), "unshare", "--mount", "/bin/sh", "-ec",
			fmt.Sprintf("for d in etc/pmg etc/nats var/lib/pmg var/lib/nats; do mount --bind /run/m%d/$d /$d; done; cd /var/lib/pmg; %s", machine, command))
	}
	cmd.Env = append(os.Environ(), "PATH="+n.path)
	return cmd
}

// types types a command that ends.
func (n *newcomer) types(machine int, command string, args ...any) (out string, err error) {
	b, err := n.on(machine, fmt.Sprintf(command, args...)).CombinedOutput()
	return string(b), err
}

// must types a command that must succeed.
func (n *newcomer) must(machine int, command string, args ...any) string {
	n.t.Helper()
	out, err := n.types(machine, command, args...)
	if err != nil {
		n.t.Fatalf("%s: %v: %s", fmt.Sprintf(command, args...), err, out)
	}
	return out
}

// Three machines without anything become a cluster with the commands of the page alone, and a message goes through HAProxy.
func TestClusterNewcomer(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: hubAddress + ":2776"})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	shell(t, `for d in etc var/lib; do
			mkdir -p /run/over/$d /run/work/$d
			mount -t overlay overlay -o lowerdir=/$d,upperdir=/run/over/$d,workdir=/run/work/$d /$d
		done
		mkdir -p /etc/pmg /etc/nats /etc/haproxy /var/lib/pmg /var/lib/nats`)
	m := &machines{g: &clusterRig{t: t}}
	for i := 1; i <= 3; i++ {
		machineOn(t, i)
		shell(t, "mkdir -p /run/m%[1]d/etc/pmg /run/m%[1]d/etc/nats /run/m%[1]d/var/lib/pmg /run/m%[1]d/var/lib/nats", i)
	}
	n := &newcomer{t: t, path: filepath.Dir(program(t).Path) + ":" + filepath.Dir(natstest.Program(t)) + ":" + os.Getenv("PATH")}
	t.Chdir(t.TempDir()) // of the operator, on the balancer's machine
	began := time.Now()
	n.must(hub, "pmg config init")
	// by an editor: the SMSC, the addresses for clients, and no section admin, which cluster.yaml has
	n.must(hub, `sed -i -e 's/127.0.0.1:2776/%s:2776/; s/127.0.0.1:\(2775\|8080\)/0.0.0.0:\1/; /^admin:/,/^limits:/{/^limits:/!d}; /^cluster:/,/^managed:/{/^managed:/!d}' pmg.yaml`,
		hubAddress)
	n.must(hub, "pmg cluster setup sms --nodes a=10.0.0.1,b=10.0.0.2,c=10.0.0.3")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		from := fmt.Sprintf("%s/sms/%c", dir, 'a'+i-1)
		n.must(i, "cp -r %s/nats/* /etc/nats", from) // scp
		n.must(i, "mkdir -p /etc/pmg/cluster && cp -r %s/pmg/* /etc/pmg/cluster", from)
		n.must(i, "cp %s/pmg.yaml /etc/pmg", dir)
		n.must(i, "cat /etc/pmg/cluster/cluster.yaml >>/etc/pmg/pmg.yaml")
	}
	for i := 1; i <= 3; i++ {
		m.starts(n.on(i, "exec nats-server -c /etc/nats/nats-server.conf")) // systemctl start nats-server
	}
	for i := 1; i <= 3; i++ {
		m.starts(n.on(i, "exec pmg serve -c /etc/pmg/pmg.yaml")) // systemctl start pmg
	}
	n.must(hub, "cp sms/haproxy.cfg sms/ca.pem /etc/haproxy")
	m.starts(n.on(hub, "exec haproxy -db -f /etc/haproxy/haproxy.cfg"))
	typed := n.typed
	testutil.Eventually(t, "a node owns the work, and the others could take over", func() bool {
		out, err := n.types(1, "pmg cluster status -c /etc/pmg/pmg.yaml")
		return err == nil && strings.Count(out, "standby") == 2
	})
	owned := time.Since(began)
	testutil.Eventually(t, "a message is accepted through HAProxy", func() bool {
		out, err := n.types(hub, `curl -sfu load:secret http://localhost:8080/v1/messages -d '{"from": "Shop", "to": "46701740605", "text": "Hello"}' -H 'Content-Type: application/json'`)
		return err == nil && strings.Contains(out, `"id"`)
	})
	testutil.Eventually(t, "it arrives at the SMSC", func() bool { return sink.Result().Accepted > 0 })
	t.Logf("%d commands, one of them an edit of pmg.yaml; after %.1f s a node owns the work, after %.1f s a message has arrived at the SMSC",
		typed+2, owned.Seconds(), time.Since(began).Seconds())
}
