// Package pdulog keeps one text file per connector with every PDU, both ways, and
// reads it back: following, filtering, summarising and converting it.
//
// # Line
//
//	2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 source_addr=46700000001 ... short_message="hello"
//	└── UTC, microseconds ────┘ │       │ │ └ the PDU as its protocol prints it (protocols.PDU.AppendLog)
//	                  connector ┘       │ └ '<' received from the peer, '>' sent to it
//	                           instance ┘
//
// A PDU starts with its command; then come its sequence and, in an answer only,
// status=number(name); then its fields as name=value, where a value that may
// hold spaces is quoted. A driver's ParseLog turns it back into the same bytes.
//
// # Files
//
//	pdulog/clients.log                            being written, whole lines only
//	pdulog/clients-20261120T000000.031337.log     rotated at that time, waits to be compressed
//	pdulog/clients-20261119T000000.004711.log.gz  rotated and compressed
//
// Lines wait in memory until there are 64 KiB of them or the oldest has waited
// for Options.Flush; then one write brings them to the file. A file is rotated
// before a write that would make it too large, and at the first write after the
// end of its period. One goroutine per file compresses and removes old ones.
//
// # What survives
//
//	what happens              what is lost                            what the file looks like
//	gateway is stopped        nothing                                 whole
//	gateway is killed         up to Options.Flush of lines            whole; a half line is cut off by the next Open
//	power fails               also what the system had not written    as above; Close syncs, Flush does not
//	disk is full, EIO         nothing for the first 4 MiB of lines,   whole: a half line is cut off at once,
//	                          then new lines, counted in Lost         writing is tried again every second
//	file or dir is removed    what was in it                          a new file at the next rotation or Reopen
//	moved by logrotate        nothing                                 a new file after Reopen (SIGHUP)
//	killed while compressing  nothing                                 compressed anew by the next Open
//
// No error of the log ever reaches the flow of messages. A disk that hangs instead
// of failing does stop it, and with it the process: a write that doesn't return
// cannot be given up, and Go's scheduler is not told of it (rawFile).
//
// # Start reading
//
// file.go (lines to bytes on disk), rotate.go, then line.go (a line read back),
// tail.go (across rotations) and read.go (several connectors merged).
package pdulog
