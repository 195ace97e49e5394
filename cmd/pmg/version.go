package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// These are set by the linker: make build.
var (
	version  = "development"
	revision = "" // as the go command noted it
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print which pmg this is: version, revision, Go",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionText(version, revision, info))
			return err
		},
	}
}

// versionText returns the version, the revision that it was built of, as far as the
// build noted that, and the Go version, in a line each.
func versionText(version, revision string, info *debug.BuildInfo) string {
	var b strings.Builder
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if v := info.Main.Version; version == "development" && v != "" && v != "(devel)" {
			version = v // it was installed as a module
		}
	}
	fmt.Fprintf(&b, "pmg %s\n", version)
	switch noted := settings["vcs.revision"]; {
	case noted != "":
		fmt.Fprintf(&b, "revision %s of %s", noted, settings["vcs.time"])
		if settings["vcs.modified"] == "true" {
			b.WriteString(", modified")
		}
		b.WriteString("\n")
	case revision != "":
		fmt.Fprintf(&b, "revision %s\n", revision)
	}
	fmt.Fprintf(&b, "%s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}
