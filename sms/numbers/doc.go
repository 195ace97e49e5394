// Package numbers keeps registers of numbers in memory: opted-out numbers, blocked numbers, registered senders. A register is
// a text file of up to 10,000,000 entries, which other programs may replace while it is in use.
//
// # File
//
//	# what follows a '#' is a comment
//	+46 70-174 06 05      a number: '+', blanks and - . / ( ) make no difference
//	4670*                 a prefix: all numbers that begin so
//	ACME                  a sender's name, in any letter case
//
// # Changes
//
// Numbers that are added or removed without a change of the file are in a journal beside the file,
// FILE.changes, which several processes may append to:
//
//	+46701740605	2026-11-30T09:14:03Z	stop	operator	6392a1b0c4d5e
//	-46701740605	2026-12-01T10:00:00Z	page	user anna		asked by letter
//
// When Add returns, the line survives a power cut. The last line about a number overrides the file, so that
// opt-outs stay when a provider replaces the file. The lines before it are the history of the number, which memory does not have.
// A journal with many outdated lines is replaced by a journal with the last ones of each number.
//
// # Memory
//
//	bytes ─► entry ─► builder (sorted runs) ─► set (blocks: the first number, and what is added to it)
//
// A number takes three octets where 10,000,000 are spread over the numbers of a country. A table never
// changes: a new table replaces it, so that Has does not wait while a file is read.
//
// # Start reading
//
// list.go (what the gateway uses), entry.go, collector.go, table.go, then read.go, change.go (a line of the journal)
// and changes.go; history.go and export.go read the journal for people.
package numbers
