package ucp

import (
	"fmt"

	"pmg/protocols"
	"pmg/sms"
)

// ConnectorOptions are the options of connectors with protocol ucp. They implement protocols.Options.
type ConnectorOptions struct {
	Traffic             protocols.BindType `yaml:"traffic" default:"transceiver" enum:"transmitter|receiver|transceiver" live:"no" doc:"Which way messages flow, seen from the client. Some SMSCs want a connection for each way: give them two connectors with the same operator."`
	Login               string             `yaml:"login" default:"60" enum:"60|none" only:"out" live:"rebind" doc:"With operation 60, or not at all, for an SMSC that knows its clients by their addresses: then the session begins with the answer to operation 31 (keep-alive) with system_id as its number, and no password is sent."`
	OTON                int                `yaml:"oton" default:"6" range:"1..6" only:"out" live:"rebind" doc:"Type of number of its system_id: 1 international, 2 national, 6 abbreviated, which short numbers and names are."`
	ONPI                int                `yaml:"onpi" default:"5" range:"1..5" only:"out" live:"rebind" doc:"Numbering plan of its system_id: 1 E.164, 3 X.121, 5 private, which short numbers and names are."`
	AlertPID            string             `yaml:"alert_pid" default:"0539" enum:"0100|0122|0131|0138|0139|0339|0439|0539|0639" live:"rebind" doc:"The PID of its keep-alive (operation 31): 0539 a PC over TCP/IP, 0639 a PC by its short number."`
	InternationalPrefix string             `yaml:"international_prefix" default:"00" live:"rebind" doc:"What an international number begins with, as the SMSC has it. A number without it is left as it is."`
	Timezone            string             `yaml:"timezone" default:"UTC" live:"rebind" doc:"The zone that the SMSC's times are in, as Europe/Stockholm: UCP does not say it with a time."`
	DeliveryIDs         bool               `yaml:"delivery_ids" default:"false" only:"out" live:"rebind" doc:"Whether results of deliveries and notifications say which message they are about (AdC:SCTS). A few SMSCs insist on it."`
	AlwaysDCS           bool               `yaml:"always_dcs" default:"false" live:"rebind" doc:"Whether XSer 02 also says the coding where MT and MCLs do (020100 for GSM). Some peers show texts without it as empty."`
	Priority            bool               `yaml:"priority" default:"false" only:"out" live:"rebind" doc:"Whether a message's priority is sent (PR), which an SMSC refuses from a client that has not subscribed to that."`
}

// The values of login.
const (
	loginOperation = "60"
	loginNone      = "none"
)

// NewConnectorOptions returns the default options.
func NewConnectorOptions() *ConnectorOptions {
	return &ConnectorOptions{
		Traffic: protocols.Transceiver, Login: loginOperation, OTON: 6, ONPI: 5, AlertPID: "0539", InternationalPrefix: "00",
		Timezone: "UTC",
	}
}

// The longest values of a login's fields.
const (
	maxSystemID = 16
	maxPassword = 16
)

// BindType implements protocols.Options.
func (o *ConnectorOptions) BindType() protocols.BindType { return o.Traffic }

// MaxWindow implements protocols.Options: all TRNs but one, which is for operation 31.
func (o *ConnectorOptions) MaxWindow() int { return trns - 1 }

// Alphabets implements protocols.Options.
func (o *ConnectorOptions) Alphabets() sms.Alphabets {
	return sms.NewAlphabets(sms.UCS2, sms.Binary, sms.Other)
}

// MaxText implements protocols.Options.
func (o *ConnectorOptions) MaxText() int { return maxMsg / 2 }

// CheckLogin implements protocols.Options.
func (o *ConnectorOptions) CheckLogin(systemID, password string) []protocols.Problem {
	problems := checkCredentials(systemID, password)
	problems = protocols.CheckZone(problems, "timezone", o.Timezone)
	if !isDigits([]byte(o.InternationalPrefix)) {
		problems = append(problems, protocols.Problem{Option: "international_prefix",
			Text: fmt.Sprintf("must be digits, not %q", o.InternationalPrefix)})
	}
	return problems
}

// CheckAccount implements protocols.Options.
func (o *ConnectorOptions) CheckAccount(systemID, password string) []protocols.Problem {
	return checkCredentials(systemID, password)
}

// checkCredentials returns the problems of a session's credentials.
func checkCredentials(systemID, password string) []protocols.Problem {
	problems := protocols.TooLong(nil, "UCP", "system_id", systemID, maxSystemID)
	for _, c := range []byte(systemID) {
		if c == '/' || c < ' ' || c > '~' {
			problems = append(
				problems,
				protocols.Problem{Option: "system_id", Text: "must be printable characters without '/', which UCP cannot write"},
			)
			break
		}
	}
	problems = protocols.TooLong(problems, "UCP", "password", password, maxPassword)
	if !writable(password) {
		problems = append(problems, protocols.Problem{Option: "password", Text: "must be characters of the GSM alphabet that are in ASCII, which has no '`'"})
	}
	return problems
}

// writable reports whether the GSM codes of a password can be decoded to the same password.
func writable(password string) bool {
	for _, c := range []byte(password) {
		if c >= 0x80 {
			return false
		}
	}
	_, ok := appendGSM(nil, []byte(password))
	return ok
}
