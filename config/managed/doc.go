// Package managed keeps a directory of files that the gateway writes itself: a file for each account, route and list, beside
// the configuration of its operator.
//
//	accounts/acme.yaml    the options of an account
//	routes/sweden.yaml    those of a route, and its order
//	lists/optouts.yaml    those of a list of numbers, and lists/optouts.txt with the numbers
//	prices/std.yaml       those of a list of prices, and prices/std.csv with the prices
//	history/00000042      what a change has replaced: a line of JSON, and the former contents behind it
//
// A file is replaced as a whole: written under another name, synced, and renamed, so that a power cut leaves the old one or the
// new one. Before that, what it had is in the history. A change that cannot be put in force is taken back by another rename,
// which needs no room on the disk. Names that begin with a point are of changes that were not completed, and nobody reads them.
//
// # Start reading
//
// dir.go (how a file is replaced), then history.go.
package managed
