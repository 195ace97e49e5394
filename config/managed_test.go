package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const besideManaged = `managed: {dir: managed}
profiles: [{name: small, account: {rate: 7}}]
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:2775"}
  - {name: one, direction: out, protocol: test}
accounts: [{system_id: main, password: x}]
routes: [{to: one}]
`

// managedDir writes a configuration and managed files, and returns the configuration's name.
func managedDir(t *testing.T, main string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, kind := range []string{"accounts", "routes", "lists"} {
		if err := os.MkdirAll(filepath.Join(dir, "managed", kind), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	files["../pmg.yaml"] = main
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "managed", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "pmg.yaml")
}

// What managed files define counts as if it stood in the file: accounts and lists behind those of the file, routes in front,
// by their order.
func TestManaged(t *testing.T) {
	t.Parallel()
	file := managedDir(t, besideManaged, map[string]string{
		"accounts/acme.yaml":  "system_id: acme\npassword: y\nprofile: small\nblock: [bad]\n",
		"accounts/bank.yaml":  "password: z\nrate: 9\n",
		"routes/last.yaml":    "order: 20\naccount: bank\nto: one\n",
		"routes/first.yaml":   "order: 10\naccount: acme\nto: [{connector: one, weight: 2}]\n",
		"lists/bad.yaml":      "name: bad\n",
		"lists/bad.txt":       "46701740699\n",
		"accounts/.new.yaml":  "half",
		"accounts/notes~.txt": "x",
	})
	c, warnings, err := Load(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range c.Accounts {
		got = append(got, fmt.Sprint(a.SystemID, a.Rate))
	}
	for i := range c.Routes {
		got = append(got, fmt.Sprint(c.Routes[i].Account, c.Routes[i].Policy, c.RouteLine(i)))
	}
	got = append(got, c.Lists[0].Name, filepath.Base(c.Lists[0].File))
	if want := "main0 acme7 bank9 acmeweighted0 bankfailover0 failover7 bad bad.txt"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	if at := c.Defined("accounts", "main"); !strings.HasSuffix(at, "pmg.yaml line 6") || c.Defined("accounts", "acme") != "" {
		t.Error(at)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0].String()+warnings[1].String(), "has accounts/notes~.txt, which is not read") {
		t.Error(warnings)
	}
}

// Problems name the managed file and the line in it, and the file's own entries keep their places.
func TestManagedProblems(t *testing.T) {
	t.Parallel()
	main := strings.Replace(besideManaged, "routes: [{to: one}]", "routes:\n  - {to: nowhere}", 1)
	file := managedDir(t, main, map[string]string{
		"accounts/acme.yaml":  "system_id: other\npassword: y\nrate: fast\nspeed: 3\n",
		"accounts/main.yaml":  "password: pa55word\nvalidity: 2h\nmax_validity: 1h\n",
		"accounts/empty.yaml": "",
		"accounts/half.yaml":  "system_id: half\npassword: \"pa55word",
		"routes/first.yaml":   "order: x\naccount: nobody\nto: one\n",
		"lists/bad.yaml":      "{}",
	})
	_, _, err := Load(file, Options{})
	if err == nil {
		t.Fatal("it can be used")
	}
	got := strings.ReplaceAll(err.Error(), filepath.Dir(file)+"/", "")
	for _, want := range []string{
		"managed/accounts/acme.yaml:1:12: system_id must be acme, as the name of the file\n     1 | system_id: other",
		"managed/accounts/acme.yaml:3:7: rate must be a whole number",
		"managed/accounts/acme.yaml:4:1: speed is not an option",
		"managed/accounts/main.yaml:2:11: validity must be at most max_validity, which is 1h, not 2h\n     2 | validity: 2h",
		`system_id "main" is already used in line 6: give one of them another name`,
		"managed/accounts/empty.yaml:1:1: is empty",
		"managed/accounts/half.yaml:2:",
		`managed/routes/first.yaml:1:8: order must be a number from 0 to 1000000, not "x"`,
		`managed/routes/first.yaml:2:10: account names no account: "nobody"`,
		`pmg.yaml:8:10: routes[line 8].to[0] names no connector: "nowhere"`,
		"file must have rows, in bad.txt: PUT /lists/bad/rows first",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "pa55word") {
		t.Error("a password is shown:\n", got)
	}
}

// A load with a cache reads the files alone that have changed; a change of the main file counts for all. What Options.Instead
// has counts in the place of a file.
func TestManagedCache(t *testing.T) {
	t.Parallel()
	file := managedDir(t, besideManaged, map[string]string{
		"accounts/acme.yaml": "password: y\nprofile: small\n", "accounts/bank.yaml": "password: z\n",
	})
	cache := &Cache{}
	load := func(want string, instead map[string][]byte) {
		t.Helper()
		c, _, err := Load(file, Options{Cache: cache, Instead: instead})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range c.Accounts[1:] {
			got = append(got, fmt.Sprint(a.SystemID, a.Rate))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, not %s", got, want)
		}
	}
	load("acme7 bank0", nil)
	before := cache.entries["accounts/acme.yaml"]
	load("acme7 bank0", nil)
	if cache.entries["accounts/acme.yaml"] != before || before == nil {
		t.Error("a file that has not changed is read again")
	}
	load("acme7 cash3", map[string][]byte{"accounts/bank.yaml": nil, "accounts/cash.yaml": []byte("{password: x, rate: 3}")})
	load("acme7 bank0", nil)
	if err := os.WriteFile(file, []byte(strings.Replace(besideManaged, "rate: 7", "rate: 8", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	load("acme8 bank0", nil)
	bank := filepath.Join(filepath.Dir(file), "managed/accounts/bank.yaml")
	if err := os.WriteFile(bank+".new", []byte("{password: z, rate: 5}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bank+".new", bank); err != nil {
		t.Fatal(err)
	}
	load("acme8 bank5", nil)
}

// A directory that does not exist is a problem: it may be on a disk that is not mounted.
func TestManagedMissing(t *testing.T) {
	t.Parallel()
	option, want := "managed: {dir: elsewhere/deeper}", "managed.dir must be a directory, and "
	file := managedDir(t, strings.Replace(besideManaged, "managed: {dir: managed}", option, 1), map[string]string{})
	if _, _, err := Load(file, Options{}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v", option, err)
	}
}

// What nodes of a cluster must have alike is not what managed files have: a node that takes over has these from the store.
func TestManagedInCluster(t *testing.T) {
	t.Parallel()
	common := func(beside string, files map[string]string) string {
		cluster := "\ncluster: {node: a, servers: [\"nats://127.0.0.1:1\"], unsafe: true}\n"
		c, _, err := Load(managedDir(t, beside+cluster, files), Options{})
		if err != nil {
			t.Fatal(err)
		}
		hash, err := c.Common()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	none := common(besideManaged, map[string]string{})
	some := common(besideManaged, map[string]string{
		"accounts/bank.yaml": "password: x", "routes/first.yaml": "to: one", "lists/stops.yaml": "{}", "lists/stops.txt": "4670\n",
	})
	if none != some {
		t.Errorf("%s without managed files, and %s with some", none, some)
	}
	if changed := common(strings.Replace(besideManaged, "system_id: ", "rate: 7, system_id: ", 1), map[string]string{}); changed == none {
		t.Error("an account of the file does not count")
	}
}
