// Package kannel translates configurations of Kannel into those of PMG: each option of each group becomes an
// option of PMG, or a comment with the reason why not.
//
// # Start reading
//
// Translate (translate.go), with the groups that read.go has read; table.go lists the translation of each option.
package kannel
