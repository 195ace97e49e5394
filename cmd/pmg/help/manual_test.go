package help

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

// tree returns a command with one below it, and a hidden one.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "toy", Short: "A toy", Version: "v1"}
	jump := &cobra.Command{Use: "jump", Short: "Jump off", Long: ".dots and 'quotes\n.begin \\lines", Example: "  toy jump --high 3", Run: run}
	jump.Flags().Int("high", 1, "how high")
	root.AddCommand(jump, &cobra.Command{Use: "secret", Hidden: true, Run: run}, Manual("pmg"))
	return root
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "man1")
	root := tree()
	root.SetArgs([]string{"manual", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	const want = `.TH "TOY-JUMP" 1 "" "pmg v1"
.SH NAME
toy\-jump \- Jump off
.SH SYNOPSIS
.nf
toy jump [flags]
.fi
.SH DESCRIPTION
.nf
\&.dots and 'quotes
\&.begin \elines
.fi
.SH OPTIONS
.nf
      \-\-high int   how high (default 1)
.fi
.SH EXAMPLES
.nf
  toy jump \-\-high 3
.fi
.SH SEE ALSO
.nf
toy(1)
.fi
`
	if got, err := os.ReadFile(filepath.Join(dir, "toy-jump.1")); err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "toy-secret.1")); err == nil {
		t.Error("a hidden command has a page")
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Log("skipped: man is not installed, so nothing but this test has read the pages")
		return
	}
	if out, err := exec.Command("man", "--warnings", "-l", filepath.Join(dir, "toy-jump.1")).CombinedOutput(); err != nil {
		t.Errorf("man: %v: %s", err, out)
	}
}

// A directory that cannot be made is an error.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteManual(tree(), filepath.Join(file, "man1")); err == nil {
		t.Error("no error")
	}
}
