package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const userConfig = `
user: %s
log: {format: json}
admin: {address: "127.0.0.1:0"}
pdulog: {dir: %q}
events: {dir: %q, rotate_every: 0s}
store: {dir: %q, ballast: 0B}
accounts: [{system_id: load, password: "${ENV:PMG_TEST_PROCESS}"}]
connectors:
  - {name: clients, direction: in, address: %q}
  - {name: operator, direction: out, address: "127.0.0.1:1", system_id: a, static: false}
routes: [{to: operator}]
`

// nobody is a user that most machines have.
func nobody(t *testing.T) *user.User {
	t.Helper()
	u, err := user.Lookup("nobody")
	if os.Geteuid() != 0 || err != nil || runtime.GOOS != "linux" {
		t.Skip("needs Linux, root, and a user nobody")
	}
	return u
}

// writeUserConfig returns a configuration below a directory that the user may enter.
func writeUserConfig(t *testing.T, as, address string) (file, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "user")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file = filepath.Join(dir, "pmg.yaml")
	in := func(name string) string { return filepath.Join(dir, "state", name) }
	config := fmt.Sprintf(userConfig, as, in("pdulog"), in("events"), in("store"), address)
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "state"), 0o700),
		os.WriteFile(file, []byte(config), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return file, dir
}

// A gateway that root starts serves as the user of the option user: on a port that only root may
// open, with files of that user, in each of its threads.
func TestUser(t *testing.T) {
	u := nobody(t)
	t.Parallel()
	file, dir := writeUserConfig(t, "nobody", fmt.Sprintf("127.77.%d.%d:1018", os.Getpid()>>8&0xFF, os.Getpid()&0xFF|1))
	state := filepath.Join(dir, "state")
	var uid, gid int
	fmt.Sscan(u.Uid, &uid)
	fmt.Sscan(u.Gid, &gid)
	if err := os.Chown(state, uid, gid); err != nil {
		t.Fatal(err)
	}
	p := self().Serve(t, file)
	admin := "http://" + p.Wait("admin listening").Address
	p.Wait("serving")
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.Cmd.Process.Pid))
	if err != nil || len(threads) < 2 {
		t.Fatalf("%d threads: %v", len(threads), err)
	}
	for _, thread := range threads {
		b, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		for name, id := range map[string]int{"Uid": uid, "Gid": gid} {
			if want := fmt.Sprintf("%s:\t%d\t%[2]d\t%[2]d\t%[2]d\n", name, id); !strings.Contains(string(b), want) {
				t.Errorf("%s has no line %q:\n%s", thread, want, b)
			}
		}
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^Groups:\s%d\s*$`, gid)).Match(b) || !regexp.MustCompile(`(?m)^CapEff:\s0+$`).Match(b) {
			t.Errorf("%s has groups or capabilities:\n%s", thread, b)
		}
	}
	resp, err := http.Get(admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.Contains(string(metrics), "\nprocess_open_fds ") {
		t.Errorf("the process does not see its own descriptors: %v", err)
	}
	if err := p.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.Wait("configuration reloaded; nothing has changed")
	for _, name := range []string{"pdulog", "events", "store"} {
		info, err := os.Stat(filepath.Join(state, name))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(uid) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if status := p.Stop(); status != 0 || len(p.Problems()) > 0 {
		t.Errorf("exit status %d, problems %q", status, p.Problems())
	}
}

// What the user may not do is an error in words.
func TestUserCannot(t *testing.T) {
	nobody(t)
	t.Parallel()
	for name, c := range map[string]struct {
		user    string
		prepare func(file, dir string) error
		want    string
	}{
		"directories of another user": {"nobody", nil, "permission denied: the gateway runs as user nobody (user), to whom this must belong: chown"},
		"configuration":               {"nobody", func(file, _ string) error { return os.Chmod(file, 0o600) }, "permission denied: user nobody (user) must be able to, for reloads"},
		"no user":                     {"nosuchuser", nil, "cannot find user nosuchuser (user)"},
		"no group":                    {"nobody:nosuchgroup", nil, "cannot find group nosuchgroup (user)"},
		"root":                        {"root", nil, "cannot drop privileges (user): root has them all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, dir := writeUserConfig(t, c.user, "127.0.0.1:0")
			if c.prepare != nil {
				if err := c.prepare(file, dir); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(os.Args[0], "serve", "-c", file)
			cmd.Env = append(os.Environ(), processKey+"=1")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}
