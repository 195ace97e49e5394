package kannel

import "pmg/cmd/pmg/migrate/draft"

// Reasons that several options have.
const (
	oneLog     = "PMG has one log (log.level), and a pdu log for each connector (pdulog)"
	oneProcess = "PMG is one process, without boxes that connect to it"
	listOfURL  = "PMG reads no lists from a URL: write allow or deny in rewrite"
	regexRoute = "routes and lists have prefixes: write destination of a route, or allow and deny in rewrite"
	storeDir   = "PMG always stores messages on disk (store.dir)"
	wap        = "PMG has no WAP"
	fromMobile = "messages from mobiles go to an account by a route, and to its webhook, with webhook_form: kannel-get " +
		"in the form of a get-url; see docs/migrate.md"
	modem   = "PMG has no modems"
	replies = "PMG answers no messages itself: with webhook_reply what a server replies is sent"
	x25     = "PMG speaks over TCP/IP only"
)

// Table returns what becomes of each option of the groups that are translated.
func Table() (all []draft.Row) {
	for _, rows := range [][]draft.Row{
		core(), coreLists(), smsbox(), user(), smscEverywhere(), smscRoutes(), smscSMPP(), smscHTTP(), smscOthers(),
		serviceRows(), service(),
	} {
		all = append(all, rows...)
	}
	return all
}

func core() []draft.Row {
	const g = "core"
	return []draft.Row{
		draft.Becomes(g, "admin-port", "`admin.address`"),
		draft.Becomes(g, "admin-interface", "`admin.address`"),
		draft.Asks(g, "admin-port-ssl", "the admin address is plain on loopback; give it admin.tls for others"),
		draft.Asks(
			g, "admin-password",
			"operators use admin.socket, or tokens at admin.address (pmg admin token); of admin-port PMG has /status "+
				"alone, with status_password",
		),
		draft.Becomes(g, "status-password", "`status_password` of the connector of sendsms, at whose address /status.xml, /status.txt and /status are"),
		draft.Leaves(g, "admin-deny-ip", "the admin address is on loopback"),
		draft.Asks(g, "admin-allow-ip", "the admin address is on loopback; for others give it admin.tokens and admin.tls"),
		draft.Leaves(g, "smsbox-port", oneProcess),
		draft.Leaves(g, "smsbox-port-ssl", oneProcess),
		draft.Leaves(g, "smsbox-interface", oneProcess),
		draft.Leaves(g, "smsbox-max-pending", "queues have max_queue of a connector"),
		draft.Leaves(g, "wapbox-port", wap),
		draft.Leaves(g, "wapbox-port-ssl", wap),
		draft.Leaves(g, "box-deny-ip", oneProcess),
		draft.Leaves(g, "box-allow-ip", oneProcess),
		draft.Leaves(g, "udp-deny-ip", wap),
		draft.Leaves(g, "udp-allow-ip", wap),
		draft.Leaves(g, "wdp-interface-name", wap),
		draft.Leaves(g, "log-file", oneLog),
		draft.Becomes(g, "log-level", "`log.level`"),
		draft.Leaves(g, "syslog-level", oneLog+"; systemd and others take it from there"),
		draft.Leaves(g, "syslog-facility", oneLog+"; systemd and others take it from there"),
		draft.Asks(g, "access-log", "events.dir and the pdu logs have other forms"),
		draft.Leaves(g, "access-log-time", "events have times in UTC"),
		draft.Asks(g, "access-log-format", "events are JSON: docs/events.md"),
		draft.Leaves(g, "access-log-clean", "events are JSON: docs/events.md"),
		draft.Leaves(g, "store-file", storeDir),
		draft.Leaves(g, "store-dump-freq", "a message is on disk before it is answered"),
		draft.Leaves(g, "store-type", storeDir),
		draft.Leaves(g, "store-location", storeDir),
		draft.Becomes(g, "unified-prefix", "`rewrite`: `{prefixes: […]}` of the connectors, or of the accounts where these have lists"),
		draft.Asks(g, "http-proxy-host", "PMG calls servers of clients and of SMSCs without a proxy"),
		draft.Leaves(g, "http-proxy-port", "the same as for http-proxy-host"),
		draft.Leaves(g, "http-proxy-ssl", "the same as for http-proxy-host"),
		draft.Leaves(g, "http-proxy-exceptions", "the same as for http-proxy-host"),
		draft.Leaves(g, "http-proxy-exceptions-regex", "the same as for http-proxy-host"),
		draft.Leaves(g, "http-proxy-username", "the same as for http-proxy-host"),
		draft.Leaves(g, "http-proxy-password", "the same as for http-proxy-host"),
		draft.Asks(
			g, "ssl-client-certkey-file",
			"calls of clients' servers have no certificate of ours; those of SMSCs have this one",
		),
		draft.Becomes(g, "ssl-server-cert-file", "`tls.certificate` with `sendsms-port-ssl`, and with `use-ssl` of HTTP"),
		draft.Becomes(g, "ssl-server-key-file", "`tls.key` with `sendsms-port-ssl`, and with `use-ssl` of HTTP"),
		draft.Becomes(g, "ssl-trusted-ca-file", "`tls.ca` of connectors with `use-ssl` (SMPP), or with https"),
		draft.Leaves(g, "ssl-client-cipher-list", "the ciphers of TLS 1.2 and 1.3 that are safe are taken"),
		draft.Leaves(g, "ssl-server-cipher-list", "the ciphers of TLS 1.2 and 1.3 that are safe are taken"),
		draft.Leaves(g, "dlr-storage", storeDir),
		draft.Leaves(g, "dlr-spool", storeDir),
		draft.Asks(g, "maximum-queue-length", "each connector has its max_queue"),
		draft.Asks(g, "sms-incoming-queue-limit", "each account has its rate and share, each connector its max_deliveries"),
		draft.Asks(g, "sms-outgoing-queue-limit", "each connector has its max_queue"),
		draft.Becomes(g, "sms-resend-freq", "`retry`"),
		draft.Becomes(g, "sms-resend-retry", "`retry`"),
		draft.Becomes(g, "sms-combine-concatenated-mo", "`long_messages: join`"),
		draft.Becomes(g, "sms-combine-concatenated-mo-timeout", "`limits.join_timeout`"),
		draft.Becomes(g, "http-timeout", "`response_timeout` of connectors to SMSCs with HTTP"),
	}
}

