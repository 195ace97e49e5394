// Package networks finds the mobile network of a number, by tables of prefixes and ranges as providers sell them: CSV files of up
// to 10,000,000 rows, which other programs may replace while they are in use.
//
// # File
//
//	prefix,mccmnc,name            the header may be missing, and have other columns
//	4670,24001,Telia
//
//	from;to;mcc;mnc
//	46730000000;46730999999;240;05
//
// The row with the fewest numbers decides: the longest prefix. Rows that overlap without one containing the
// other, and rows that name two networks for the same numbers, make the file invalid, and so does an
// unreadable row.
//
// # Memory
//
//	rows ─► builder (sorted runs, merged) ─► Table:  bounds  where another network begins, sorted (package sortedset)
//	                                                 places  which network that is, an index of two octets for each bound
//
// A key is the digits of a number to the base of 11, where the end of a shorter number comes before all that
// continue it; so a number that is shorter than a prefix does not begin with it. A row within another row
// needs two bounds, other rows one or two. A table never changes: a new table replaces it, so that a look-up
// does not wait while a file is read.
//
// # Start reading
//
// file.go (what the gateway uses), table.go (look-up), builder.go (rows to a table), rows.go (lines to rows).
package networks
