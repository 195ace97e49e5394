package kannel

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"pmg/protocols/httpsms"
	"pmg/sms"
)

// Report returns the call of the dlr-url for an event of a message. It reports false if the client has given
// no URL, or has not asked for such events. An answer 2xx means that the client has the event.
func Report(e *httpsms.Event) (*httpsms.Call, bool) {
	bit := reported(e)
	mask, _ := number(e.Context.Get(httpsms.Mask))
	switch {
	case e.Context.URL == "":
		return nil, false
	case bit == refused && mask&(refused|undelivered) != 0:
	case bit == undelivered && e.Report.State == sms.StateExpired && mask&expired != 0:
		bit |= expired
	case mask&bit == 0:
		return nil, false
	}
	text := reportText(e, bit)
	c := &e.Context
	v := values{
		phone: httpsms.Number(e.To), local: httpsms.Number(e.From), text: text, words: strings.Fields(text),
		at:        time.Unix(0, e.At),
		connector: e.Connector, id: httpsms.UUID(e.ID), foreign: string(e.Report.ID), mask: bit, url: c.URL,
		meta: reportMeta(e, mask, bit), coding: notGiven, service: c.Get(httpsms.Service), charset: "UTF-8",
		class: notGiven, billing: c.Get(httpsms.Billing), account: c.Get(httpsms.AccountInfo),
	}
	return &httpsms.Call{Method: http.MethodGet, URL: v.expand(c.URL), Header: [][2]string{{"User-Agent", name}}}, true
}

// reported returns the bit of an event.
func reported(e *httpsms.Event) int {
	switch s := e.Report.State; {
	case e.Taken:
		return accepted
	case s == sms.StateDelivered:
		return delivered
	case s == sms.StateScheduled || s == sms.StateEnroute || s == sms.StateAccepted:
		return buffered
	case e.Report.Untaken:
		return refused
	}
	return undelivered
}

// reportText returns the SMSC's words: the text of its receipt, or its answer.
func reportText(e *httpsms.Event, bit int) string {
	switch {
	case bit == accepted:
		return "ACK/"
	case bit == refused && e.Status != 0:
		return fmt.Sprintf("NACK/0x%08x/%s", e.Status, e.Reason)
	case bit == refused:
		return "NACK/" + e.Reason
	case e.Report.Original != nil:
		return string(e.Report.Original)
	}
	id := string(e.Report.ID)
	if id == "" {
		id = httpsms.UUID(e.ID)
	}
	return receiptText(id, e.Report)
}

// receiptText returns the text of a receipt that came without one, in the form that is usual with SMPP (3.4
// appendix B). id is the SMSC's id, or ours if clients do not see the SMSC's.
func receiptText(id string, r *sms.Report) string {
	at := func(t int64) string { return time.Unix(0, t).UTC().Format("0601021504") }
	word := string(r.Word)
	if w := httpsms.Word(r.State); w != "" {
		word = w
	}
	all, done := max(r.Parts, 1), r.Delivered
	if r.State == sms.StateDelivered {
		done = max(done, all)
	}
	err := string(r.Err)
	if err == "" {
		err = fmt.Sprintf("%03d", r.NetworkError)
	}
	return fmt.Sprintf("id:%s sub:%03d dlvrd:%03d submit date:%s done date:%s stat:%s err:%s text:%s",
		id, all, done, at(r.Submitted), at(r.Done), word, err, r.Text)
}

// reportMeta returns the meta-data of a report: that of the message, the mask, and the error of the network, in three
// octets.
func reportMeta(e *httpsms.Event, mask, bit int) string {
	meta := e.Context.Get(httpsms.MetaData)
	if meta != "" && !strings.HasSuffix(meta, "&") {
		meta += "&"
	}
	meta += fmt.Sprintf("?orig_msg?dlr_mask=%d&", mask)
	if bit == accepted || bit == refused {
		return meta + "?smpp_resp?"
	}
	network, code := e.Report.Network, int(e.Report.NetworkError)
	if network == 0 {
		n, ok := number(string(e.Report.Err))
		if !ok {
			return meta
		}
		network, code = 3, n // GSM
	}
	return meta + "?smpp?dlr_err=" + quote(string([]byte{network, byte(code >> 8), byte(code)})) + "&"
}
