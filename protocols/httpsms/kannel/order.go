package kannel

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// Defaults are the values from a request's account.
type Defaults struct {
	Sender     string // sender for requests without a sender
	Senderless bool   // a rule of the account adds the sender of messages
	URL        string // dlr-url for requests without a dlr-url
	Service    string // name of the account in calls of its URLs (%n)
}

// The limits of a request.
const (
	maxReceivers = 4096
	maxDigits    = 20
	maxUDH       = 140
	maxAccount   = 64
	maxURL       = 4 << 10
	maxMinutes   = 10 * 366 * 24 * 60
	maxText      = 256 << 10 // octets of a text that are read: no message has more than 64 KiB, in any alphabet
	maxOctets    = 8 << 20   // maximum size of all messages of a request
)

// The bits of dlr-mask, which are the values of %d.
const (
	delivered   = 1
	undelivered = 2
	buffered    = 4
	accepted    = 8
	refused     = 16
	expired     = 32 // mask of expired; undelivered is the same bit
	maxMask     = 66
)

// Orders returns the messages of a request, one for each receiver. The checks, and their order, are Kannel's.
// now is the wall clock's time in Unix nanoseconds.
func (s *Send) Orders(now int64, d Defaults) ([]httpsms.Order, *httpsms.Answer) {
	receivers, wrong := s.readReceivers()
	if wrong != "" {
		return nil, answer(http.StatusBadRequest, wrong)
	}
	if s.unsupported {
		return nil, answer(http.StatusUnsupportedMediaType, "Unsupported content-type, rejected")
	}
	o := httpsms.Order{Context: httpsms.Context{Dialect: httpsms.Kannel}}
	for _, read := range []func() string{
		func() string { return s.readHeader(&o) },
		func() string { receivers = s.allowed(receivers); return s.checkReceivers(receivers) },
		func() string { return s.readSender(&o, d) },
		func() string { return s.readContext(&o.Context, d) },
		func() string { return s.readFields(&o) },
		func() string { return s.readTimes(&o, now) },
		func() string { return s.readText(&o) },
	} {
		if wrong := read(); wrong != "" {
			return nil, answer(http.StatusBadRequest, wrong)
		}
	}
	if len(receivers)*len(o.Text) > maxOctets {
		return nil, answer(http.StatusBadRequest, "Too many receivers, rejected")
	}
	orders := make([]httpsms.Order, len(receivers))
	for i, to := range receivers {
		orders[i] = o
		orders[i].To = to
	}
	return orders, nil
}

func misformed(field string) string { return field + " field misformed, rejected" }

// readReceivers returns the receivers as they were given.
func (s *Send) readReceivers() (all []string, wrong string) {
	to, given := s.params.get("to")
	switch {
	case s.receivers != nil:
		return s.receivers, ""
	case !given && s.posted:
		return nil, "Missing receiver(s) number(s), rejected"
	case !given:
		return nil, "Missing receiver number, rejected"
	case to == "":
		return nil, "Empty receiver number not allowed, rejected"
	}
	return strings.Fields(to), ""
}

// readHeader reads the user data header. Without coding, a message that has one is 8 bit.
func (s *Send) readHeader(o *httpsms.Order) string {
	udh := s.params.value("udh")
	switch {
	case udh == "":
		return ""
	case int(udh[0])+1 != len(udh):
		return misformed("UDH")
	case len(udh) > maxUDH:
		return "UDH field is too long, rejected"
	}
	o.Header = []byte(udh)
	return ""
}

// allowed returns the receivers that can be numbers, without duplicates and without characters for readability.
func (s *Send) allowed(all []string) (numbers []string) {
	seen := map[string]bool{}
	for _, text := range all {
		to := text
		if strings.ContainsAny(to, " -") {
			to = strings.NewReplacer(" ", "", "-", "").Replace(text)
		}
		switch {
		case !isNumber(to):
			s.Dropped = append(s.Dropped, text)
		case len(all) == 1:
			return []string{to}
		case !seen[to]:
			seen[to] = true
			numbers = append(numbers, to)
		}
	}
	return numbers
}

func isNumber(to string) bool {
	to = strings.TrimPrefix(to, "+")
	return to != "" && len(to) <= maxDigits && strings.Trim(to, "0123456789") == ""
}

func (s *Send) checkReceivers(numbers []string) string {
	switch {
	case len(numbers) == 0:
		return "Number(s) has/have been denied by white- and/or black-lists."
	case len(numbers) > maxReceivers:
		return "Too many receivers, rejected"
	}
	return ""
}

func (s *Send) readSender(o *httpsms.Order, d Defaults) string {
	if o.From = s.params.value("from"); o.From == "" {
		o.From = d.Sender
	}
	if o.From == "" && !d.Senderless {
		return "Sender missing and no global set, rejected"
	}
	return ""
}

// readContext reads the context for the calls about the messages.
func (s *Send) readContext(c *httpsms.Context, d Defaults) string {
	account := s.params.value("account")
	if len(account) > maxAccount || strings.ContainsAny(account, "[]\r\n") {
		return "Account field misformed or too long, rejected"
	}
	if c.URL, _ = s.params.get("dlr-url", "dlrurl"); c.URL == "" {
		c.URL = d.URL
	}
	if c.URL != "" && !isURL(c.URL) {
		return misformed("DLR-URL")
	}
	c.Add(httpsms.Service, d.Service)
	c.Add(httpsms.AccountInfo, account)
	c.Add(httpsms.Billing, s.params.value("binfo"))
	c.Add(httpsms.MetaData, s.params.value("meta-data"))
	c.Add(httpsms.Tags, s.params.value("smsc"))
	return ""
}

