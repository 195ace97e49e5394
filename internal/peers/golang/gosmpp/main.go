// Gosmpp drives github.com/linxGnu/gosmpp as a client, and its package pdu as an SMSC:
// gosmpp client|smsc HOST:PORT.
//
// # Start reading
//
// client.go and smsc.go.
package main

import (
	"encoding/hex"
	"os"
	"pmgpeers/wire"
	"strconv"

	"github.com/linxGnu/gosmpp/data"
	"github.com/linxGnu/gosmpp/pdu"
)

func main() {
	role, address := os.Args[1], os.Args[2]
	if role == "client" {
		client(address)
		return
	}
	smsc(address)
}

// address returns a number for the library.
func address(number string) pdu.Address {
	a, _ := pdu.NewAddressWithTonNpiAddr(1, 1, number)
	return a
}

// content returns the text or octets of a message for the library.
func content(m wire.Message) (s pdu.ShortMessage, err error) {
	var coding data.Encoding = data.GSM7BIT
	switch {
	case m.Coding == 8:
		coding = data.UCS2
	case m.Coding == 4:
		coding = data.BINARY8BIT2
	case m.Coding != 0:
		coding = data.NewCustomEncoding(byte(m.Coding), data.GSM7BIT)
	}
	if m.Octets != "" {
		b, _ := hex.DecodeString(m.Octets)
		s, err = pdu.NewBinaryShortMessageWithEncoding(b, coding)
	} else {
		s, err = pdu.NewShortMessageWithEncoding(m.Text, coding)
	}
	if m.UDH != "" && err == nil {
		b, _ := hex.DecodeString(m.UDH)
		var header pdu.UDH
		if _, err = header.UnmarshalBinary(b); err == nil {
			s.SetUDH(header)
		}
	}
	return s, err
}

// parameters adds the optional parameters of a message.
func parameters(p pdu.PDU, m wire.Message) {
	for tag, value := range m.TLVs {
		t, _ := strconv.ParseUint(tag, 16, 16)
		b, _ := hex.DecodeString(value)
		p.RegisterOptionalParam(pdu.Field{Tag: pdu.Tag(t), Data: b})
	}
}

// seen returns what the library has made of a message.
func seen(from, to pdu.Address, class byte, s pdu.ShortMessage, optional map[pdu.Tag]pdu.Field) wire.Message {
	m := wire.Message{From: from.Address(), To: to.Address(), Class: int(class)}
	if s.Encoding() != nil {
		m.Coding = int(s.Encoding().DataCoding())
	}
	b, _ := s.GetMessageData()
	if payload, ok := optional[pdu.TagMessagePayload]; ok && len(b) == 0 {
		b = payload.Data
	}
	m.Octets = hex.EncodeToString(b)
	coding := s.Encoding()
	if coding == nil || coding.DataCoding() == data.BINARY8BIT2.DataCoding() {
		coding = data.GSM7BIT
	}
	m.Text, _ = coding.Decode(b)
	return m
}
