package system

import (
	"path/filepath"
	"strings"
	"testing"

	"pmg/internal/testkit/process"
)

// root is the project's directory. Tests may change theirs.
var root, _ = filepath.Abs("../..")

var built = process.NewBuilt(root)

func TestMain(m *testing.M) { built.Main(m) }

// program returns pmg.
func program(t testing.TB) process.Program { return built.Program(t) }

// pmg runs a command, given as in a shell without quotes.
func pmg(t testing.TB, line string) (string, error) { return program(t).Run(strings.Fields(line)...) }
