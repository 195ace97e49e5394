// Package arch tests rules of the architecture that the compiler does not check: which
// package may import which, that package-level variables are constants and tables only,
// that everything exported is documented, that every package says where to start reading,
// and that words with a plainer form do not come back. It contains tests only.
//
// # Start reading
//
// imports_test.go has the table of packages, from the ground up.
package arch
