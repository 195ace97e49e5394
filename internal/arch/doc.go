// Package arch tests what the architecture promises and the compiler does not
// look at: which package may import which, that nothing but constants and tables
// lives at package level, that everything exported is documented and that every
// package says where to start reading. It holds tests only.
//
// # Start reading
//
// imports_test.go has the table of packages, from the ground up.
package arch
