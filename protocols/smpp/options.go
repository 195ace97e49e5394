package smpp

import (
	"fmt"
	"time"

	"pmg/protocols"
	"pmg/sms"
)

// ConnectorOptions are the options of an SMPP connector. It implements protocols.Options.
type ConnectorOptions struct {
	SystemType   string             `yaml:"system_type" only:"out" live:"rebind" doc:"The kind of client it says it is, where the SMSC asks for one."`
	Bind         protocols.BindType `yaml:"bind" default:"transceiver" enum:"transmitter|receiver|transceiver" only:"out" live:"no" doc:"Which way messages flow: transmitter sends, receiver is given, transceiver does both."`
	BindTON      int                `yaml:"bind_ton" default:"0" range:"0..255" only:"out" live:"rebind" doc:"Type of number of address_range in its login (addr_ton), where the SMSC expects one: 0 unknown, 1 international, 2 national, 5 alphanumeric."`
	BindNPI      int                `yaml:"bind_npi" default:"0" range:"0..255" only:"out" live:"rebind" doc:"Numbering plan of address_range in its login (addr_npi): 0 unknown, 1 that of telephone numbers."`
	AddressRange string             `yaml:"address_range" only:"out" live:"rebind" doc:"Addresses whose messages it wants, in the SMSC's own notation."`
	Version      string             `yaml:"version" default:"3.4" in:"5.0" enum:"3.3|3.4|5.0" live:"rebind" doc:"The highest version of SMPP that it speaks; a session uses the lower of both sides'. A peer of 3.3 gets no optional parameters, and message ids of 8 characters."`
	AtLeast      string             `yaml:"version_at_least" default:"3.3" enum:"3.3|3.4|5.0" live:"rebind" doc:"The lowest version that its peers are taken to speak, for those that say interface_version 0, which means 3.3, but know optional parameters: with 3.4 they get receipted_message_id, vendors' parameters and long message ids."`

	TLVs []TLVRule `yaml:"tlvs" live:"rebind" merge:"entries" doc:"Changes to the TLVs of messages and receipts, such as {out: drop, tlv: 0x1400}. Otherwise unknown ones pass, byte for byte."`

	ReceiptsBy string `yaml:"receipts_by" default:"esm_class" enum:"esm_class|text" only:"out" live:"rebind" doc:"What makes a message a receipt: its esm_class, or with text also its text, for an SMSC that sends receipts with esm_class 0 (docs/receipts.md). receipted_message_id and message_state always do."`

	ReceiptStates []ReceiptState `yaml:"receipt_states" only:"out" live:"rebind" merge:"entries" doc:"What words in the SMSC's receipts mean that are not SMPP's or mean something else, such as {word: ACCEPTD, is: delivered}. These count more than message_state. An unknown word passes to the client, and ends nothing."`

	ReceiptTimezone string `yaml:"receipt_timezone" default:"UTC" live:"rebind" doc:"The zone of times in receipts' texts, as Europe/Stockholm: read from an SMSC, written to clients."`

	Statuses []StatusRule `yaml:"statuses" only:"out" live:"rebind" merge:"entries" doc:"What statuses in the SMSC's answers mean that are its own or mean something else, such as {status: 0x14, is: throttled}; the first rule counts. Without one, docs/smpp-conformance.md has its meaning, and an unknown one ends the message."`

	Submit Submit `yaml:"submit" only:"out" live:"rebind" doc:"What the SMSC wants of submits (submit_sm, data_sm) beside addresses and texts, such as {service_type: CMT}."`

	Names string `yaml:"names" default:"latin1" enum:"latin1|utf-8|gsm7" live:"rebind" doc:"The charset of senders' names in addresses: latin1, utf-8, or gsm7 (an octet for each septet). Of those that come, UTF-8 is recognized, else they are latin1; with gsm7 all are GSM 7-bit."`

	LongSystemIDs bool `yaml:"long_system_ids" default:"false" live:"no" doc:"Whether a system_id, of clients or the connector's own, may have up to 32 characters. SMPP allows 15, and some peers no more."`
	LongPasswords bool `yaml:"long_passwords" default:"false" only:"in" live:"no" doc:"Whether clients' passwords may have up to 64 characters. SMPP allows 8, and some clients no more."`

	in, out  []tlvRule     // compiled from TLVs
	statuses []statusRange // compiled from Statuses
}

