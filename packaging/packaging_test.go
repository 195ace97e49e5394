//go:build !race

package packaging

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pmg/internal/testkit/testutil"
)

// run runs a program, and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1795400000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// needs skips the test where programs are not installed.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s", name)
		}
	}
}

// The unit has no mistake, and its sandbox is rated at most 2.0, by systemd itself.
func TestUnit(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	needs(t, "systemd-analyze")
	var units []string
	for _, name := range []string{"pmg.service", "pmg.socket"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// Where the package is not installed, neither the program nor its manual is.
		b = bytes.Replace(b, []byte("/usr/bin/pmg"), []byte(os.Args[0]), 1)
		b = regexp.MustCompile(`(?m)^Documentation=.*\n`).ReplaceAll(b, nil)
		units = append(units, filepath.Join(t.TempDir(), name))
		if err := os.WriteFile(units[len(units)-1], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(t, "systemd-analyze", append([]string{"verify"}, units...)...); strings.Contains(out, "pmg.s") {
		t.Error(out)
	}
	unit := units[0]
	out := run(t, "systemd-analyze", "security", "--offline=true", "--no-pager", unit)
	rating := regexp.MustCompile(`Overall exposure level for pmg.service: ([\d.]+)`).FindStringSubmatch(out)
	if rating == nil {
		t.Fatal(out)
	}
	if level, err := strconv.ParseFloat(rating[1], 64); err != nil || level > 2 {
		t.Errorf("rating %s\n%s", rating[1], out)
	}
}

// TestPackages builds pmg once, because that takes most of the time.
func TestPackages(t *testing.T) {
	testutil.Long(t)
	programs, dir := t.TempDir(), filepath.Join(t.TempDir(), "stage")
	pmg := filepath.Join(programs, "pmg")
	t.Setenv("CGO_ENABLED", "0") // compiled as make build does, so that it is there already
	t.Setenv("GOFLAGS", "")
	run(t, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", pmg, "../cmd/pmg")
	run(t, "go", "build", "-C", "../loadtest", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(programs, "pmgload"), "./cmd/pmgload")
	run(t, "./stage.sh", programs, dir)
	t.Run("example", func(t *testing.T) { testExample(t, pmg) })
	t.Run("modules", func(t *testing.T) { testModules(t, pmg) })
	t.Run("container", func(t *testing.T) { testContainer(t, pmg) })
	t.Run("debian", func(t *testing.T) { testDebian(t, dir) })
}

// The example is a valid configuration without a secret.
func testExample(t *testing.T, pmg string) {
	if out := run(t, pmg, "config", "check", "-c", "pmg.yaml"); strings.Contains(out, "password") {
		t.Error(out)
	}
}

// The list of modules is valid JSON, and has those that are in the program.
func testModules(t *testing.T, pmg string) {
	var list struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal([]byte(run(t, "./sbom.sh", pmg, "v1.2.3")), &list); err != nil || list.Format != "CycloneDX" {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range list.Components {
		found[c.Name] = c.Version != "" && strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name+"@")
	}
	for _, name := range []string{"std", "github.com/spf13/cobra", "github.com/cockroachdb/pebble/v2"} {
		if !found[name] {
			t.Errorf("the list has no %s: %+v", name, list)
		}
	}
}

// containerConfig is that of a container, as the Containerfile shows it.
const containerConfig = `
store: {dir: /var/lib/pmg/store, ballast: 0B}
events: {dir: /var/lib/pmg/events}
pdulog: {dir: /var/lib/pmg/pdulog}
log: {format: json}
connectors: [{name: operator, direction: out, address: "127.0.0.1:1", system_id: pmg, password: secret, static: false}]
routes: [{to: operator}]
`

// The program serves in a root that has nothing else, as the user of the container, and with all
// that must outlive it in the volume. The command of HEALTHCHECK succeeds there.
func testContainer(t *testing.T, pmg string) {
	needs(t, "chroot")
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	root := t.TempDir()
	volume := filepath.Join(root, "var/lib/pmg")
	for _, err := range []error{
		os.Chmod(filepath.Dir(root), 0o755), os.Chmod(root, 0o755), os.MkdirAll(volume, 0o755), os.Chown(volume, 65532, 65532),
		os.MkdirAll(filepath.Join(root, "etc/pmg"), 0o755), os.WriteFile(filepath.Join(root, "etc/pmg/pmg.yaml"), []byte(containerConfig), 0o640),
		os.Chown(filepath.Join(root, "etc/pmg/pmg.yaml"), 0, 65532), os.Link(pmg, filepath.Join(root, "pmg")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	enter := func(args ...string) *exec.Cmd {
		return exec.Command("chroot", append([]string{"--userspec=65532:65532", root, "/pmg"}, args...)...)
	}
	serve, log := enter("serve", "-c", "/etc/pmg/pmg.yaml"), &testutil.Log{}
	serve.Stdout, serve.Stderr = log, log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	testutil.Eventually(t, "the health check succeeds", func() bool { return enter("status", "-c", "/etc/pmg/pmg.yaml").Run() == nil })
	for _, name := range []string{"store", "events", "pdulog"} {
		if found, err := filepath.Glob(filepath.Join(volume, name)); err != nil || len(found) != 1 {
			t.Errorf("%s in the volume: %v, %v", name, found, err)
		}
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil || regexp.MustCompile(`"level":"(warn|error)"`).MatchString(log.String()) {
		t.Errorf("%v\n%s", err, log)
	}
}

// lifecycle installs, upgrades, removes and purges the packages /1.deb and /2.deb. It runs as root
// in a copy of the machine's file system that is thrown away, without systemd.
const lifecycle = `set -eu
root=$1
mount -t tmpfs none "$root"
mkdir "$root/up" "$root/work" "$root/all"
cp "$2" "$root/up/1.deb"
cp "$3" "$root/up/2.deb"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/up,workdir=$root/work" "$root/all" || exit 77
chroot "$root/all" sh -eu -c '
command -v adduser >/dev/null || exit 77
install="dpkg --force-depends --force-confold -i"
$install /1.deb
pmg version
stat -c "%a %U:%G %n" /etc/pmg /etc/pmg/pmg.yaml /var/lib/pmg /var/log/pmg
setpriv --reuid pmg --regid pmg --clear-groups pmg config check -c /etc/pmg/pmg.yaml
echo "# mine" >>/etc/pmg/pmg.yaml
echo data >/var/lib/pmg/kept
$install /2.deb
tail -n 1 /etc/pmg/pmg.yaml
stat -c "%a %U:%G %n" /etc/pmg/pmg.yaml
dpkg -r pmg
ls /usr/bin/pmg /etc/pmg/pmg.yaml || true
dpkg -P pmg
ls -d /etc/pmg || true
cat /var/lib/pmg/kept
'
`

// The Debian package has its files, is the same twice, keeps the operator's configuration over an
// upgrade, and data over a removal.
func testDebian(t *testing.T, dir string) {
	needs(t, "dpkg-deb")
	tool := filepath.Join(t.TempDir(), "bin")
	install := exec.Command("go", "install", "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4")
	install.Env = append(os.Environ(), "GOBIN="+tool)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("needs nfpm: %s", out)
	}
	t.Setenv("NFPM", filepath.Join(tool, "nfpm"))
	var packages []string
	for i, version := range []string{"v0.1.0", "v0.2.0", "v0.2.0"} {
		packages = append(packages, filepath.Join(t.TempDir(), strconv.Itoa(i)+".deb"))
		run(t, "./deb.sh", dir, runtime.GOARCH, version, packages[i])
	}
	run(t, "cmp", packages[1], packages[2])
	files := run(t, "dpkg-deb", "-c", packages[0])
	for _, want := range []string{
		`-rwxr-xr-x root/root .* ./usr/bin/pmg\n`, `-rwxr-xr-x root/root .* ./usr/bin/pmgload\n`, `-rw-r----- root/root .* ./etc/pmg/pmg.yaml\n`,
		`-rw-r--r-- root/root .* ./lib/systemd/system/pmg.service\n`, `-rw-r--r-- root/root .* ./lib/systemd/system/pmg.socket\n`, `./usr/share/man/man1/pmg-serve.1.gz\n`,
		`./usr/share/bash-completion/completions/pmg\n`, `-rw-r--r-- root/root .* ./usr/share/doc/pmg/monitoring/pmg.rules.yaml\n`,
		`-rw-r--r-- root/root .* ./usr/share/doc/pmg/docs/operate.md\n`, `./usr/share/doc/pmg/docs/monitoring -> ../monitoring\n`,
		`-rw-r--r-- root/root .* ./usr/share/doc/pmg/examples/plugins/spam.py\n`,
	} {
		if !regexp.MustCompile(want).MatchString(files) {
			t.Errorf("no %s in\n%s", want, files)
		}
	}
	rules := run(t, "sh", "-c", "dpkg-deb --fsys-tarfile "+packages[0]+" | tar -xO ./usr/share/doc/pmg/monitoring/pmg.rules.yaml")
	if !strings.Contains(rules, "runbook: file:///usr/share/doc/pmg/docs/operate.md#") || strings.Contains(rules, "runbook: docs/") {
		t.Errorf("runbooks lead nowhere:\n%s", rules)
	}
	t.Run("lintian", func(t *testing.T) {
		needs(t, "lintian")
		out, _ := exec.Command("lintian", "--allow-root", packages[0]).CombinedOutput() // it fails for errors
		if regexp.MustCompile(`(?m)^E:`).Match(out) {
			t.Errorf("%s", out)
		}
	})
	t.Run("lifecycle", func(t *testing.T) {
		needs(t, "unshare", "setpriv")
		root := t.TempDir()
		out, err := exec.Command("unshare", "-m", "sh", "-c", lifecycle, "sh", root, packages[0], packages[1]).CombinedOutput()
		if e, ok := err.(*exec.ExitError); ok && (e.ExitCode() == 77 || os.Geteuid() != 0) {
			t.Skipf("needs root, overlay file systems and adduser: %s", out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{
			`pmg v0.1.0`, `750 root:pmg /etc/pmg\n640 root:pmg /etc/pmg/pmg.yaml\n750 pmg:pmg /var/lib/pmg\n750 pmg:pmg /var/log/pmg\n`,
			`# mine\n640 root:pmg /etc/pmg/pmg.yaml\n`, `cannot access '/usr/bin/pmg'.*\n/etc/pmg/pmg.yaml\n`,
			`pmg: /var/lib/pmg is left; rm -r`, `cannot access '/etc/pmg'.*\ndata\n$`,
		} {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	})
}
