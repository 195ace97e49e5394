package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// The version is set here alone; CHANGELOG.md lists the changes. make build sets revision if the version is not tagged.
var (
	version  = "v0.1.0"
	revision = "" // revision of the source code
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the revision and the Go version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionText(version, revision, info))
			return err
		},
	}
}

// versionText returns the version, the revision of the source if the build recorded it,
// and the Go version, each on a line.
func versionText(version, revision string, info *debug.BuildInfo) string {
	var b strings.Builder
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	fmt.Fprintf(&b, "pmg %s\n", version)
	switch recorded := settings["vcs.revision"]; {
	case recorded != "":
		fmt.Fprintf(&b, "revision %s of %s", recorded, settings["vcs.time"])
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