// Submit are the options for the fields of submits.
type Submit struct {
	ServiceType string `yaml:"service_type" live:"rebind" doc:"service_type of messages without one, at most 5 characters, such as CMT, by which some SMSCs choose the tariff or the route."`
	ProtocolID  int    `yaml:"protocol_id" default:"0" range:"0..255" live:"rebind" doc:"protocol_id of messages whose own is 0."`
	Priority    int    `yaml:"priority" default:"0" range:"0..4" live:"rebind" doc:"priority_flag of messages whose own is 0: 0 to 3, with SMPP 3.3 0 and 1 (more is sent as 1). It does not change the order."`
	Mode        string `yaml:"mode" default:"default" enum:"default|datagram|forward|store" live:"rebind" doc:"Messaging mode (esm_class) of messages with the default one: datagram delivers once, forward before it answers, store as usual. Few SMSCs need it."`

	Validity    string        `yaml:"validity" default:"sender" enum:"sender|absolute|relative|none" live:"rebind" doc:"The form of a message's validity: sender as its sender has it, absolute as a time, relative as a duration of up to 31 days; none sends none. SMPP 3.3 has times alone."`
	MaxValidity time.Duration `yaml:"max_validity" default:"0s" range:"0s..8760h" live:"rebind" doc:"The longest validity that is sent, such as 48h where the SMSC refuses a longer one; 0s is any. It counts from each attempt: a message that the SMSC refuses for a while is sent again until its own validity is over. One without a validity is sent without."`
}

// modes are the messaging modes of esm_class, by their names (§5.2.12).
var modes = map[string]uint8{"datagram": 1, "forward": 2, "store": 3}

// The values of submit.validity beside sender.
const (
	validityAbsolute = "absolute"
	validityRelative = "relative"
	validityNone     = "none"
)

// The values of receipts_by.
const (
	receiptsByClass = "esm_class"
	receiptsByText  = "text"
)

// NewConnectorOptions returns the default options of a connector.
func NewConnectorOptions() *ConnectorOptions {
	return &ConnectorOptions{
		Bind: protocols.Transceiver, Version: "3.4", AtLeast: "3.3", ReceiptsBy: receiptsByClass, ReceiptTimezone: "UTC",
	}
}

// The longest values of fields of binds and submits, without the final NUL (§5.2.1, §5.2.2,
// §5.2.3, §5.2.7, §5.2.11).
const (
	maxSystemID     = 15
	maxLongSystemID = 32 // maximum with long_system_ids
	maxPassword     = 8
	maxLongPassword = 64 // maximum with long_passwords
	maxSystemType   = 12
	maxAddressRange = 40
	maxServiceType  = 5
)

// BindType implements protocols.Options.
func (o *ConnectorOptions) BindType() protocols.BindType { return o.Bind }

// spoken returns the version of a session whose peer declares a version: the lower of both versions, but not
// less than the options require.
func (o *ConnectorOptions) spoken(peer uint8) uint32 {
	spoken := versionOf(peer)
	if o.AtLeast != "" {
		spoken = max(spoken, uint32(versionNumber(o.AtLeast)))
	}
	return min(spoken, uint32(o.version()))
}

// version returns the highest interface_version of the connector's sessions.
func (o *ConnectorOptions) version() uint8 { return versionNumber(o.Version) }

func versionNumber(name string) uint8 {
	switch name {
	case "3.3":
		return Version33
	case "5.0":
		return Version50
	}
	return Version34
}

// MaxWindow implements protocols.Options.
func (o *ConnectorOptions) MaxWindow() int { return MaxSequence/2 - 2 }

// Alphabets implements protocols.Options.
func (o *ConnectorOptions) Alphabets() sms.Alphabets {
	return sms.NewAlphabets(sms.ASCII, sms.Latin1, sms.Cyrillic, sms.Hebrew, sms.UCS2, sms.Binary, sms.Other)
}

// MaxText implements protocols.Options: message_payload has room for every text.
func (o *ConnectorOptions) MaxText() int { return 0 }

// CheckLogin implements protocols.Options. Too long passwords are allowed with
// long_passwords, because some SMSCs accept them.
func (o *ConnectorOptions) CheckLogin(systemID, password string) []protocols.Problem {
	problems := o.checkSystemID(systemID, "the connector has long_system_ids: true")
	n := len(problems)
	problems = tooLong(problems, "password", password, maxPassword)
	for i := range problems[n:] {
		problems[n+i].Warning = true
	}
	problems = tooLong(problems, "system_type", o.SystemType, maxSystemType)
	problems = tooLong(problems, "submit.service_type", o.Submit.ServiceType, maxServiceType)
	problems = o.checkValidity(problems)
	problems = protocols.CheckZone(problems, "receipt_timezone", o.ReceiptTimezone)
	return tooLong(problems, "address_range", o.AddressRange, maxAddressRange)
}

func (o *ConnectorOptions) checkValidity(problems []protocols.Problem) []protocols.Problem {
	switch v := &o.Submit; {
	case v.Validity == validityRelative && o.Version == "3.3":
		return append(problems, protocols.Problem{Option: "submit.validity",
			Text: "must be absolute or none with version: 3.3, which has no durations"})
	case v.Validity == validityNone && v.MaxValidity > 0:
		return append(problems, protocols.Problem{Option: "submit.max_validity",
			Text: "must not be given with validity: none, which sends no validity"})
	}
	return problems
}