func coreLists() []draft.Row {
	const g = "core"
	return []draft.Row{
		draft.Asks(g, "white-list", listOfURL),
		draft.Asks(g, "white-list-regex", regexRoute),
		draft.Asks(g, "black-list", listOfURL),
		draft.Asks(g, "black-list-regex", regexRoute),
		draft.Asks(g, "white-list-sender", listOfURL),
		draft.Asks(g, "white-list-sender-regex", regexRoute),
		draft.Asks(g, "black-list-sender", listOfURL),
		draft.Asks(g, "black-list-sender-regex", regexRoute),
		draft.Asks(g, "white-list-receiver", listOfURL),
		draft.Asks(g, "white-list-receiver-regex", regexRoute),
		draft.Asks(g, "black-list-receiver", listOfURL),
		draft.Asks(g, "black-list-receiver-regex", regexRoute),
	}
}

func smsbox() []draft.Row {
	const g = "smsbox"
	return []draft.Row{
		draft.Leaves(g, "smsbox-id", oneProcess),
		draft.Leaves(g, "bearerbox-host", oneProcess),
		draft.Leaves(g, "bearerbox-port", oneProcess),
		draft.Leaves(g, "bearerbox-port-ssl", oneProcess),
		draft.Becomes(g, "sendsms-port", "`address` of a connector with `protocol: http`, `dialects: [kannel]`"),
		draft.Becomes(g, "sendsms-port-ssl", "`tls`"),
		draft.Becomes(g, "sendsms-interface", "`address`"),
		draft.Asks(g, "sendsms-url", "the path is /cgi-bin/sendsms: change it in the clients, or in a proxy"),
		draft.Asks(g, "sendota-url", "PMG has no sendota"),
		draft.Asks(g, "xmlrpc-url", "PMG has no xmlrpc"),
		draft.Leaves(g, "sendsms-chars", "numbers are checked: docs/kannel.md says which are taken"),
		draft.Becomes(g, "global-sender", "`rewrite` of accounts without another sender: `{in: source, default: …}`"),
		draft.Leaves(g, "log-file", oneLog),
		draft.Leaves(g, "log-level", oneLog),
		draft.Leaves(g, "syslog-level", oneLog),
		draft.Leaves(g, "syslog-facility", oneLog),
		draft.Leaves(g, "access-log", "the pdu log of the connector has each request and its answer"),
		draft.Leaves(g, "access-log-time", "the pdu log has times in UTC"),
		draft.Leaves(g, "access-log-clean", "the pdu log has its own form"),
		draft.Leaves(g, "sms-length", "long_messages of the connectors says how long texts are sent"),
		draft.Asks(g, "reply-couldnotfetch", replies),
		draft.Asks(g, "reply-couldnotrepresent", replies),
		draft.Asks(g, "reply-requestfailed", replies),
		draft.Asks(g, "reply-emptymessage", replies),
		draft.Becomes(g, "allowed-prefix", "`rewrite`: `{in: destination, allow: […]}`"),
		draft.Becomes(g, "denied-prefix", "`rewrite`: `{in: destination, deny: […]}`"),
		draft.Asks(g, "white-list", listOfURL),
		draft.Asks(g, "black-list", listOfURL),
		draft.Asks(g, "white-list-regex", regexRoute),
		draft.Asks(g, "black-list-regex", regexRoute),
		draft.Leaves(g, "mo-recode", "webhooks have texts in UTF-8"),
		draft.Leaves(g, "http-request-retry", "calls are retried: retry of the connector, receipts.callback_validity"),
		draft.Leaves(g, "http-queue-delay", "retry of the connector has the pauses between calls"),
		draft.Leaves(g, "immediate-sendsms-reply", "the answer comes when the message is stored"),
		draft.Leaves(g, "max-pending-requests", "each server is called eight times at the same time, at most"),
		draft.Leaves(g, "http-timeout", "response_timeout of the connector, 60s when not given"),
	}
}

