// Package jasmin translates a configuration that Jasmin's console (jcli) prints into a configuration of PMG:
// each option becomes an option of PMG, or a comment with the reason why not.
//
// # Start reading
//
// Translate (translate.go), with the Dump that read.go has read; table.go lists the translation of each option.
package jasmin
