package smsc

import (
	"strings"

	"pmg/protocols/httpsms"
)

// presets describe the interfaces of other gateways, by their names in dialects. Options of the configuration override them.
var presets = map[string]httpsms.ConnectorOptions{
	"kannel": {
		URL: "/cgi-bin/sendsms?username={username}&password={password}&from={from}&to={to}" +
			"&text={content}&udh={udh}&coding={coding}" +
			"&charset=UTF-8&mclass={class}&validity={validity}&priority={priority}&dlr-mask={dlr_mask}&dlr-url={dlr_url}",
		Answers: httpsms.AnswerOptions{Success: httpsms.Condition{Status: []string{"2xx"}, Body: `^(0: |3: |(?i:sent\.|ok\.)|Result: OK)`}},
		Callbacks: httpsms.CallbackOptions{
			Receipts: httpsms.ReceiptFields{
				ID: "message", State: "state", Text: "answer",
				States: []string{
					"1=delivered", "2=undeliverable", "4=enroute", "8=ignored", "12=enroute", "16=rejected", "34=expired",
				},
			},
			Inbound: httpsms.InboundFields{From: "from", To: "to", Text: "text", Charset: "charset", UDH: "udh"},
		},
	},
	"jasmin": {
		URL: "/send",
		Request: httpsms.RequestOptions{Form: "username={username}&password={password}&from={from}&to={to}" +
			"&coding={data_coding}&hex-content={octets_hex}" +
			"&priority={priority}&validity-period={validity}&dlr={receipt?yes}&dlr-level={receipt?3}" +
			"&dlr-method={receipt?POST}&dlr-url={receipt_url}"},
		Answers: httpsms.AnswerOptions{
			Throttled: httpsms.Condition{Body: "User throughput exceeded"},
			Temporary: httpsms.Condition{Body: "no bound connectors"},
			Success:   httpsms.Condition{Status: []string{"200"}, Body: `^Success "`},
			ID:        httpsms.Place{Body: `^Success "([^"]+)`},
		},
		Callbacks: httpsms.CallbackOptions{
			Receipts: httpsms.ReceiptFields{
				ID: "id", State: "message_status", Error: "err", States: []string{"ESME_ROK=ignored", "ESME_*=rejected"},
			},
			Inbound: httpsms.InboundFields{From: "from", To: "to", Octets: "binary", Coding: "coding"},
			Reply:   "ACK/Jasmin",
		},
	},
	"pmg": {
		URL: "/v1/messages",
		Request: httpsms.RequestOptions{Login: "basic", JSON: `{"from": "{from}", "to": "{to}", "text": "{text}", "binary": "{binary}", "udh": "{udh_base64}",` +
			` "message_class": "#{class}", "priority": "#{priority}", "validity": "{validity_seconds}s", "receipt": "{receipt}",` +
			` "callback_url": "{receipt_url}", "client_reference": "{id}", "deduplicate": true}`},
		Answers: httpsms.AnswerOptions{
			Success: httpsms.Condition{Status: []string{"202"}, JSON: "/id"}, ID: httpsms.Place{JSON: "/id"},
		},
		Callbacks: httpsms.CallbackOptions{
			Receipts: httpsms.ReceiptFields{
				List: "/data", ID: "/data/id", State: "/data/state", Error: "/data/network_error",
				States: []string{"sent=ignored", "buffered=enroute"},
			},
			Inbound: httpsms.InboundFields{List: "/data", From: "/data/from", To: "/data/to", Text: "/data/text"},
		},
	},
}

// whole returns options completed by those of their preset.
func whole(o *httpsms.ConnectorOptions) *httpsms.ConnectorOptions {
	w := *o
	p, ok := presets[o.Preset]
	if !ok {
		return &w
	}
	r, described := &w.Request, strings.Contains(o.URL, "{") || o.Request.Form != "" || o.Request.JSON != ""
	if !described && o.URL != "" {
		w.URL = strings.TrimSuffix(o.URL, "/") + p.URL
	}
	if !described {
		r.Form, r.JSON = p.Request.Form, p.Request.JSON
	}
	fill(&r.Login, p.Request.Login)
	a := &w.Answers
	for _, c := range []struct{ given, preset *httpsms.Condition }{
		{&a.Throttled, &p.Answers.Throttled}, {&a.Temporary, &p.Answers.Temporary}, {&a.Permanent, &p.Answers.Permanent},
		{&a.Success, &p.Answers.Success},
	} {
		if !c.given.IsGiven() {
			*c.given = *c.preset
		}
	}
	if a.ID == (httpsms.Place{}) {
		a.ID = p.Answers.ID
	}
	fillCallbacks(&w.Callbacks, &p.Callbacks)
	return &w
}

// fill sets an option that is empty.
func fill(option *string, preset string) {
	if *option == "" {
		*option = preset
	}
}

func fillCallbacks(of, preset *httpsms.CallbackOptions) {
	fill(&of.Reply, preset.Reply)
	r := &of.Receipts
	if r.ID == "" && r.State == "" {
		r.List, r.ID, r.State = preset.Receipts.List, preset.Receipts.ID, preset.Receipts.State
		r.Error, r.Text = preset.Receipts.Error, preset.Receipts.Text
	}
	r.States = append(r.States[:len(r.States):len(r.States)], preset.Receipts.States...)
	if of.Inbound == (httpsms.InboundFields{}) {
		of.Inbound = preset.Inbound
	}
}
