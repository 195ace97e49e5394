package system

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/documents"
	"pmg/internal/testkit/natstest"
	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
)

// What the machines have in common is made by pmg cluster setup, and used as it stands there. The machines are namespaces below
// one that a test has for itself, which ends with all that is in it.
const (
	machinesKey = "PMG_TEST_MACHINES" // set within that namespace
	hub         = 4                   // its number: the last of 10.0.0.254 is that of HAProxy, clients and SMSC
	hubAddress  = "10.0.0.254"
	// sharedAddress is the one that keepalived keeps.
	sharedAddress = "10.0.0.100"
)

// machineConfig is what pmg cluster setup does not write.
const machineConfig = `
log: {format: json}
pdulog: {enabled: false}
store: {dir: %[1]q, ballast: 0B}
events: {dir: %[2]q, rotate_every: 0s}
limits: {drain_timeout: 5s}
prices: [{name: standard, currency: EUR, file: %[5]q}]
accounts:
  - {system_id: one, password: secret, block: [stops]}
  - {system_id: two, password: secret, prices: standard, balance: {mode: postpaid, limit: "1000000"}}
  - {system_id: load, password: secret, webhook: %[3]q}
  - {system_id: phones, password: secret, bind: [transmitter], webhook: %[3]q, block: [optouts]}
connectors:
  - {name: clients, direction: in, address: "0.0.0.0:2775", window: 100}
  - {name: api, direction: in, protocol: http, address: "0.0.0.0:8080", throttle_pause: 1ms, retry: {temporary: [100ms, repeat]}}
  - {name: operator, direction: out, address: %[4]q, instances: 2, window: 10, max_queue: 500, queue_wait: 60s,
     system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{from: operator, to: {account: phones}}, {to: operator}]
`

// machines is three machines, each with a server of NATS and a gateway in a network of its own.
type machines struct {
	g       *clusterRig
	servers []*natstest.Server
	events  []string // their directories
	setup   string   // directory with what pmg cluster setup has made
}

// inNamespace runs a test within a namespace for networks, mounts and processes of its own, as root, and reports whether this is
// that process. Otherwise it waits for it.
func inNamespace(t *testing.T, args ...string) bool {
	t.Helper()
	if os.Getenv(machinesKey) != "" {
		shell(t, `mount -t tmpfs none /run
			mkdir /run/netns
			ip link set lo up
			ip link add br0 type bridge
			ip address add %s/24 dev br0
			ip link set br0 up`, hubAddress)
		return true
	}
	testutil.Long(t)
	if testutil.Race {
		t.Skip("TestCluster is the one with the race detector")
	}
	for _, program := range []string{"unshare", "ip", "haproxy"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	natstest.Program(t)
	own := []string{"--net", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"}
	if out, err := exec.Command("unshare", append(own, "ip", "link", "add", "br0", "type", "bridge")...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces can be made here: %v: %s", err, out)
	}
	t.Parallel()
	command := append(own, os.Args[0], "-test.v", "-test.timeout", "0", "-test.run", "^"+t.Name()+"$")
	cmd := exec.CommandContext(t.Context(), "unshare", append(command, args...)...)
	cmd.Env = append(os.Environ(), machinesKey+"=1", process.ProgramKey+"="+program(t).Path)
	out := &lines{log: t.Log}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		t.Errorf("within its namespace: %v", err)
	}
	return false
}

// lines logs what is written to it as it comes.
type lines struct{ log func(...any) }

func (l *lines) Write(b []byte) (int, error) {
	l.log(strings.TrimRight(string(b), "\n"))
	return len(b), nil
}

// shell runs commands, which must succeed.
func shell(t *testing.T, commands string, args ...any) {
	t.Helper()
	if out, err := exec.Command("/bin/sh", "-ec", fmt.Sprintf(commands, args...)).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", fmt.Sprintf(commands, args...), err, out)
	}
}

// machineOn makes the network of a machine.
func machineOn(t *testing.T, i int) {
	shell(t, `ip netns add m%[1]d
		ip link add m%[1]d type veth peer name eth0 netns m%[1]d
		ip link set m%[1]d master br0 up
		ip -n m%[1]d address add 10.0.0.%[1]d/24 dev eth0
		ip -n m%[1]d link set eth0 up
		ip -n m%[1]d link set lo up`, i)
}

