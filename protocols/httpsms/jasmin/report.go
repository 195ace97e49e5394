package jasmin

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// The levels of a call: what an SMSC has answered, and what its receipt says. A client that wants both events asks for level 3.
const (
	answered = "1"
	ended    = "2"
	both     = "3"
)

const unknown = "ND" // not known

// known returns the value of a field that Jasmin's clients expect even if it is empty.
func known(value string) string { return cmp.Or(value, unknown) }

// Report returns the call of the dlr-url for an event of a message. It reports false if the client has given
// no URL, or has not asked for such events. The answer ACK/Jasmin means that the client has the event.
func Report(e *httpsms.Event) (*httpsms.Call, bool) {
	asked := e.Context.Get(httpsms.Mask)
	refused := e.Report.Untaken
	level := ended
	if e.Taken || refused && asked != ended {
		level = answered
	}
	told := e.Taken || e.Report.State.Final() || e.Report.State == sms.StateAccepted || e.Report.State == sms.NoState
	if e.Context.URL == "" || asked != level && asked != both || !told {
		return nil, false
	}
	v := url.Values{"id": {httpsms.UUID(e.ID)}, "level": {level}, "connector": {known(e.Connector)}}
	if level == answered {
		v.Set("message_status", answerOf(e))
	} else {
		addReceipt(v, e.Report, refused)
	}
	method := http.MethodPost
	if e.Context.Get(httpsms.Method) == http.MethodGet {
		method = http.MethodGet
	}
	return thrown("DLRThrower", e.Context.URL, method, v), true
}

// isTaken reports whether an answer says that the client has the event.
func isTaken(status int, body []byte) bool {
	return status < http.StatusBadRequest && string(bytes.TrimSpace(body)) == "ACK/Jasmin"
}

// answerOf returns the name of an SMSC's answer, as in SMPP.
func answerOf(e *httpsms.Event) string {
	switch {
	case e.Taken:
		return "ESME_ROK"
	case e.Status != 0 && strings.HasPrefix(e.Reason, "ESME_"):
		return e.Reason
	}
	return "ESME_RSUBMITFAIL" // of another protocol, or given up before an SMSC was asked
}

// addReceipt adds the fields of a receipt. If an SMSC has refused the message, the gateway has made the receipt.
func addReceipt(v url.Values, r *sms.Report, refused bool) {
	word := httpsms.Word(r.State)
	switch {
	// which Jasmin does not know
	case refused && r.State != sms.StateExpired && r.State != sms.StateDeleted || r.State == sms.StateSkipped:
		word = httpsms.Word(sms.StateUndeliverable)
	case word == "":
		word = httpsms.Word(sms.StateUnknown)
	}
	at := func(t int64) string {
		form := "0601021504"
		if r.Seconds {
			form += "05"
		}
		if t == 0 {
			return unknown
		}
		return time.Unix(0, t).UTC().Format(form)
	}
	count := func(n uint8) string {
		if r.Parts == 0 && n == 0 {
			return unknown
		}
		return fmt.Sprintf("%03d", n)
	}
	err := unknown
	switch {
	case len(r.Err) > 0:
		err = strings.Repeat("0", max(3-len(r.Err), 0)) + string(r.Err)
	case r.Network != 0:
		err = fmt.Sprintf("%03d", r.NetworkError)
	}
	for name, value := range map[string]string{
		"message_status": word, "id_smsc": known(
			strings.TrimLeft(strings.ToUpper(string(r.ID)), "0"),
		), "sub": count(r.Parts), "dlvrd": count(r.Delivered),
		"err": err, "subdate": at(r.Submitted), "donedate": at(r.Done), "text": string(r.Text),
	} {
		v.Set(name, value)
	}
}
