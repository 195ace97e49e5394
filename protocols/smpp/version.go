package smpp

// The versions of SMPP, as interface_version writes them (§5.2.4). 0 to 0x33 mean SMPP 3.3
// and older.
const (
	Version33 = 0x33
	Version34 = 0x34
	Version50 = 0x50
)

// A versions is a set of versions, as bits. The empty set is all of them.
type versions uint8

const (
	v33 versions = 1 << iota
	v34
	v50
	from34 = v34 | v50
)

// versionOf returns the version that a peer's interface_version means. The values between
// those of SMPP 3.4 and 5.0 are not assigned.
func versionOf(number uint8) uint32 {
	switch {
	case number < Version34:
		return Version33
	case number < Version50:
		return Version34
	}
	return Version50
}

func (v versions) has(version uint32) bool {
	switch {
	case v == 0:
		return true
	case version < Version34:
		return v&v33 != 0
	case version < Version50:
		return v&v34 != 0
	}
	return v&v50 != 0
}