// newMachines makes the networks, and starts the servers and the gateways.
func newMachines(t *testing.T, times clusterTimes, smsc, webhook string) *machines {
	m := &machines{g: &clusterRig{t: t}, setup: filepath.Join(t.TempDir(), "sms")}
	if out, err := program(t).Run("cluster", "setup", m.setup,
		"--nodes", "a=10.0.0.1,b=10.0.0.2,c=10.0.0.3", "--shared", sharedAddress); err != nil {
		t.Fatalf("pmg cluster setup: %v: %s", err, out)
	}
	for i := 1; i <= 3; i++ {
		machineOn(t, i)
		within := []string{"ip", "netns", "exec", fmt.Sprintf("m%d", i)}
		name := string(rune('a' + i - 1))
		m.servers = append(m.servers, natstest.NewWithin(t, within, name, fmt.Sprintf("10.0.0.%d:4222", i), func(dir string) string {
			return m.made(name+"/nats/nats-server.conf", "/etc/nats/", m.setup+"/"+name+"/nats/", "/var/lib/nats", dir) + "lame_duck_grace_period: 1s\n"
		}))
		dir := t.TempDir()
		m.events = append(m.events, dir+"/events")
		n := &m.g.nodes[i-1]
		n.within, n.store = within, dir+"/store"
		_, managed := managedConfig(t)
		if err := os.WriteFile(dir+"/prices.csv", []byte("for,price\n*,0.045001\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		n.file = process.WriteConfig(t, fmt.Sprintf(machineConfig, n.store, m.events[i-1], webhook, smsc, dir+"/prices.csv")+managed+
			m.made(name+"/pmg/cluster.yaml", "/etc/pmg/cluster/", m.setup+"/"+name+"/pmg/",
				"\ncluster:\n", fmt.Sprintf("\ncluster:\n  lease: %s\n  dead: %s\n  keep: 2m\n", times.lease, times.dead)))
	}
	for _, s := range m.servers {
		s.Start()
	}
	m.balance(m.made("haproxy.cfg", "/etc/haproxy/", m.setup+"/"))
	return m
}

// made returns a file of pmg cluster setup, with other paths.
func (m *machines) made(name string, paths ...string) string {
	return strings.NewReplacer(paths...).Replace(documents.Read(m.g.t, filepath.Join(m.setup, name)))
}

// balance starts HAProxy.
func (m *machines) balance(config string) {
	t := m.g.t
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.starts(exec.Command("haproxy", "-db", "-f", file))
}

// starts starts a program that runs until the test ends.
func (m *machines) starts(cmd *exec.Cmd) {
	t := m.g.t
	var log testutil.Log
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text := log.String()
			t.Logf("%s: %s", cmd.Args, text[max(0, len(text)-4000):])
		}
	})
}

// cut ends what goes from one machine to another, in this direction alone: it goes to a station that is not there. Machines are
// numbered from 1, and hub is where clients and SMSC are.
func (m *machines) cut(from, to int) {
	shell(m.g.t, "ip %s neigh replace %s lladdr 02:00:00:00:00:99 dev %s nud permanent", place(from), address(to), device(from))
}

// heal undoes it.
func (m *machines) heal(from, to int) {
	shell(m.g.t, "ip %s neigh del %s dev %s", place(from), address(to), device(from))
}

func place(machine int) string {
	if machine == hub {
		return ""
	}
	return fmt.Sprintf("-n m%d", machine)
}

func device(machine int) string {
	if machine == hub {
		return "br0"
	}
	return "eth0"
}

func address(machine int) string {
	if machine == hub {
		return hubAddress
	}
	return fmt.Sprintf("10.0.0.%d", machine)
}

// slowDisk limits how often a second the server of a machine writes, and returns what undoes it. It returns nil where nothing
// controls that (blkio of the first version of control groups).
func (m *machines) slowDisk(machine, writes int) (undo func()) {
	const root = "/sys/fs/cgroup/blkio"
	t, s := m.g.t, m.servers[machine-1]
	dir, err := os.MkdirTemp(root, "pmg-test-")
	if err != nil {
		return nil
	}
	undo = func() {
		_ = os.WriteFile(root+"/cgroup.procs", fmt.Append(nil, s.PID()), 0o600) // it may have ended
		_ = os.Remove(dir)
	}
	out, err := exec.Command("/bin/sh", "-ec", fmt.Sprintf(
		`device=$(stat -c %%d %s)
		echo "$((device >> 8 & 4095)):$((device & 255)) %d" >%[3]s/blkio.throttle.write_iops_device
		echo %[4]d >%[3]s/cgroup.procs`, filepath.Dir(m.events[0]), writes, dir, s.PID())).CombinedOutput()
	if err != nil {
		t.Logf("no slow disk: %v: %s", err, out)
		undo()
		return nil
	}
	return undo
}

// afterwards waits for a time, in which processes that have ended are started again.
func (m *machines) afterwards(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		m.g.supervise()
	}
}
