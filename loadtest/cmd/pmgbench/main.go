// Command pmgbench measures whole gateways: the architectures of pmg against each other,
// a TCP relay and an echo. It is a program of its own so that pmg carries neither charts
// nor fonts. Package bench does the work.
//
// # Start reading
//
// bench.go, which says what is measured and where the results go.
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