func user() []draft.Row {
	const g = "sendsms-user"
	return []draft.Row{
		draft.Leaves(g, "name", "the account's name is its username"),
		draft.Becomes(g, "username", "`accounts[].system_id`"),
		draft.Becomes(g, "password", "`accounts[].password`"),
		draft.Becomes(g, "user-allow-ip", "`accounts[].networks`"),
		draft.Becomes(g, "user-deny-ip", "`accounts[].networks`"),
		draft.Becomes(g, "forced-smsc", "`routes` of the account"),
		draft.Becomes(g, "default-smsc", "`routes` of the account"),
		draft.Becomes(g, "faked-sender", "`rewrite`: `{in: source, set: …}`"),
		draft.Becomes(g, "default-sender", "`rewrite`: `{in: source, default: …}`"),
		draft.Becomes(g, "max-messages", "`accounts[].max_parts`"),
		draft.Becomes(g, "concatenation", "`long_messages: split8` of the connectors"),
		draft.Leaves(g, "split-chars", "the mobile joins the parts of a long text"),
		draft.Leaves(g, "split-suffix", "the mobile joins the parts of a long text"),
		draft.Leaves(g, "omit-empty", "an empty text is sent as it is"),
		draft.Asks(g, "header", "PMG adds nothing to texts: let the client send it"),
		draft.Asks(g, "footer", "PMG adds nothing to texts: let the client send it"),
		draft.Becomes(g, "allowed-prefix", "`rewrite`: `{in: destination, allow: […]}`"),
		draft.Becomes(g, "denied-prefix", "`rewrite`: `{in: destination, deny: […]}`"),
		draft.Asks(g, "white-list", listOfURL),
		draft.Asks(g, "black-list", listOfURL),
		draft.Becomes(g, "dlr-url", "`accounts[].callback_urls`"),
		draft.Asks(g, "allowed-prefix-regex", regexRoute),
		draft.Asks(g, "denied-prefix-regex", regexRoute),
		draft.Asks(g, "white-list-regex", regexRoute),
		draft.Asks(g, "black-list-regex", regexRoute),
	}
}

// service returns the rows of groups that are told as a whole.
func service() []draft.Row {
	return []draft.Row{
		draft.Asks("smsbox-route", "*", fromMobile),
		draft.Asks(
			"smpp-tlv", "*",
			"parameters (TLVs) of SMPP clients pass without a definition; meta-data of sendsms is not sent. tlvs of a "+
				"connector adds or drops them",
		),
		draft.Leaves("modems", "*", modem),
		draft.Leaves("wapbox", "*", wap),
		draft.Leaves("wap-url-map", "*", wap),
		draft.Leaves("wap-user-map", "*", wap),
		draft.Leaves("wtls", "*", wap),
		draft.Asks("ppg", "*", wap),
		draft.Asks("wap-push-user", "*", wap),
		draft.Leaves("test-ppg", "*", wap),
		draft.Leaves("configuration", "*", wap),
		draft.Leaves("radius-acct", "*", wap),
		draft.Asks("ota-setting", "*", "PMG has no sendota"),
		draft.Asks("ota-bookmark", "*", "PMG has no sendota"),
		draft.Leaves("dlr-db", "*", storeDir),
		draft.Leaves("store-db", "*", storeDir),
		draft.Leaves("mysql-connection", "*", storeDir),
		draft.Leaves("pgsql-connection", "*", storeDir),
		draft.Leaves("oracle-connection", "*", storeDir),
		draft.Leaves("mssql-connection", "*", storeDir),
		draft.Leaves("sqlite-connection", "*", storeDir),
		draft.Leaves("sqlite3-connection", "*", storeDir),
		draft.Leaves("sdb-connection", "*", storeDir),
		draft.Leaves("redis-connection", "*", storeDir),
		draft.Leaves("cassandra-connection", "*", storeDir),
	}
}
