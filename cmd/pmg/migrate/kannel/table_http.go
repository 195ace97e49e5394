package kannel

import "pmg/cmd/pmg/migrate/draft"

// smscHTTP returns the rows of options of SMSCs that speak HTTP.
func smscHTTP() []draft.Row {
	const g = "smsc"
	rows := []draft.Row{
		draft.Becomes(g, "send-url", "`url`"),
		draft.Becomes(g, "use-post", "`request.form`"),
		draft.Becomes(g, "dlr-url", "`callbacks.url`"),
		draft.Becomes(g, "no-sender", "`url`, without `{from}`"),
		draft.Becomes(g, "no-coding", "`url`, without `{coding}`"),
		draft.Becomes(g, "no-sep", "`url`, with `{data_hex}` and `{udh_hex}`"),
		draft.Becomes(g, "status-success-regex", "`answers.success`"),
		draft.Becomes(g, "status-permfail-regex", "`answers.otherwise`"),
		draft.Becomes(g, "status-tempfail-regex", "`answers.temporary`"),
		draft.Becomes(g, "generic-foreign-id-regex", "`answers.id`"),
		draft.Becomes(g, "generic-message-sent", "`callbacks.reply`"),
	}
	for _, name := range []string{"dlr-mid", "dlr-mask", "dlr-err"} {
		rows = append(rows, draft.Becomes(g, "generic-param-"+name, "`callbacks.receipts`"))
	}
	for _, name := range []string{"from", "to", "text", "udh"} {
		rows = append(rows, draft.Becomes(g, "generic-param-"+name, "`callbacks.inbound`"))
	}
	rows = append(rows,
		draft.Asks(g, "generic-param-username", "calls show callbacks.secret, as the parameter token or with HTTP Basic"),
		draft.Asks(g, "generic-param-password", "calls show callbacks.secret, as the parameter token or with HTTP Basic"),
		draft.Asks(
			g, "generic-param-coding",
			"the text of a message from a mobile must be UTF-8; callbacks.inbound has charset, octets and coding for others",
		),
		draft.Asks(g, "generic-status-sent", "calls are answered with 200 when they were taken"),
		draft.Asks(
			g, "generic-status-error",
			"calls are answered with 400, 403 or 422 when they were refused, and with 503 when they must come again",
		),
	)
	for _, name := range []string{
		"service", "account", "binfo", "dlr-url", "flash", "mclass", "mwi", "validity", "deferred", "foreign-id",
		"meta-data",
	} {
		rows = append(rows, draft.Leaves(g, "generic-param-"+name, "PMG does not read it from messages from mobiles"))
	}
	return rows
}
