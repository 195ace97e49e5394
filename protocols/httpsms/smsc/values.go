package smsc

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"pmg/internal/smstext"
	"pmg/protocols/httpsms"
	"pmg/sms"
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// Values are the values that fill templates.
type Values struct {
	ID         uint64
	From, To   string
	Text       string // text in UTF-8; empty if the message is binary
	Octets     []byte // octets of the text, without the header; GSM 7-bit has one octet for each septet
	Header     []byte // user data header with its length octet
	Coding     Coding
	Class      int // -1: none
	Priority   uint8
	Validity   time.Duration // 0: none
	Notify     sms.Notify    // outcomes for which receipts are requested
	ReceiptURL string
	Token      string // token of the request; empty: the SMSC needs none

	username, password string
}

// A Coding is how the octets of a text are characters.
type Coding uint8

// The codings.
const (
	GSM7 Coding = iota
	Binary
	UCS2
)

// ValuesOf returns the values that fill templates for a message, by the wall clock's time. It reports false
// for a text that cannot be read.
func ValuesOf(m *sms.Message, expires, now int64) (v Values, ok bool) {
	v = Values{
		ID: m.ID, From: httpsms.Number(m.Source()), To: httpsms.Number(m.Dest()), Class: int(m.Class) - int(sms.Class0),
		Priority: m.Priority,
	}
	if m.Class == sms.NoClass {
		v.Class = -1
	}
	if expires > now {
		v.Validity = time.Duration(expires - now)
	}
	octets, hasHeader := m.Text(), m.Flags&sms.HasHeader != 0
	if hasHeader {
		if v.Header, v.Octets, ok = userdata.Cut(octets); !ok {
			return v, false
		}
	} else {
		v.Octets = octets
	}
	if m.Alphabet == sms.Binary {
		v.Coding = Binary
		return v, true
	}
	if v.Text, ok = smstext.Decode(m.Alphabet, hasHeader, octets); !ok {
		return v, false
	}
	v.encode(m.Alphabet)
	return v, true
}

// encode converts the octets to GSM 7-bit or UCS-2: to UCS-2 if they were UCS-2 before, or if GSM 7-bit lacks
// a character. The header then names no language.
func (v *Values) encode(a sms.Alphabet) {
	text := []byte(v.Text)
	c := charset.Charset{Coding: charset.UCS2}
	if a != sms.UCS2 && a != sms.DefaultUCS2 {
		c = charset.Best(text, 0)
	}
	if v.Coding = GSM7; c.Coding == charset.UCS2 {
		v.Coding = UCS2
	}
	v.Octets, _ = c.Encode(nil, text, charset.Replace)
	h, err := userdata.Parse(v.Header)
	if err != nil || h.Locking == 0 && h.Single == 0 {
		return
	}
	head := []byte{0}
	for id, value := range userdata.Elements(v.Header) {
		if !userdata.IsLanguage(id) {
			head = append(append(head, id, byte(len(value))), value...)
		}
	}
	if head[0] = byte(len(head) - 1); head[0] == 0 {
		head = nil
	}
	v.Header = head
}

// A field is a value, with its name in templates.
type field struct {
	name, doc string
	get       func(*Values) string

	binary, header bool // the field has the octets of a binary message, or the user data header
	coded, tells   bool // coded: the coding says how to read the field's octets; tells: the field names the coding
}

