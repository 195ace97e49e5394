// Command pmgbench measures whole gateways: pmg compared with the architecture classic, a
// TCP relay and an echo server. It is a program of its own, so that nothing else contains
// charts and fonts. Package bench does the work.
//
// # Start reading
//
// bench.go, which has the flags and the measurements.
package main

import (
	"fmt"
	"os"
)

// version is set by the linker: make build.
var version = "development"

func main() {
	if err := newRootCommand().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "pmgbench:", err)
		os.Exit(1)
	}
}
