package charset

// A Language is a national language identifier (3GPP TS 23.038 §6.2.1.2.4).
type Language uint8

// The languages.
const (
	NoLanguage Language = iota // the default tables
	Turkish
	Spanish // has no locking shift table
	Portuguese
	Bengali
	Gujarati
	Hindi
	Kannada
	Malayalam
	Oriya
	Punjabi
	Tamil
	Telugu
	Urdu
	languages
)

var languageNames = [languages]string{
	"default", "turkish", "spanish", "portuguese", "bengali", "gujarati", "hindi", "kannada", "malayalam",
	"oriya", "punjabi", "tamil", "telugu", "urdu",
}

// String returns the language's name.
func (l Language) String() string {
	if l < languages {
		return languageNames[l]
	}
	return "unknown"
}

// ParseLanguage returns the language of that name.
func ParseLanguage(name string) (Language, bool) {
	for l, n := range languageNames {
		if n == name && Language(l) != NoLanguage {
			return Language(l), true
		}
	}
	return NoLanguage, false
}

// locking returns the language's locking shift table. Mobiles use the default table for unknown languages.
func (l Language) locking() *table {
	if l >= languages || tables[l].locking.order == "" {
		l = NoLanguage
	}
	return &tables[l].locking
}

// single returns the language's single shift table.
func (l Language) single() *table {
	if l >= languages {
		l = NoLanguage
	}
	return &tables[l].single
}

// Languages is a set of languages.
type Languages uint16

// AllLanguages has every language.
const AllLanguages Languages = 1<<languages - 1<<Turkish

// With returns the set with one more language.
func (s Languages) With(l Language) Languages { return s | 1<<l&AllLanguages }

// Has reports whether the set has the language.
func (s Languages) Has(l Language) bool { return s>>l&1 != 0 }

// Octets of a user data header: its length, an element with a language, and an element of a part with a reference of 8 bits.
const (
	headerLength  = 1
	shiftElement  = 3
	concatElement = 5
)

// Best returns the charset for a text that needs the fewest parts and lacks none of its characters: GSM
// 7-bit, GSM 7-bit with tables of one of the allowed languages, or UCS-2. If UCS-2 needs no more parts than a
// language's tables, Best returns UCS-2, because more mobiles know it. Because of an escape at the end of a
// part, the text may need one part more than Best assumes.
func Best(text []byte, allowed Languages) Charset {
	var best Charset
	if _, ok := best.Count(text); ok {
		return best
	}
	best.Coding = UCS2
	units, ok := best.Count(text)
	if !ok || allowed == 0 {
		return best
	}
	least := best.Parts(units)
	for l := Turkish; l < languages; l++ {
		if !allowed.Has(l) {
			continue
		}
		for _, c := range [...]Charset{{Single: l}, {Locking: l}, {Locking: l, Single: l}} {
			if units, ok := c.Count(text); ok && c.Parts(units) < least {
				best, least = c, c.Parts(units)
			}
		}
	}
	return best
}

// Parts returns the number of parts of a text with a number of units.
func (c Charset) Parts(units int) int {
	shifts := 0
	if c.Locking != NoLanguage {
		shifts += shiftElement
	}
	if c.Single != NoLanguage {
		shifts += shiftElement
	}
	header := 0
	if shifts > 0 {
		header = headerLength + shifts
	}
	if units <= c.Room(header) {
		return 1
	}
	room := c.Room(headerLength + shifts + concatElement)
	return (units + room - 1) / room
}
