package store

// A Kind is what a note is about. Notes of different kinds may have the same key.
//
// Names of connectors have no dot, so that no SMSC has the name of another kind. The names are on the disk.
type Kind string

// The kinds, beside those that IDsOf returns. The packages that make the notes say what they hold.
const (
	KindEnded   Kind = ".ended"    // gateway/receipts: how messages have ended, by our ids
	KindForm    Kind = ".forms"    // gateway/receipts: how SMSCs write ids, by their names
	KindKeyword Kind = ".keywords" // gateway/route: keywords of the first parts of long messages
	KindPart    Kind = ".parts"    // gateway/receipts: outcomes of the parts of long messages
	KindRequest Kind = ".request"  // gateway/request: results of requests, by their keys
	KindWait    Kind = ".waits"    // gateway/receipts: long messages that wait for outcomes of parts
)

// IDsOf returns the kind of the notes of messages by the ids of an SMSC.
func IDsOf(smsc string) Kind { return Kind(smsc) }

// DayLength is the length of the days by which a store keeps notes.
const DayLength = int64(24 * 3600e9)

// DayOf returns the day of a time by the wall clock.
func DayOf(wall int64) uint32 { return uint32(max(wall, 0) / DayLength) }
