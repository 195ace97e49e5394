// Package managed keeps a directory of files that the gateway writes itself: a file for each account, route and list, beside
// the configuration of its operator.
//
//	accounts/acme.yaml    the options of an account
//	routes/sweden.yaml    those of a route, and its order
//	lists/optouts.yaml    those of a list of numbers, and lists/optouts.txt with the numbers
//	prices/std.yaml       those of a list of prices, and prices/std.csv with the prices
//	history/00000042      what a change has replaced: a line of JSON, and the former contents behind it
//
// A file is replaced as a whole: the new contents are written under another name, synced, and renamed, so
// that a power cut leaves the old or the new file. The old contents are stored in the history first. A change
// that cannot be put in force is reverted by another rename, which needs no room on the disk. Names that
// begin with a point belong to incomplete changes, and are never read.
//
// # Start reading
//
// dir.go (how a file is replaced), then history.go.
package managed