// CheckAccount implements protocols.Options.
func (o *ConnectorOptions) CheckAccount(systemID, password string) []protocols.Problem {
	problems := o.checkSystemID(systemID, "a connector that the client may log in on has long_system_ids: true")
	switch n := len(password); {
	case n > maxLongPassword:
		return tooLong(problems, "password", password, maxLongPassword)
	case n > o.passwordLimit():
		problems = append(problems,
			protocols.Problem{Option: "password", Text: fmt.Sprintf("must be at most %d characters, not %d, "+
				"unless a connector that the client may log in on has long_passwords: true", maxPassword, n)})
	}
	return problems
}

// checkSystemID returns the error of the length of a system_id. unless names what would allow more.
func (o *ConnectorOptions) checkSystemID(systemID, unless string) []protocols.Problem {
	n, most := len(systemID), o.systemIDLimit()
	switch {
	case n <= most:
		return nil
	case n > maxLongSystemID:
		return tooLong(nil, "system_id", systemID, most)
	}
	return []protocols.Problem{{Option: "system_id", Text: fmt.Sprintf(
		"must be at most %d characters, not %d, unless %s", most, n, unless,
	)}}
}

// systemIDLimit is the length of the longest system_id.
func (o *ConnectorOptions) systemIDLimit() int {
	if o.LongSystemIDs {
		return maxLongSystemID
	}
	return maxSystemID
}

// passwordLimit is the length of the longest password that a client may log in with.
func (o *ConnectorOptions) passwordLimit() int {
	if o.LongPasswords {
		return maxLongPassword
	}
	return maxPassword
}

// tooLong appends a problem if the value of an option is longer than its field.
func tooLong(problems []protocols.Problem, option, value string, most int) []protocols.Problem {
	return protocols.TooLong(problems, "SMPP", option, value, most)
}

// ClientOptions are the options of an account for its sessions. Package config describes the tags.
type ClientOptions struct {
	IDs      string `yaml:"message_ids" default:"hexadecimal" enum:"hexadecimal|decimal" live:"yes" doc:"Its message ids, in answers and receipts: 16 hexadecimal or decimal digits; 8 characters with SMPP 3.3. Both are understood in its requests. A change also applies to receipts still to come."`
	Timezone string `yaml:"receipt_timezone" live:"yes" doc:"The zone of times in the texts of its receipts, as Asia/Kolkata; receipt_timezone of its connector when empty."`
	Seconds  string `yaml:"receipt_seconds" default:"smsc" enum:"smsc|always|never" live:"yes" doc:"Whether these times have seconds (YYMMDDhhmmss): if the SMSC's have, always or never."`
	Text     string `yaml:"receipt_text" default:"kept" enum:"kept|empty|none" live:"yes" doc:"What stands behind text: in its receipts: the beginning of the message as the SMSC has it (kept), or nothing; none leaves text: out as well."`

	zone *time.Location // location of Timezone; nil: that of the connector
}

// The values of message_ids, receipt_seconds and receipt_text beside their defaults.
const (
	decimalIDs    = "decimal"
	alwaysSeconds = "always"
	neverSeconds  = "never"
	emptyText     = "empty"
	noText        = "none"
)

// Compile reads the zone, and returns the problem of an invalid zone.
func (o *ClientOptions) Compile() (problems []protocols.Problem) {
	o.zone = nil
	if o.Timezone == "" {
		return nil
	}
	if problems = protocols.CheckZone(nil, "receipt_timezone", o.Timezone); problems == nil {
		o.zone = protocols.Zone(o.Timezone)
	}
	return problems
}

// clientOf returns the options of a session's account, nil if the account has none.
func clientOf(s *protocols.SessionOptions) *ClientOptions {
	if s.Client == nil {
		return nil
	}
	o, _ := s.Client().(*ClientOptions)
	return o
}

// hasDecimalIDs reports whether ids are written in decimal digits.
func (o *ClientOptions) hasDecimalIDs() bool { return o != nil && o.IDs == decimalIDs }

// write appends the text of a receipt. Times are in zone if the account has no other.
func (o *ClientOptions) write(b []byte, r *Receipt, zone *time.Location) []byte {
	if o == nil {
		return r.AppendText(b, zone)
	}
	if o.zone != nil {
		zone = o.zone
	}
	switch o.Seconds {
	case alwaysSeconds:
		r.Seconds = true
	case neverSeconds:
		r.Seconds = false
	}
	switch o.Text {
	case emptyText:
		r.Text = nil
	case noText:
		r.Text, r.NoText = nil, true
	}
	return r.AppendText(b, zone)
}
