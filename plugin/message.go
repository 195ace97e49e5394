package plugin

import (
	"context"
	"time"
)

// The hooks: the stages of a message at which plugins are asked.
const (
	Accept = "accept" // a client submits the message; the client's answer waits for the verdict
	MO     = "mo"     // an SMSC delivers the message, which a mobile has sent
	Send   = "send"   // the message is about to leave by an out connector
	Result = "result" // the message has ended

	Receipt = "receipt" // a client is about to get a receipt
	Login   = "login"   // a client logs in with valid credentials; there is no message
	Network = "network" // a number's present network is looked up; the message has only a recipient
)

// Hooks returns the names of all hooks.
func Hooks() []string { return []string{Accept, MO, Send, Result, Receipt, Login, Network} }

// A Message is a plugin's view of a message. Its fields are variables of expressions, and members of JSON.
type Message struct {
	Hook      string    `json:"hook" expr:"hook"`
	Account   string    `json:"account,omitempty" expr:"account"` // account that submits the message; "": it comes from an SMSC
	Connector string    `json:"connector" expr:"connector"`       // connector of the arrival; Send, Result: of the departure
	From      string    `json:"from" expr:"from"`                 // sender: an international number without '+', another number, or a name
	FromTON   int       `json:"from_ton" expr:"from_ton"`         // 1: international, 5: a name
	To        string    `json:"to" expr:"to"`                     // recipient
	ToTON     int       `json:"to_ton" expr:"to_ton"`
	Text      string    `json:"text" expr:"text"`                      // "": the message is binary, or empty
	Binary    bool      `json:"binary,omitempty" expr:"binary"`        // the message consists of octets, not of text
	Alphabet  string    `json:"alphabet" expr:"alphabet"`              // gsm7, latin1, ucs2, utf8, binary
	IsPart    bool      `json:"is_part,omitempty" expr:"is_part"`      // a part of a long text that the sender split
	Priority  int       `json:"priority" expr:"priority"`              // 0: lowest
	Tags      string    `json:"tags,omitempty" expr:"tags"`            // tags that other plugins have added, separated by a space
	Network   string    `json:"network,omitempty" expr:"network"`      // MCC, MNC of the recipient or an MO's sender; "": unknown
	DeliverAt time.Time `json:"deliver_at,omitzero" expr:"deliver_at"` // delivery time that the sender wants; zero: immediately
	Arrived   time.Time `json:"arrived" expr:"arrived"`

	// ID is, for Send and Result, the id in logs and events; for Receipt the id, as the client knows it, of the
	// message that the receipt is about.
	ID    string `json:"id,omitempty" expr:"id"`
	Part  int    `json:"part,omitempty" expr:"part"`   // hooks Send and Result: number of the part, from 1
	Parts int    `json:"parts,omitempty" expr:"parts"` // Send, Result: number of parts, if the gateway has split the message
	State string `json:"state,omitempty" expr:"state"` // Result: state as in events; Receipt: name of the sms.State
	Error string `json:"error,omitempty" expr:"error"` // Result: reason as in events; Receipt: as the client gets it

	// The fields of a login.
	Address  string `json:"address,omitempty" expr:"address"` // address of the client, without the port
	Protocol string `json:"protocol,omitempty" expr:"protocol"`
	TLS      bool   `json:"tls,omitempty" expr:"tls"`
	Bind     string `json:"bind,omitempty" expr:"bind"` // transmitter, receiver or transceiver
}

// A Quick plugin decides without waiting, mostly in less time than it takes to pass a message to another goroutine.
type Quick interface {
	Plugin
	// Try asks the plugin for a caller that may not wait. It reports false if the answer would make the caller wait.
	Try(m *Message) (v Verdict, done bool, err error)
}

// A Plugin decides about messages. It is safe for concurrent use.
type Plugin interface {
	// Ask returns the verdict about a message. An error means that there is no verdict. Ask returns soon after ctx has ended.
	Ask(ctx context.Context, m *Message) (Verdict, error)
	// Close ends the plugin's processes and connections. Ask is not called any more.
	Close()
}
