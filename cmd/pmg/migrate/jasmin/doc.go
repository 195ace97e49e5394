// Package jasmin translates what Jasmin's console (jcli) prints of its configuration into a configuration of PMG: each
// option becomes one of PMG's, or a comment that says why not.
//
// # Start reading
//
// Translate (translate.go), with the Dump that read.go has read; table.go says what becomes of each option.
package jasmin
