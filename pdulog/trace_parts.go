package pdulog

import (
	"fmt"
	"strconv"
	"time"
)

// A part is a line's information about the long message of its message.
type part struct {
	total, number, reference int
	recipient                string
}

// partOf returns the part of a long message that a request carries, by its user data header (3GPP TS 23.040
// §9.2.3.24.1) or its parameters; total is 0 if the request names no part.
func partOf(e *Entry) part {
	p := part{recipient: string(fieldOf(e.Rest, "destination_addr"))}
	if total := fieldOf(e.Rest, "sar_total_segments"); total != nil {
		p.total = numeral(total)
		p.number = numeral(fieldOf(e.Rest, "sar_segment_seqnum"))
		p.reference = numeral(fieldOf(e.Rest, "sar_msg_ref_num"))
		return p
	}
	raw := fieldOf(e.Rest, "short_message")
	text, err := strconv.Unquote(`"` + string(raw[:min(len(raw), 80)]) + `"`)
	for cut := min(len(raw), 80); err != nil && cut > 0 && cut > min(len(raw), 80)-5; cut-- { // in the middle of an escape
		text, err = strconv.Unquote(`"` + string(raw[:cut]) + `"`)
	}
	if err != nil || len(text) < 6 || text[:3] != "\x05\x00\x03" {
		return part{}
	}
	p.reference, p.total, p.number = int(text[3]), int(text[4]), int(text[5])
	return p
}

func numeral(b []byte) int {
	n, _ := strconv.Atoi(string(b)) // 0: the text is no number
	return n
}

// addParts records which ids the other parts have if the gateway has split the message: ids of parts are consecutive.
func (w *tracer) addParts(id string, p part, at time.Time) {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil || p.number < 1 || p.number > p.total {
		return
	}
	first := n - uint64(p.number-1)
	for i := range p.total {
		other := fmt.Sprintf("%016x", first+uint64(i))
		if _, known := w.parts[other]; known || other == id {
			continue
		}
		w.parts[other] = part{p.total, i + 1, p.reference, p.recipient}
		w.want(IDHash([]byte(other)), at.Add(-answerWithin), time.Time{})
	}
}

// isPart reports whether a line is the request of another part, and not of another message to which the id was given.
func (w *tracer) isPart(e *Entry) bool {
	expected, ok := w.parts[string(e.ID)]
	return ok && !e.Received && partOf(e) == expected
}
