// Package packaging has what installs pmg on a machine: scripts and files, and their tests.
//
// # Start reading
//
// stage.sh (what is installed), deb.sh, release.sh; examples.go (the examples that pmg config init --for writes).
package packaging
