package system

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pmg/internal/testkit/process"
	"pmg/internal/testkit/testutil"
	"pmg/loadtest"
)

// A service keeps listening sockets open and starts pmg serve with them, as systemd does.
type service struct {
	t     *testing.T
	file  string // configuration
	names string
	files []*os.File
}

// listens makes a socket with a name.
func (s *service) listens(name string) (addr string) {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		s.t.Fatal(err)
	}
	s.hands(name, f)
	return l.Addr().String()
}

// hands hands over a descriptor.
func (s *service) hands(name string, f *os.File) {
	s.t.Cleanup(func() { f.Close() })
	s.names = strings.TrimPrefix(s.names+":"+name, ":")
	s.files = append(s.files, f)
}

func (s *service) start() *process.Process {
	s.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh", program(s.t).Path, "serve", "-c", s.file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("LISTEN_FDS=%d", len(s.files)), "LISTEN_FDNAMES="+s.names)
	cmd.ExtraFiles = s.files
	return program(s.t).Start(s.t, cmd)
}

// A restart under load refuses no connection, and loses no message: the socket was handed over, and stays open
// while no gateway runs.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	sink, err := loadtest.StartSink(loadtest.SinkOptions{Listen: "127.0.0.1:0", Delay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	dir := process.NewStoreDir(t)
	config := "limits: {prebind: 100000, prebind_per_address: 100000}" + fmt.Sprintf(killConfig, dir, dir+"-events", dir+"-stats", "127.0.0.1:0", sink.Addr(), killSessions, killWindow, "resend")
	s := &service{t: t, file: process.WriteConfig(t, config)}
	addr, admin := s.listens("clients"), s.listens("admin")
	running := s.start()
	if e := running.Wait("listening"); e.Address != addr {
		t.Fatalf("the gateway listens on %s, not on %s", e.Address, addr)
	}
	if e := running.Wait("admin listening"); e.Address != admin {
		t.Fatalf("admin listens on %s, not on %s", e.Address, admin)
	}
	loads := startStubborn(killLoads)
	loads.to.Store(&addr)
	ctx, cancel := context.WithCancel(context.Background())
	dials := make(chan int)
	go func() { // clients connect all the time
		n := 0
		for ; ctx.Err() == nil; n++ {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Errorf("connection %d is refused: %v", n, err)
				break
			}
			c.Close()
			time.Sleep(time.Millisecond)
		}
		dials <- n
	}()
	const restarts = 3
	for range restarts {
		running.Wait("serving")
		enough := sink.Result().Unique + 500
		testutil.Eventually(t, "there is traffic", func() bool { return sink.Result().Unique >= enough })
		if status := running.Stop(); status != 0 {
			t.Errorf("exit status %d", status)
		}
		between, err := net.Dial("tcp", addr) // while no gateway runs
		if err != nil {
			t.Fatal(err)
		}
		running = s.start()
		if _, err := between.Write([]byte("\x00\x00\x00\x10\x00\x00\x00\x15\x00\x00\x00\x00\x00\x00\x00\x01")); err != nil {
			t.Error(err)
		}
		_ = between.SetReadDeadline(time.Now().Add(testutil.Patience))
		if n, err := between.Read(make([]byte, 16)); n == 0 {
			t.Errorf("a client that came between gets no answer: %v", err)
		}
		between.Close()
	}
	cancel()
	n := <-dials
	loads.cancel()
	loads.wg.Wait() // a gateway that stops has refused messages; the clients are informed
	running.Settle()
	if status := running.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if missing := loads.missing(sink.Result()); missing > 0 || loads.accepted == 0 {
		t.Errorf("%d of %d accepted messages have not arrived", missing, loads.accepted)
	}
	t.Logf("%d restarts: %d messages accepted, %d logins of clients, %d further connections, none refused", restarts, loads.accepted, loads.logins, n)
}

// The log names sockets that no connector has, other addresses, and descriptors that are no
// sockets.
func TestHandedOverMistaken(t *testing.T) {
	t.Parallel()
	config := fmt.Sprintf("log: {format: json}\npdulog: {enabled: false}\nstore: {dir: %q, ballast: 0B}\n"+
		"accounts: []\nconnectors:\n  - {name: clients, direction: in, address: \"127.0.0.9:1\", addresses: [\"127.0.0.1:0\"]}\n"+
		"  - {name: more, direction: in, address: \"127.0.0.1:0\"}\n"+
		"  - {name: operator, direction: out, address: \"127.0.0.1:1\", system_id: a, static: false}\nroutes: [{to: operator}]\n", process.NewStoreDir(t))
	s := &service{t: t, file: process.WriteConfig(t, config)}
	addr, other, out := s.listens("clients"), s.listens("customers"), s.listens("operator")
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	s.hands("more", null)
	p := s.start()
	p.Wait("serving")
	if e, ok := p.Logged("nothing listens on this address of the configuration: the sockets of that name from the service manager have other addresses"); !ok || e.Address != "127.0.0.9:1" {
		t.Errorf("other addresses: %+v", e)
	}
	log := p.Log()
	for _, want := range []string{
		`"connector":"clients","protocol":"smpp","instances":1000,"window":10,"address":"` + addr + `"`,
		`"name":"customers"`, `"name":"operator"`, "a socket from the service manager is not used",
		"cannot use the socket more from the service manager (descriptor 6)",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if strings.Contains(log, other) || strings.Contains(log, out) {
		t.Error("a socket of no connector is used")
	}
	p.Kill()
}

// The socket admin is that of admin.address, also where a connector has this name.
func TestHandedOverAdmin(t *testing.T) {
	t.Parallel()
	s := &service{t: t, file: process.WriteConfig(t, fmt.Sprintf("log: {format: json}\npdulog: {enabled: false}\nstore: {dir: %q, ballast: 0B}\nadmin: {address: \"127.0.0.1:0\"}\n"+
		"accounts: []\nconnectors: [{name: admin, direction: in, address: \"127.0.0.1:0\"}]\nroutes: []\n", process.NewStoreDir(t)))}
	addr := s.listens("admin")
	p := s.start()
	if e := p.Wait("listening"); e.Address == addr {
		t.Error("the connector has the socket of admin.address")
	}
	if e := p.Wait("admin listening"); e.Address != addr {
		t.Errorf("admin listens on %s, not on %s", e.Address, addr)
	}
	p.Kill()
}

// systemd hands a socket over as docs/operate.md says.
func TestHandedOverSystemd(t *testing.T) {
	t.Parallel()
	activate, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	dir, addr := process.NewStoreDir(t), testutil.FreeAddress(t)
	file := process.WriteConfig(t, fmt.Sprintf(killConfig, dir, dir+"-events", dir+"-stats", addr, "127.0.0.1:1", 1, 1, "resend"))
	p := program(t).Start(t, exec.Command(activate, "-l", addr, "--fdname=clients", program(t).Path, "serve", "-c", file))
	var c net.Conn
	testutil.Eventually(t, "systemd listens", func() bool { c, err = net.Dial("tcp", addr); return err == nil })
	defer c.Close()
	if e := p.Wait("listening"); e.Address != addr {
		t.Errorf("the gateway listens on %s, not on %s", e.Address, addr)
	}
	p.Wait("serving")
	if status := p.Stop(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("%q", problems)
	}
}
