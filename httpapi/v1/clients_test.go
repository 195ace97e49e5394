package v1

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"pmg/internal/testkit/testutil"
)

// generator makes clients in Go. It is run by its version.
const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// A workshop is a directory in which a client is made of the contract.
type workshop struct {
	t   *testing.T
	dir string
	env []string
}

// newWorkshop returns a directory with files of testdata, by their names there.
func newWorkshop(t *testing.T, r *rig, files map[string]string) *workshop {
	w := &workshop{t, t.TempDir(), append(os.Environ(), "PMG_URL="+r.client.URL, "PMG_KEY=pmg_docs", "NO_PROXY=*", "GOFLAGS=-mod=mod", "GOWORK=off")}
	w.write("openapi.json", openapi)
	for from, to := range files {
		b, err := os.ReadFile(filepath.Join("testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		w.write(to, b)
	}
	return w
}

func (w *workshop) write(name string, text []byte) {
	if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a program in the directory.
func (w *workshop) run(name string, arguments ...string) (string, error) {
	c := exec.CommandContext(w.t.Context(), name, arguments...)
	c.Dir, c.Env = w.dir, w.env
	out, err := c.CombinedOutput()
	return string(out), err
}

// must runs a program that must succeed.
func (w *workshop) must(name string, arguments ...string) string {
	w.t.Helper()
	out, err := w.run(name, arguments...)
	if err != nil {
		w.t.Fatalf("%s %q: %v\n%s", name, arguments, err, out)
	}
	return out
}

// sentByClient is what the programs of testdata print.
var sentByClient = regexp.MustCompile(`^[0-9a-f]{16} /problems/not-found\n$`)

// A client in Go that a generator makes of the contract submits a message, lists it, and reads a problem.
func TestGeneratedGo(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	w := newWorkshop(t, newDocsRig(t), map[string]string{"client.go.txt": "main.go"})
	w.write("go.mod", []byte("module client\n\ngo 1.26\n\nrequire github.com/oapi-codegen/runtime v1.9.0\n"))
	// without skip-prune it leaves out the headers of webhooks
	if out, err := w.run("go", "run", generator, "-package", "main", "-generate", "types,client,skip-prune", "-o", "api.go", "openapi.json"); err != nil {
		t.Skipf("%s cannot be run: %v: %s", generator, err, out)
	}
	w.must("go", "mod", "tidy")
	if out := w.must("go", "run", "."); !sentByClient.MatchString(out) {
		t.Error(out)
	}
}

// So does one in TypeScript, in which a member that the contract lacks is an error.
func TestGeneratedTypeScript(t *testing.T) {
	testutil.Long(t)
	t.Parallel()
	modules, err := filepath.Abs("../../internal/peers/node/node_modules")
	for _, program := range []string{"openapi-typescript", "tsc"} {
		_, missing := os.Stat(filepath.Join(modules, ".bin", program))
		err = errors.Join(err, missing)
	}
	if err != nil {
		t.Skipf("(cd internal/peers/node && npm ci) installs what this needs: %v", err)
	}
	w := newWorkshop(t, newDocsRig(t), map[string]string{"client.ts": "client.ts"})
	w.write("package.json", []byte(`{"type": "module"}`))
	if err := os.Symlink(modules, filepath.Join(w.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	w.must("node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.ts")
	w.must("node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "client.ts")
	if out := w.must("node", "client.js"); !sentByClient.MatchString(out) {
		t.Error(out)
	}
}
