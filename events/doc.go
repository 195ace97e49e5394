// Package events writes the files for billing: how each message has ended, as one line of JSON, exactly once.
//
//	message ends ──► batch: delete + event ──► commit ──► store ──► events.log ──► sync ──► drop
//	                 one commit                          Writer reads, appends      next batch
//
// An event is in the batch that deletes its message, so that after a crash there are both or
// neither. The Writer, which has its own goroutine, appends the events of the store to the
// file, syncs the file about once a second, and then has the store drop them. Numbers of
// events rise by one and begin each line. After a crash the Writer reads the last number of
// the file, and appends what the store has above it.
//
// # Files
//
//	events/events.log                             being written, whole lines only
//	events/events-20261120T000000.031337.log      rotated at that time
//	events/events-20261119T000000.004711.log.zst  rotated and compressed
//	events/events.last                            number of the last event in rotated files
//
// # What survives
//
//	what happens                   the files
//	kill, power cut                each event once: what was not synced is in the store
//	disk full, hanging, EIO        a half line is cut off; events wait in the store, and when
//	                               MaxWaiting do so, no more messages are sent
//	file is moved, as by logrotate a new one is begun
//	file is removed                a new one is begun, with the events that were not synced
//
// # Start reading
//
// event.go (a line), writer.go (store to file; internal/logfile has the files), file.go (the state
// after a crash).
package events
