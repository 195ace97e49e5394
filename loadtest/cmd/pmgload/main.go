// Command pmgload tests a gateway: it sends load, is an SMSC, or shows both with a gateway between them. It is a program of
// its own, so that pmg has nothing of it. Package loadtest does the work.
//
// # Start reading
//
// load.go and sink.go (flags and summaries), demo.go.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/help"
)

// version is set by the linker: make build.
var version = "development"

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "pmgload:", err)
		os.Exit(1)
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "pmgload",
		Short:         "Test a gateway of SMPP, UCP and HTTP: load, an SMSC, and a demonstration",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newLoadCommand(), newSinkCommand(), newDemoCommand(), newClusterDemoCommand(), help.Manual("pmgload"))
	help.ExplainUnknown(root)
	help.Arrange(root)
	return root
}
