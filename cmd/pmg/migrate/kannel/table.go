package kannel

import (
	"slices"
	"strings"

	"pmg/cmd/pmg/migrate/draft"
)

// Reasons that several options have.
const (
	oneLog     = "PMG has one log (log.level), and a pdu log for each connector (pdulog)"
	oneProcess = "PMG is one process, without boxes that connect to it"
	listOfURL  = "PMG reads no lists from a URL: fetch it into a file (lists), which accounts and connectors block or allow"
	regexRoute = "routes and lists have prefixes: write destination of a route, or allow and deny in rewrite"
	storeDir   = "PMG always stores messages on disk (store.dir)"
	wap        = "PMG has no WAP"
	fromMobile = "messages from mobiles go to an account by a route, and to its webhook, with webhook_form: kannel-get " +
		"in the form of a get-url; see docs/migrate.md"
	modem   = "PMG has no modems"
	replies = "PMG answers no messages itself: with webhook_reply what a server replies is sent"
	x25     = "PMG speaks over TCP/IP only"
)

// Table returns the translation of each option of the groups that are translated.
func Table() []draft.Row {
	return slices.Concat(
		core(), coreLists(), smsbox(), user(), smscEverywhere(), smscRoutes(), smscSMPP(), smscHTTP(), smscOthers(),
		serviceRows(), service(),
	)
}

func core() []draft.Row {
	const g = "core"
	return slices.Concat(
		draft.Becomes(g, "admin-port, admin-interface", "`admin.address`"),
		draft.Asks(g, "admin-port-ssl", "the admin address is plain on loopback; give it admin.tls for others"),
		draft.Asks(g, "admin-password",
			"operators use admin.socket, or tokens at admin.address (pmg admin token); of admin-port PMG has /status alone, "+
				"with status_password"),
		draft.Becomes(g, "status-password",
			"`status_password` of the connector of sendsms, at whose address /status.xml, /status.txt and /status are"),
		draft.Leaves(g, "admin-deny-ip", "the admin address is on loopback"),
		draft.Asks(g, "admin-allow-ip", "the admin address is on loopback; for others give it admin.tokens and admin.tls"),
		draft.Leaves(g, "smsbox-port, smsbox-port-ssl, smsbox-interface, box-deny-ip, box-allow-ip", oneProcess),
		draft.Leaves(g, "smsbox-max-pending", "queues have max_queue of a connector"),
		draft.Leaves(g, "wapbox-port, wapbox-port-ssl, udp-deny-ip, udp-allow-ip, wdp-interface-name", wap),
		draft.Leaves(g, "log-file", oneLog),
		draft.Becomes(g, "log-level", "`log.level`"),
		draft.Leaves(g, "syslog-level, syslog-facility", oneLog+"; systemd and others take it from there"),
		draft.Asks(g, "access-log", "events.dir and the pdu logs have other forms"),
		draft.Leaves(g, "access-log-time", "events have times in UTC"),
		draft.Asks(g, "access-log-format", "events are JSON: docs/events.md"),
		draft.Leaves(g, "access-log-clean", "events are JSON: docs/events.md"),
		draft.Leaves(g, "store-file, store-type, store-location, dlr-storage, dlr-spool", storeDir),
		draft.Leaves(g, "store-dump-freq", "a message is on disk before its submit is answered"),
		draft.Becomes(g, "unified-prefix",
			"`rewrite`: `{prefixes: […]}` of the connectors, or of the accounts where these have lists"),
		draft.Asks(g, "http-proxy-host", "PMG calls servers of clients and of SMSCs without a proxy"),
		draft.Leaves(g, "http-proxy-port, http-proxy-ssl, http-proxy-exceptions, http-proxy-exceptions-regex, "+
			"http-proxy-username, http-proxy-password", "the same as for http-proxy-host"),
		draft.Asks(g, "ssl-client-certkey-file",
			"calls of clients' servers have no certificate of ours; those of SMSCs have this one"),
		draft.Becomes(g, "ssl-server-cert-file", "`tls.certificate` with `sendsms-port-ssl`, and with `use-ssl` of HTTP"),
		draft.Becomes(g, "ssl-server-key-file", "`tls.key` with `sendsms-port-ssl`, and with `use-ssl` of HTTP"),
		draft.Becomes(g, "ssl-trusted-ca-file", "`tls.ca` of connectors with `use-ssl` (SMPP), or with https"),
		draft.Leaves(g, "ssl-client-cipher-list, ssl-server-cipher-list",
			"PMG takes the safe ciphers of TLS 1.2 and 1.3"),
		draft.Asks(g, "maximum-queue-length, sms-outgoing-queue-limit", "each connector has its max_queue"),
		draft.Asks(g, "sms-incoming-queue-limit", "each account has its rate and share, each connector its max_deliveries"),
		draft.Becomes(g, "sms-resend-freq, sms-resend-retry", "`retry`"),
		draft.Becomes(g, "sms-combine-concatenated-mo", "`long_messages: join`"),
		draft.Becomes(g, "sms-combine-concatenated-mo-timeout", "`limits.join_timeout`"),
		draft.Becomes(g, "http-timeout", "`response_timeout` of connectors to SMSCs with HTTP"),
	)
}

func coreLists() []draft.Row {
	const g = "core"
	return slices.Concat(
		draft.Asks(g, "white-list, black-list, white-list-sender, black-list-sender, white-list-receiver, black-list-receiver",
			listOfURL),
		draft.Asks(g, "white-list-regex, black-list-regex, white-list-sender-regex, black-list-sender-regex, "+
			"white-list-receiver-regex, black-list-receiver-regex", regexRoute),
	)
}

