package explain

import (
	"pmg/sms/charset"
	"pmg/sms/userdata"
)

// A Text is how a text is sent.
type Text struct {
	Coding string `json:"coding"`
	Units  int    `json:"units"`            // septets, or 16 bits of UCS-2
	Room   int    `json:"room"`             // units that one message holds, or one part
	Parts  int    `json:"parts"`            // messages that it is sent as; 0: it cannot be sent
	Lacks  string `json:"lacks,omitempty"`  // the first character that GSM 7-bit does not have
	Reason string `json:"reason,omitempty"` // why it cannot be sent
}

// partHeader is the length of the header of a part, with its length octet.
const partHeader = 6

// plan returns how a gateway without options of text sends a text: in GSM 7-bit if that
// has all of its characters, otherwise in UCS-2.
func plan(text string) *Text {
	t := &Text{Coding: "GSM 7-bit"}
	c := charset.Charset{}
	octets, loss := c.Encode(nil, []byte(text), charset.Report)
	if loss.Count > 0 {
		t.Coding, t.Lacks = "UCS-2", string(loss.First)
		c.Coding = charset.UCS2
		octets, loss = c.Encode(nil, []byte(text), charset.Report)
	}
	if loss.Count > 0 {
		t.Reason = "text is not UTF-8"
		return t
	}
	t.Units, _ = c.Count([]byte(text))
	t.Room = c.Room(0)
	var err error
	s := userdata.Splitter{Coding: c.Coding}
	if t.Parts, err = s.Count(octets); err != nil {
		t.Reason = err.Error()
	}
	if t.Parts != 1 {
		t.Room = c.Room(partHeader)
	}
	return t
}
