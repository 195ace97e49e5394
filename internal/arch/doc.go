// Package arch tests rules of the architecture that the compiler does not check: imports,
// package-level variables, owners of state, sizes, comments and their words. It contains tests
// only.
//
// # Start reading
//
// imports_test.go has the table of packages, from the ground up.
package arch