// fields lists the fields of templates.
var fields = []field{
	{
		name: "to", doc: "recipient: digits, with + in front if the number is international",
		get: func(v *Values) string { return v.To },
	},
	{name: "from", doc: "sender: the same, or characters", get: func(v *Values) string { return v.From }},
	{name: "text", doc: "text; empty if the message is binary", get: func(v *Values) string { return v.Text }},
	{name: "content", doc: "text, or the octets of a binary message", get: content, binary: true},
	{
		name: "data", doc: "the octets that Kannel has of the message: UTF-8 if coding is 0, UTF-16BE if it is 2",
		get: func(v *Values) string { return string(data(v)) }, binary: true, coded: true,
	},
	{
		name: "data_hex", doc: "the same in hexadecimal digits",
		get: func(v *Values) string { return hex.EncodeToString(data(v)) }, binary: true, coded: true,
	},
	{
		name: "charset", doc: "UTF-8 or UTF-16BE, as data has the text; empty if the message is binary", get: charsetName,
		tells: true,
	},
	{name: "binary", doc: "octets of a binary message in base64; empty if it has a text", get: binaryOnly, binary: true},
	{
		name: "octets_hex",
		doc:  "octets of the text in hexadecimal digits, in the alphabet of coding: GSM 7-bit has an octet for each character",
		get:  func(v *Values) string { return hex.EncodeToString(v.Octets) }, binary: true, coded: true,
	},
	{
		name: "octets_base64", doc: "the same in base64",
		get: func(v *Values) string { return base64.StdEncoding.EncodeToString(v.Octets) }, binary: true, coded: true,
	},
	{
		name: "udh", doc: "user data header with its length octet, as it is",
		get: func(v *Values) string { return string(v.Header) }, header: true,
	},
	{
		name: "udh_hex", doc: "the same in hexadecimal digits",
		get: func(v *Values) string { return hex.EncodeToString(v.Header) }, header: true,
	},
	{
		name: "udh_base64", doc: "the same in base64",
		get: func(v *Values) string { return base64.StdEncoding.EncodeToString(v.Header) }, header: true,
	},
	{
		name: "coding", doc: "0 GSM 7-bit, 1 binary, 2 UCS-2",
		get: func(v *Values) string { return strconv.Itoa(int(v.Coding)) }, tells: true,
	},
	{
		name: "data_coding", doc: "the same as SMPP has it: 0, 4, 8",
		get: func(v *Values) string { return strconv.Itoa(int(v.Coding) * 4) }, tells: true,
	},
	{name: "class", doc: "message class, 0 to 3; empty if there is none", get: class},
	{
		name: "priority", doc: "priority, 1 to 4; empty if it is 0",
		get: func(v *Values) string { return positive(int64(v.Priority)) },
	},
	{
		name: "validity", doc: "minutes for which it is valid; empty if it does not expire",
		get: func(v *Values) string { return positive(int64((v.Validity + time.Minute - 1) / time.Minute)) },
	},
	{
		name: "validity_seconds", doc: "seconds for which it is valid",
		get: func(v *Values) string { return positive(int64((v.Validity + time.Second - 1) / time.Second)) },
	},
	{
		name: "id", doc: "our id of the message, by which it comes again if it has not been answered",
		get: func(v *Values) string { return sms.FormatID(v.ID) },
	},
	{name: "uuid", doc: "the same as a UUID", get: func(v *Values) string { return httpsms.UUID(v.ID) }},
	{
		name: "receipt",
		doc:  "final, or all if receipts of what comes before are asked for as well; empty if none is asked for",
		get:  receipt,
	},
	{
		name: "receipt_url", doc: "the URL that receipts are to call; empty if none is asked for",
		get: func(v *Values) string { return asked(v, v.ReceiptURL) },
	},
	{
		name: "dlr_url", doc: "the same with what Kannel fills in",
		get: func(v *Values) string { return asked(v, v.ReceiptURL+"&state=%d&answer=%A") },
	},
	{name: "dlr_mask", doc: "of which outcomes receipts are asked for, as Kannel has it", get: dlrMask},
	{name: "username", doc: "system_id of the connector", get: func(v *Values) string { return v.username }},
	{name: "password", doc: "its password", get: func(v *Values) string { return v.password }},
}

// Fields calls f with the name and the description of each field of templates.
func Fields(f func(name, doc string)) {
	for i := range fields {
		f(fields[i].name, fields[i].doc)
	}
}

func content(v *Values) string {
	if v.Coding == Binary {
		return string(v.Octets)
	}
	return v.Text
}

// data returns the text in UTF-8 if it is GSM 7-bit, and otherwise the octets of the message.
func data(v *Values) []byte {
	if v.Coding == GSM7 {
		return []byte(v.Text)
	}
	return v.Octets
}

func charsetName(v *Values) string {
	return [...]string{GSM7: "UTF-8", Binary: "", UCS2: "UTF-16BE"}[v.Coding]
}

func binaryOnly(v *Values) string {
	if v.Coding != Binary {
		return ""
	}
	return base64.StdEncoding.EncodeToString(v.Octets)
}

func class(v *Values) string {
	if v.Class < 0 {
		return ""
	}
	return strconv.Itoa(v.Class)
}

// positive returns a number, or "" if it is not above 0.
func positive(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func receipt(v *Values) string {
	if v.Notify&sms.NotifyProgress != 0 {
		return asked(v, "all")
	}
	return asked(v, "final")
}

func asked(v *Values, text string) string {
	if v.Notify == 0 || v.ReceiptURL == "" {
		return ""
	}
	return text
}

// The bits of Kannel's dlr-mask.
const (
	kannelEnds     = 1 | 2 | 16 // delivered, not delivered, refused by the SMSC
	kannelProgress = 4
)

func dlrMask(v *Values) string {
	mask := kannelEnds
	if v.Notify&sms.NotifyProgress != 0 {
		mask |= kannelProgress
	}
	return asked(v, strconv.Itoa(mask))
}
