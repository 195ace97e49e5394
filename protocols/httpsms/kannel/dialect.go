package kannel

import "pmg/protocols/httpsms"

// Dialect returns how the clients of Kannel are called.
func Dialect() httpsms.Dialect {
	return httpsms.Dialect{Number: httpsms.Kannel, Report: Report, Forms: map[string]httpsms.Form{
		"kannel-get":  inboundForm(false),
		"kannel-post": inboundForm(true),
	}}
}

// inboundForm returns the form of a sms-service of Kannel.
func inboundForm(post bool) httpsms.Form {
	return func(e *httpsms.Event, account, url string) *httpsms.Call {
		return Inbound(e, &InboundOptions{Name: account, URL: url, Post: post, SendSender: true})
	}
}
