package kannel

import (
	"slices"

	"pmg/cmd/pmg/migrate/draft"
)

// smscHTTP returns the rows of the options of SMSCs with HTTP.
func smscHTTP() []draft.Row {
	const g = "smsc"
	return slices.Concat(
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
		draft.Becomes(g, "generic-param-dlr-mid, generic-param-dlr-mask, generic-param-dlr-err", "`callbacks.receipts`"),
		draft.Becomes(g, "generic-param-from, generic-param-to, generic-param-text, generic-param-udh", "`callbacks.inbound`"),
		draft.Asks(g, "generic-param-username, generic-param-password",
			"calls show callbacks.secret, as the parameter token or with HTTP Basic"),
		draft.Asks(g, "generic-param-coding",
			"the text of a message from a mobile must be UTF-8; callbacks.inbound has charset, octets and coding for others"),
		draft.Asks(g, "generic-status-sent", "accepted calls are answered with 200"),
		draft.Asks(g, "generic-status-error",
			"calls are answered with 400, 403 or 422 if they are refused, and with 503 if the SMSC must repeat them"),
		draft.Leaves(g, "generic-param-service, generic-param-account, generic-param-binfo, generic-param-dlr-url, "+
			"generic-param-flash, generic-param-mclass, generic-param-mwi, generic-param-validity, generic-param-deferred, "+
			"generic-param-foreign-id, generic-param-meta-data", "PMG does not read it from messages from mobiles"),
	)
}
