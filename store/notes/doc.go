// Package notes keeps the notes of a store on disk that are removed when their day is over.
//
// Most notes come in no order, such as the ids of SMSCs, and stay for a week. A tree that is kept sorted would merge them again
// and again. So the notes are never moved once they are on disk, or at most once:
//
//	Put ──► Recent, in memory ──► Recent, full, being written ──► a table of its day, immutable ──► one table of 64 such
//
// A table is a range of keys of pebble that no other key lies in, so that pebble takes it to its lowest level as it is, as a file
// of its own, and never compacts it:
//
//	x <day> <number> <kind> 0 <key>     a note, in a table; day and number in 4 octets
//
// The tables of a day rise by number, and the note in the highest one is in force. A look-up asks the latest day and the highest
// number first. Pebble's filters say which small tables cannot have the key. When a day is over, its tables are dropped as whole
// files.
//
// What is in memory is in the journal too. Notes.Written says up to which record the tables have everything; the start of a store
// replays the rest.
//
// # Start reading
//
// Notes (notes.go), then Recent (recent.go), write.go for how a table comes to be, and view.go for how all are read in order.
package notes
