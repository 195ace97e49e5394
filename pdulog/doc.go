// Package pdulog writes a text file per connector with every PDU, both ways. It also reads
// these files: it follows, filters, summarises and converts them.
//
// # Line
//
//	2026-11-20T19:05:22.469303Z clients/3 < submit_sm seq=17 source_addr=46700000001 ... short_message="hello"
//	└── UTC, microseconds ────┘ │       │ │ └ the PDU as its protocol prints it (protocols.PDU.AppendLog)
//	                  connector ┘       │ └ '<' received from the peer, '>' sent to it
//	                           instance ┘
//
// A PDU starts with its command. Its sequence follows and, in an answer only,
// status=number(name), then its fields as name=value in the form of package
// internal/logtext. After the PDU a line may have the message's id and account (About):
//
//	... short_message="hello" id=1a1fb0c12c230d41 account=acme
//
// The answer to a message, or to an operation, that the gateway has refused has the reason before them, and in brackets
// the step that refused it:
//
//	... submit_sm_resp seq=17 status=0x58(ESME_RTHROTTLED) reason=no_credit(credit) account=acme
//
// Of a submit_multi it has one for each recipient that is refused, in their order: reason=blocked(lists),throttled(flood).
//
// No protocol may have fields with these names. A driver's ParseLog turns a line back into
// the same bytes, or returns protocols.ErrHidden for a line that does not hold all of them.
// Passwords are always hidden. Texts and octets of unknown meaning are hidden while a
// session has not logged in (Login), and always if Options.Text is false. A line holds the
// octets of a message text; a Decoder shows the text in its alphabet.
//
// # Files
//
//	pdulog/clients.log                             being written, whole lines only
//	pdulog/clients-20261120T000000.031337.log      rotated at that time, waits to be compressed
//	pdulog/clients-20261119T000000.004711.log.zst  rotated and compressed
//
// A File gathers lines in chunks of 64 KiB and hands them to its writer, which has its own
// goroutine. Each pipeline has a File of its own beside the connector's (Files), so the lines
// of a session are in order, and those of two pipelines up to logfile.Overlap out of it. The
// writer is woken when 512 KiB wait or the oldest line has waited for Options.Flush. It rotates
// the file before a line that would make it too large, and at the first line after the end of
// its period. Then it removes the oldest files, so that Options.Keep, KeepAge and MaxTotal hold
// at any time, and MinFree of the disk stays free. For the sake of MinFree it removes files of
// the last day only where the logs themselves fill the disk, and none where that would not make
// enough room. Another goroutine per file compresses the remaining ones.
//
// # What survives
//
//	what happens              what is lost                            what the file looks like
//	gateway is stopped        nothing                                 whole lines
//	gateway is killed         up to Options.Flush of lines            whole lines; the next Open cuts off a half one
//	power fails               also what the system had not written    as above; Close syncs, Flush does not
//	disk is full, EIO         nothing for the first 64 MiB of lines,  whole lines: a half one is cut off immediately,
//	                          then new lines, counted in Lost         and writing is tried again every second
//	disk hangs, is too slow   as above                                whole lines; Close gives up after 5 s
//	file or dir is removed    its lines; Lost counts those of the     a new file within a second of the next line,
//	                          last second                             or after Reopen
//	moved by logrotate        nothing                                 a new file, as above
//	killed while compressing  nothing                                 the next Open compresses it again
//
// The 64 MiB are for all files of a Dir together. Errors and delays of the disk never delay
// messages.
//
// # Start reading
//
// file.go (lines to chunks), files.go (the Files of a goroutine), writer.go (chunks to disk;
// internal/logfile has the files), then line.go (parsing a line), tail.go (reading across
// rotations), read.go (merging several connectors), window.go (the order of times), trace.go
// (the way of a message) and decode.go (lines as PDUs).
package pdulog
