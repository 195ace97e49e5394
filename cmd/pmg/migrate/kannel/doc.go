// Package kannel translates configurations of Kannel into those of PMG: each option of each group becomes one of
// PMG's, or a comment that says why not.
//
// # Start reading
//
// Translate (translate.go), with the groups that read.go has read; table.go says what becomes of each option.
package kannel
