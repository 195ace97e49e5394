package migrate

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmg/cmd/pmg/migrate/jasmin"
)

// The script of docs/migrate.md gets a dump of a console that is as Jasmin's: all connectors and users are in it.
func TestDocumentDump(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "awk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../../../docs/migrate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "```sh\n")
	script, _, closed := strings.Cut(script, "```\n")
	if !found || !closed {
		t.Fatal("there is no script")
	}
	full, err := os.ReadFile("jasmin/testdata/full.txt")
	if err != nil {
		t.Fatal(err)
	}
	address := serveConsole(t, string(full))
	_, port, _ := net.SplitHostPort(address)
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", strings.NewReplacer("8990", port, "sleep 0.2", "sleep 0.01").Replace(script))
	cmd.Dir = dir
	if _, err := exec.LookPath("nc"); err != nil {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "nc"), []byte(standIn), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	}
	timer := time.AfterFunc(40*time.Second, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := jasmin.ReadFile(filepath.Join(dir, "jasmin.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := jasmin.Read(full)
	if len(got.Connectors) != len(want.Connectors) || len(got.Users) != len(want.Users) || len(got.MT) != len(want.MT) || len(got.MO) != len(want.MO) ||
		len(got.Groups) != len(want.Groups) || len(got.HTTP) != len(want.HTTP) || len(got.Interceptors) != len(want.Interceptors) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for _, row := range got.Unknown { // those that the lists have, and the console does not know
		if !strings.HasPrefix(row.Text, "Unknown ") {
			t.Errorf("%+v", row)
		}
	}
}

// standIn stands in for nc where that is not installed.
const standIn = `#!/usr/bin/env bash
exec 3<>"/dev/tcp/$1/$2"
cat <&3 &
cat >&3
wait
`

// serveConsole serves a console that shows what another one has shown, command by command, and repeats what is typed, as that of
// Jasmin does.
func serveConsole(t *testing.T, session string) (address string) {
	t.Helper()
	const prompt = "jcli : "
	shown := map[string]string{}
	parts := strings.Split(session, prompt)
	for _, part := range parts[1:] {
		command, output, _ := strings.Cut(part, "\r\n")
		shown[command] = output
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fmt.Fprint(c, "\x1bc\x1b[4hAuthentication required.\r\n\r\nUsername: ")
				s := bufio.NewScanner(c)
				for n := 0; s.Scan() && s.Text() != "quit"; n++ {
					output, known := shown[s.Text()]
					switch {
					case n == 0:
						fmt.Fprint(c, s.Text(), "\r\nPassword: ")
					case n == 1:
						fmt.Fprint(c, "\r\nWelcome to Jasmin 0.11.1 console\r\nType help or ? to list commands.\r\n\r\nSession ref: 3\r\n", prompt)
					case known:
						fmt.Fprint(c, s.Text(), "\r\n", output, prompt)
					default:
						fmt.Fprint(c, s.Text(), "\r\nUnknown ", s.Text(), "\r\n", prompt)
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
