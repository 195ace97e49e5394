package member

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each cluster has passwords and a secret of its own, the servers do not have the secret, and only the owner of the files may read
// them.
func TestSetup(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		dir := filepath.Join(t.TempDir(), "sms")
		cmd := setupCommand()
		var out strings.Builder
		cmd.SetOut(&out)
		cmd.SetArgs([]string{dir, "--nodes", "a=10.0.0.1,b=10.0.0.2,c=10.0.0.3", "--ports", "2775", "--shared", "10.0.0.100"})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Machine 10.0.0.2 of node b:", "/c/nats/*", "ports 4222 and 6222 are for these machines alone"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("what to do has no %q:\n%s", want, out.String())
			}
		}
		read := func(name string) string {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v", name, info.Mode(), err)
			}
			return string(b)
		}
		nats, pmg := read("b/nats/nats-server.conf"), read("b/pmg/cluster.yaml")
		secrets := regexp.MustCompile(`pmg_[A-Za-z0-9_-]{43}`).FindAllString(nats+pmg, -1)
		now := map[string]bool{}
		for _, s := range secrets {
			if seen[s] {
				t.Error("a password is that of another cluster")
			}
			now[s] = true
		}
		if len(now) != 4 {
			t.Errorf("%d passwords, want those of pmg, of the system account, of routes, and the secret", len(now))
		}
		for s := range now {
			seen[s] = true
		}
		if secret := regexp.MustCompile(`secret: "(.*)"`).FindStringSubmatch(pmg); secret == nil || strings.Contains(nats, secret[1]) {
			t.Error("the servers know the secret of the records")
		}
		for _, name := range []string{"b/nats/node-key.pem", "a/keepalived.conf", "haproxy.cfg", "admin.token"} {
			read(name)
		}
		if err := setupCommand().RunE(cmd, []string{dir}); err == nil {
			t.Error("files are written in the place of others")
		}
	}
}

func TestSetupRefuses(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[string]string{
		"a=10.0.0.1,b=10.0.0.2":                      "three or five",
		"a=10.0.0.1,b=10.0.0.2,c":                    "address behind the =",
		"a=10.0.0.1,b=10.0.0.2,c=host":               "address behind the =",
		"a=10.0.0.1,b=10.0.0.2,c=::1":                "address behind the =",
		"a=10.0.0.1,a=10.0.0.2,c=10.0.0.3":           "another node",
		"a=10.0.0.1,b=10.0.0.1,c=10.0.0.3":           "another node",
		"a=10.0.0.1,b=10.0.0.2,../etc=10.0.0.3":      "letters and digits",
		"a=10.0.0.1,b=10.0.0.2,..=10.0.0.3":          "letters and digits",
		"a=10.0.0.1,b=10.0.0.2,=10.0.0.3":            "letters and digits",
		"a=10.0.0.1,b=10.0.0.2,c\"=10.0.0.3":         "letters and digits",
		"a=10.0.0.1,b=10.0.0.2,c: {x}=10.0.0.3":      "letters and digits",
		"a=10.0.0.1,b=10.0.0.2,c=10.0.0.3,d=10.0.0.": "three or five",
	} {
		if _, err := machines(strings.Split(nodes, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", nodes, err, want)
		}
	}
}