func smsbox() []draft.Row {
	const g = "smsbox"
	return slices.Concat(
		draft.Leaves(g, "smsbox-id, bearerbox-host, bearerbox-port, bearerbox-port-ssl", oneProcess),
		draft.Becomes(g, "sendsms-port", "`address` of a connector with `protocol: http`, `dialects: [kannel]`"),
		draft.Becomes(g, "sendsms-port-ssl", "`tls`"),
		draft.Becomes(g, "sendsms-interface", "`address`"),
		draft.Asks(g, "sendsms-url", "the path is /cgi-bin/sendsms: change it in the clients, or in a proxy"),
		draft.Asks(g, "sendota-url", "PMG has no sendota"),
		draft.Asks(g, "xmlrpc-url", "PMG has no xmlrpc"),
		draft.Leaves(g, "sendsms-chars", "numbers are checked: docs/kannel.md says which are taken"),
		draft.Becomes(g, "global-sender", "`rewrite` of accounts without another sender: `{in: source, default: …}`"),
		draft.Leaves(g, "log-file, log-level, syslog-level, syslog-facility", oneLog),
		draft.Leaves(g, "access-log", "the pdu log of the connector has each request and its answer"),
		draft.Leaves(g, "access-log-time", "the pdu log has times in UTC"),
		draft.Leaves(g, "access-log-clean", "the pdu log has its own form"),
		draft.Leaves(g, "sms-length", "long_messages of the connectors says how long texts are sent"),
		draft.Asks(g, "reply-couldnotfetch, reply-couldnotrepresent, reply-requestfailed, reply-emptymessage", replies),
		draft.Becomes(g, "allowed-prefix", "`rewrite`: `{in: destination, allow: […]}`"),
		draft.Becomes(g, "denied-prefix", "`rewrite`: `{in: destination, deny: […]}`"),
		draft.Asks(g, "white-list, black-list", listOfURL),
		draft.Asks(g, "white-list-regex, black-list-regex", regexRoute),
		draft.Leaves(g, "mo-recode", "webhooks have texts in UTF-8"),
		draft.Leaves(g, "http-request-retry", "calls are retried: retry of the connector, receipts.callback_validity"),
		draft.Leaves(g, "http-queue-delay", "retry of the connector has the pauses between calls"),
		draft.Leaves(g, "immediate-sendsms-reply", "the answer comes when the message is stored"),
		draft.Leaves(g, "max-pending-requests", "each server is called eight times at the same time, at most"),
		draft.Leaves(g, "http-timeout", "response_timeout of the connector, 60s when not given"),
	)
}

func user() []draft.Row {
	const g = "sendsms-user"
	return slices.Concat(
		draft.Leaves(g, "name", "the account's name is its username"),
		draft.Becomes(g, "username", "`accounts[].system_id`"),
		draft.Becomes(g, "password", "`accounts[].password`"),
		draft.Becomes(g, "user-allow-ip, user-deny-ip", "`accounts[].networks`"),
		draft.Becomes(g, "forced-smsc, default-smsc", "`routes` of the account"),
		draft.Becomes(g, "faked-sender", "`rewrite`: `{in: source, set: …}`"),
		draft.Becomes(g, "default-sender", "`rewrite`: `{in: source, default: …}`"),
		draft.Becomes(g, "max-messages", "`accounts[].max_parts`"),
		draft.Becomes(g, "concatenation", "`long_messages: split8` of the connectors"),
		draft.Leaves(g, "split-chars, split-suffix", "the mobile joins the parts of a long text"),
		draft.Leaves(g, "omit-empty", "an empty text is sent as it is"),
		draft.Asks(g, "header, footer", "PMG adds nothing to texts: let the client send it"),
		draft.Becomes(g, "allowed-prefix", "`rewrite`: `{in: destination, allow: […]}`"),
		draft.Becomes(g, "denied-prefix", "`rewrite`: `{in: destination, deny: […]}`"),
		draft.Asks(g, "white-list, black-list", listOfURL),
		draft.Becomes(g, "dlr-url", "`accounts[].callback_urls`"),
		draft.Asks(g, "allowed-prefix-regex, denied-prefix-regex, white-list-regex, black-list-regex", regexRoute),
	)
}

// service returns the rows of groups that get one comment as a whole.
func service() []draft.Row {
	return slices.Concat(
		whole(draft.Asks, "smsbox-route", fromMobile),
		whole(draft.Asks, "smpp-tlv",
			"parameters (TLVs) of SMPP clients pass without a definition; meta-data of sendsms is not sent. tlvs of a connector "+
				"adds or drops them"),
		whole(draft.Leaves, "modems", modem),
		whole(draft.Leaves, "wapbox, wap-url-map, wap-user-map, wtls, test-ppg, configuration, radius-acct", wap),
		whole(draft.Asks, "ppg, wap-push-user", wap),
		whole(draft.Asks, "ota-setting, ota-bookmark", "PMG has no sendota"),
		whole(draft.Leaves, "dlr-db, store-db, mysql-connection, pgsql-connection, oracle-connection, mssql-connection, "+
			"sqlite-connection, sqlite3-connection, sdb-connection, redis-connection, cassandra-connection", storeDir),
	)
}

// whole returns the rows of groups whose options all have the same reason.
func whole(row func(group, options, why string) []draft.Row, groups, why string) (rows []draft.Row) {
	for group := range strings.SplitSeq(groups, ", ") {
		rows = append(rows, row(group, "*", why)...)
	}
	return rows
}
