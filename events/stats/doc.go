// Package stats counts events by hour, account, connector and network, and keeps a file for each day.
//
//	events.Writer ──► lines ──► Counter: rows of the days ──► 2026-11-27.zst, about every ten seconds
//	                                                              └──► Read: sums for pmg stats, the API and the page
//
// # Exactly once
//
// Numbers of events rise by one. The file of a day says up to which number the events are in it, and the file counted up to
// which number they are in all files. A start counts what is above that from the files of events once more, and each day leaves
// out what it has. If numbers begin again, because the files of events were lost, a new era begins, in which no day has anything.
//
// # Files
//
//	stats/2026-11-27.zst   rows of the events of that day by UTC, a line of JSON each behind a first line for all
//	stats/counted          up to which number events are counted
//
// # Start reading
//
// figure.go (what is counted), line.go (what is read of an event), day.go (rows and their file), counter.go, read.go (sums).
package stats