// isURL reports whether calls can be made to a URL once its escapes are expanded. The host must not contain escapes.
func isURL(pattern string) bool {
	scheme, rest, _ := strings.Cut(pattern, "://")
	if !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") || len(pattern) > maxURL {
		return false
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if strings.Contains(rest, "%") {
		return false
	}
	u, err := url.Parse(Example(pattern))
	return err == nil && u.Host != ""
}

// Example returns a URL that a call might have: a dlr-url whose escapes have values. The check of the
// account's permission uses it.
func Example(pattern string) string { return (&values{}).expand(pattern) }

// numeric are the fields that are numbers, in the order of Kannel's checks.
var numeric = [...]struct {
	name, older string
	most        int
	is          string
}{
	fieldMask:     {"dlr-mask", "dlrmask", maxMask, "DLR-Mask"},
	fieldClass:    {"mclass", "", 3, "MClass"},
	fieldPID:      {"pid", "", 255, "PID"},
	fieldRPI:      {"rpi", "", 2, "RPI"},
	fieldAltDCS:   {"alt-dcs", "", 1, "Alt-DCS"},
	fieldMWI:      {"mwi", "", 7, "MWI"},
	fieldCoding:   {"coding", "", 2, "Coding"},
	fieldCompress: {"compress", "", 0, "Compress"}, // Kannel takes 1 too, but no message here can be compressed
	fieldValidity: {"validity", "", maxNumber, "Validity"},
	fieldDeferred: {"deferred", "", maxNumber, "Deferred"},
	fieldPriority: {"priority", "", 3, "Priority"},
}

const (
	fieldMask = iota
	fieldClass
	fieldPID
	fieldRPI
	fieldAltDCS
	fieldMWI
	fieldCoding
	fieldCompress
	fieldValidity
	fieldDeferred
	fieldPriority
)

// readFields reads the fields that are numbers.
func (s *Send) readFields(o *httpsms.Order) string {
	var f [len(numeric)]int
	for i := range numeric {
		field := &numeric[i]
		n := s.params.number(field.name, field.older)
		if n < notGiven || n > field.most {
			return misformed(field.is)
		}
		f[i] = n
	}
	if mask := f[fieldMask]; mask > 0 {
		o.Notify = notify(mask)
		value, _ := s.params.get("dlr-mask", "dlrmask")
		o.Context.Add(httpsms.Mask, value)
	}
	if class := f[fieldClass]; class != notGiven {
		o.Class = sms.Class0 + sms.Class(class)
	}
	o.PID = uint8(max(f[fieldPID], 0))
	o.ReplyPath = f[fieldRPI] > 0
	o.Priority = uint8(max(f[fieldPriority], 0))
	return ""
}

// notify returns the outcomes that a mask asks for. To requests that ask for failed deliveries, Kannel reports
// refusals of the SMSC, too.
func notify(mask int) (n sms.Notify) {
	for _, bit := range []struct {
		mask   int
		notify sms.Notify
	}{
		{delivered, sms.NotifySuccess},
		{undelivered | refused | expired, sms.NotifyFailure},
		{buffered, sms.NotifyProgress},
		{accepted, sms.NotifySent},
	} {
		if mask&bit.mask != 0 {
			n |= bit.notify
		}
	}
	return n
}

// readTimes reads when the messages are sent, and for how long.
func (s *Send) readTimes(o *httpsms.Order, now int64) string {
	after := func(name string) int64 {
		if minutes := s.params.number(name); minutes > 0 {
			return now + int64(min(minutes, maxMinutes))*int64(time.Minute)
		}
		return 0
	}
	o.Expires, o.DeliverAt = after("validity"), after("deferred")
	return ""
}

// readText reads the text, and the indication of waiting messages.
func (s *Send) readText(o *httpsms.Order) string {
	coding := s.params.number("coding")
	if coding == notGiven {
		coding = sevenBit
		if len(o.Header) > 0 {
			coding = eightBit
		}
	}
	if _, given := s.params.get("charset"); !given && coding == sevenBit && hasControls(s.params.value("text")) {
		return "Charset or body misformed, rejected"
	}
	var ok bool
	if o.Text, o.Alphabet, ok = encode(s.params.value("text"), s.params.value("charset"), coding); !ok {
		return "Charset or body misformed, rejected"
	}
	if mwi := s.params.number("mwi"); mwi != notGiven {
		if o.Header = indicate(o.Header, mwi, len(o.Text) > 0); len(o.Header) > maxUDH {
			return "UDH field is too long, rejected"
		}
	}
	if len(o.Context.Append(make([]byte, 0, 512))) > sms.MaxContext {
		return "Fields are too long, rejected"
	}
	return ""
}

// hasControls reports whether a text has control characters that no short message has: the text is UTF-16
// without a declared charset.
func hasControls(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\n\f\r\x1b", c) })
}

// indicate adds a message waiting indication to a user data header (3GPP TS 23.040 §9.2.3.24.2): mwi is the kind
// of message, and 4 more if none waits any longer.
func indicate(header []byte, mwi int, store bool) []byte {
	if header == nil {
		header = []byte{0}
	}
	kind, count := byte(mwi&3), byte(1)
	if mwi > 3 {
		count = 0
	}
	if store {
		kind |= 0x80
	}
	header = append(header, 0x01, 2, kind, count)
	header[0] = byte(len(header) - 1)
	return header
}
