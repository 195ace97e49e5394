package kannel

import "pmg/cmd/pmg/migrate/draft"

func smscEverywhere() []draft.Row {
	const g = "smsc"
	return []draft.Row{
		draft.Becomes(g, "smsc", "`protocol`"),
		draft.Becomes(g, "smsc-id", "`name`, `public_name`, `operator`"),
		draft.Leaves(g, "smsc-admin-id", "instances have numbers: pmg sessions, pmg kick"),
		draft.Becomes(g, "host", "`address`"),
		draft.Becomes(g, "port", "`address`; of HTTP a second connector that `callbacks.listener` names"),
		draft.Becomes(g, "smsc-username", "`system_id`"),
		draft.Becomes(g, "system-id", "`system_id`"),
		draft.Becomes(g, "smsc-password", "`password`"),
		draft.Becomes(g, "instances", "`instances`"),
		draft.Becomes(g, "throughput", "`rate`"),
		draft.Becomes(g, "reconnect-delay", "`reconnect_delay`"),
		draft.Becomes(g, "no-dlr", "`receipts: never`"),
		draft.Becomes(g, "my-number", "`rewrite`: `{in: destination, set: …}`"),
		draft.Becomes(g, "wait-ack", "`response_timeout`"),
		draft.Becomes(g, "wait-ack-expire", "`on_unknown`"),
		draft.Becomes(g, "unified-prefix", "`rewrite`: `{prefixes: […]}`"),
		draft.Becomes(g, "alt-charset", "`charset`; of HTTP `{content}` in `url` for UTF-8"),
		draft.Becomes(g, "validityperiod", "`validity` of the connector that clients use"),
		draft.Asks(g, "our-host", "the system chooses the address that it connects from"),
		draft.Asks(g, "our-port", "the system chooses the port that it connects from"),
		draft.Leaves(g, "log-file", oneLog),
		draft.Leaves(g, "log-level", oneLog),
		draft.Leaves(g, "log-format", oneLog),
		draft.Leaves(g, "alt-dcs", "the protocol of the SMSC decides how the coding is written"),
		draft.Becomes(g, "max-sms-octets", "`long_messages`"),
		draft.Asks(g, "dead-start", "connectors connect when PMG starts: pmg hold keeps messages from leaving by one"),
		draft.Leaves(g, "max-error-count", "a session that fails is opened again"),
	}
}

func smscRoutes() []draft.Row {
	const g = "smsc"
	return []draft.Row{
		draft.Becomes(g, "denied-smsc-id", "`routes`"),
		draft.Becomes(g, "allowed-smsc-id", "`routes`"),
		draft.Becomes(g, "preferred-smsc-id", "`routes`"),
		draft.Becomes(g, "allowed-prefix", "`routes`"),
		draft.Becomes(g, "denied-prefix", "`routes`"),
		draft.Becomes(g, "preferred-prefix", "`routes`"),
		draft.Asks(g, "denied-smsc-id-regex", regexRoute),
		draft.Asks(g, "allowed-smsc-id-regex", regexRoute),
		draft.Asks(g, "preferred-smsc-id-regex", regexRoute),
		draft.Asks(g, "allowed-prefix-regex", regexRoute),
		draft.Asks(g, "denied-prefix-regex", regexRoute),
		draft.Asks(g, "preferred-prefix-regex", regexRoute),
		draft.Asks(g, "reroute", "write a route with from and the name of this connector"),
		draft.Asks(g, "reroute-smsc-id", "write a route with from and the name of this connector"),
		draft.Asks(g, "reroute-receiver", "write routes with from, the name of this connector, and destination"),
		draft.Leaves(g, "reroute-dlr", "receipts go to the account that has sent the message"),
	}
}

func smscSMPP() []draft.Row {
	const g = "smsc"
	return []draft.Row{
		draft.Becomes(g, "receive-port", "a second connector with `bind: receiver` (SMPP) or `listen` (UCP), and the same `operator`"),
		draft.Becomes(g, "transceiver-mode", "`bind`"),
		draft.Becomes(g, "system-type", "`system_type` (SMPP), `preset` or `url` (HTTP)"),
		draft.Becomes(g, "interface-version", "`version`"),
		draft.Becomes(g, "address-range", "`address_range`"),
		draft.Becomes(g, "enquire-link-interval", "`enquire_interval`"),
		draft.Becomes(g, "max-pending-submits", "`window`"),
		draft.Becomes(g, "msg-id-type", "`receipt_ids`"),
		draft.Becomes(g, "source-addr-ton", "`rewrite`: `{out: source, ton: …}`"),
		draft.Becomes(g, "source-addr-npi", "`rewrite`: `{out: source, npi: …}`"),
		draft.Becomes(g, "source-addr-autodetect", "`rewrite`: `match` of that rule"),
		draft.Becomes(g, "dest-addr-ton", "`rewrite`: `{out: destination, ton: …}`"),
		draft.Becomes(g, "dest-addr-npi", "`rewrite`: `{out: destination, npi: …}`"),
		draft.Becomes(g, "use-ssl", "`tls`; of HTTP that of the connector that listens"),
		draft.Becomes(g, "ssl-client-certkey-file", "`tls.certificate`, `tls.key`"),
		draft.Asks(g, "bind-addr-ton", "the login has type of number 0"),
		draft.Asks(g, "bind-addr-npi", "the login has numbering plan 0"),
		draft.Asks(g, "service-type", "PMG sends no service_type of its own: ask the operator whether it is needed"),
		draft.Leaves(g, "esm-class", "PMG asks for the SMSC's default mode, which stores and forwards nearly everywhere"),
		draft.Asks(g, "priority", "messages have the priority that clients give them"),
		draft.Leaves(g, "connection-timeout", "a peer that does not answer a keep-alive (enquire_interval) is disconnected"),
		draft.Asks(g, "alt-addr-charset", "names of senders are sent as they came: ASCII is safe"),
	}
}

// smscOthers returns the rows of options of other protocols than SMPP.
func smscOthers() []draft.Row {
	const g = "smsc"
	rows := []draft.Row{
		draft.Becomes(g, "alt-host", "`addresses`"),
		draft.Becomes(g, "alt-port", "`addresses`"),
		draft.Becomes(g, "keepalive", "`enquire_interval`"),
		draft.Becomes(g, "idle-timeout", "`idle_max`, `static: false`"),
		draft.Becomes(g, "flow-control", "`window`"),
		draft.Becomes(g, "window", "`window`"),
		draft.Becomes(g, "connect-allow-ip", "`networks` of the connector with `listen` (UCP), or `callbacks.networks` (HTTP)"),
		draft.Asks(g, "our-receiver-port", "the system chooses the port that it connects from"),
		draft.Leaves(g, "appname", "Kannel alone uses it"),
		draft.Asks(g, "notification-pid", "notifications come by the session that has sent the message: docs/ucp-conformance.md"),
		draft.Asks(
			g, "notification-addr", "notifications come by the session that has sent the message: docs/ucp-conformance.md",
		),
		draft.Leaves(g, "sender-prefix", "CIMD2 has it alone"),
	}
	for _, name := range []string{
		"sim-buffering", "modemtype", "modem-type", "speed", "pin", "sms-center", "login-prompt", "password-prompt",
	} {
		rows = append(rows, draft.Leaves(g, name, modem))
	}
	for _, name := range []string{
		"device", "phone", "smsc_nua", "home_nua", "wait_report", "ois-debug-level", "ussdc", "session-length",
	} {
		rows = append(rows, draft.Leaves(g, name, x25))
	}
	return rows
}
