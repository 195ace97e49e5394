package intake

import (
	"pmg/connector"
	"pmg/gateway/keep"
	"pmg/sms"
)

// The maximum numbers of short messages, and of octets, that one PDU may become, so that a PDU does
// not delay other sessions. Further recipients are refused temporarily, and can be sent in another
// PDU.
const (
	mostOfOne       = 4096
	mostOctetsOfOne = 8 << 20
)

// Several holds the messages of a submit to several recipients.
type Several struct {
	All    []keep.Accepted
	n      int64 // number of short messages
	Octets int64
	fitted []fitted

	Recipients, Next int      // number of recipients in the PDU, and index of the next one
	Refusal          sms.Code // the first refusal
	Reasons          []byte   // the refusals of all recipients in their order, for the pdu log
	After            int64    // the client is not answered before this time
}

// Refuse records why a recipient is refused.
func (v *Several) Refuse(code sms.Code, step string) {
	if v.Reasons == nil {
		v.Refusal = code
	} else {
		v.Reasons = append(v.Reasons, ',')
	}
	why := sms.Refusal{Code: code, Step: step}
	v.Reasons = why.Append(v.Reasons)
}

// isFull reports whether the PDU may not become any further message.
func (v *Several) isFull() bool { return v.n >= mostOfOne || v.Octets >= mostOctetsOfOne }

// has reports whether the PDU may become a as well.
func (v *Several) has(a keep.Accepted) bool {
	return v.n+a.Places() <= mostOfOne && v.Octets+a.Octets() <= mostOctetsOfOne
}

// Add adds a message that was accepted.
func (v *Several) Add(a keep.Accepted) {
	v.All = append(v.All, a)
	v.n += a.Places()
	v.Octets += a.Octets()
}

// placesIn returns how many places of a share the messages take.
func (v *Several) placesIn(s *connector.Share) (n int64) {
	for _, a := range v.All {
		if a.Share == s {
			n += a.Places()
		}
	}
	return n
}

// Drop releases the messages because their session is gone. They are not accepted.
func (v *Several) Drop(from *connector.Source) {
	for _, a := range v.All {
		Retract(from, a.Message)
		a.Message.Release()
	}
	v.Forget()
	v.All, v.fitted = nil, nil
}

// Forget releases the texts that fit has stored.
func (v *Several) Forget() {
	for _, f := range v.fitted {
		f.message.Release()
	}
}

// fitted is the result of converting a text for a lane.
type fitted struct {
	lane    *connector.Lane
	code    sms.Code
	message *sms.Message // the message with the converted text
}

// fit converts the text of a message for the peers of a lane. The result is reused for all
// recipients behind the lane.
func (v *Several) fit(d *Checker, lane *connector.Lane, m *sms.Message) sms.Code {
	for _, f := range v.fitted {
		if f.lane != lane {
			continue
		}
		if f.code == sms.OK {
			m.SetText(f.message.Text())
			m.Alphabet, m.Parts = f.message.Alphabet, f.message.Parts
			m.Flags = m.Flags&^(sms.HasHeader|sms.Converted) | f.message.Flags&(sms.HasHeader|sms.Converted)
		}
		return f.code
	}
	code := d.convert.Fit(lane, m)
	v.fitted = append(v.fitted, fitted{lane, code, d.node.Messages.Copy(m)})
	return code
}

// fit converts the text of a message that comes in to one that the lane's peers can read. Most texts need no
// conversion. A message that must be split has the number of its parts afterwards.
func (s *Submission) fit(d *Checker) sms.Code {
	if s.Others != nil {
		return s.Others.fit(d, s.Lane, s.Message)
	}
	return d.convert.Fit(s.Lane, s.Message)
}
