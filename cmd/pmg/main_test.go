package main

import (
	"bytes"
	"io"
	"os"
	"pmg/internal/testkit/process"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// processKey is the environment variable that makes this test's binary run as pmg.
const processKey = "PMG_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(processKey) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// self returns this test's binary as pmg.
func self() process.Program {
	return process.Program{Path: os.Args[0], Env: []string{processKey + "=1"}}
}

// U15: the error for an unknown command or flag suggests a similar one.
func TestUnknownSuggests(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"sevre":          `there is no command "sevre": "pmg --help" lists the commands; did you mean "pmg serve" or "pmg store"?`,
		"run":            `did you mean "pmg serve"?`,
		"config chek":    `there is no command "config chek": "pmg config --help" lists the commands; did you mean "pmg config check"?`,
		"load --to x":    `there is no command "load": "pmg --help" lists the commands; it is "pmgload load", a program of its own`,
		"nonsense":       `there is no command "nonsense": "pmg --help" lists the commands`,
		"pdu decod":      `did you mean "pmg pdu decode"?`,
		"serve --confg":  `unknown flag: --confg: "pmg serve --help" lists the flags`,
		"serve -c /none": `cannot read configuration: open /none: no such file or directory; "pmg config init -c /none" writes a starter file`,
	} {
		var out bytes.Buffer
		if err := runPMG(&out, strings.Fields(args)...); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("pmg %s: got error %v, want %s", args, err, want)
		}
	}
}

// The first section of CHANGELOG.md is about the version of this source.
func TestChangelogIsFresh(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^## \[(.*?)\]`).FindSubmatch(b)
	if first == nil || "v"+string(first[1]) != version {
		t.Errorf("CHANGELOG.md begins with %q, and the version is %s", first, version)
	}
}

// U15, U18: pmg version shows the tag, the revision and the Go version.
func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := runPMG(&out, "version"); err != nil || !strings.HasPrefix(out.String(), "pmg ") || !strings.Contains(out.String(), runtime.Version()) {
		t.Errorf("error %v, %q", err, out.String())
	}
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-21T00:00:00Z"}, {Key: "vcs.modified", Value: "true"}}
	built := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for _, c := range []struct {
		version, revision string
		info              *debug.BuildInfo
		want              string
	}{
		{"v1.2.3", "linked", &debug.BuildInfo{Settings: settings}, "pmg v1.2.3\nrevision abc of 2026-11-21T00:00:00Z, modified\n" + built},
		{"v1.2.3", "linked", &debug.BuildInfo{Settings: settings[:2]}, "pmg v1.2.3\nrevision abc of 2026-11-21T00:00:00Z\n" + built},
		{"v1.2.3", "linked", nil, "pmg v1.2.3\nrevision linked\n" + built},
		{"v1.2.3", "", nil, "pmg v1.2.3\n" + built},
	} {
		if got := versionText(c.version, c.revision, c.info); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// runForTest runs a command and returns its output.
func runForTest(t *testing.T, cmd *cobra.Command, stderr io.Writer, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(stderr)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetContext(t.Context())
	err := cmd.Execute()
	return out.String(), err
}
