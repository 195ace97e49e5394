package system

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pmg/internal/testkit/process"
)

// programKey is the environment variable that has the path of pmg for a test that runs itself again, within a namespace.
const programKey = "PMG_TEST_PROGRAM"

// root is the project's directory. Tests may change theirs.
var root, _ = filepath.Abs("../..")

// built is the program, and the directory that is removed at the end.
var built struct {
	sync.Once
	process.Program
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// program returns pmg, which the first test builds.
func program(t testing.TB) process.Program {
	t.Helper()
	built.Do(func() {
		if built.Path = os.Getenv(programKey); built.Path != "" {
			return
		}
		if built.dir, built.err = os.MkdirTemp("", "pmg-system-"); built.err == nil {
			built.Program, built.err = process.Build(root, filepath.Join(built.dir, "pmg"))
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.Program
}

// pmg runs a command, given as in a shell without quotes.
func pmg(t testing.TB, line string) (string, error) { return program(t).Run(strings.Fields(line)...) }
