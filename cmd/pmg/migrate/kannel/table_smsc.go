package kannel

import (
	"slices"

	"pmg/cmd/pmg/migrate/draft"
)

func smscEverywhere() []draft.Row {
	const g = "smsc"
	return slices.Concat(
		draft.Becomes(g, "smsc", "`protocol`"),
		draft.Becomes(g, "smsc-id", "`name`, `public_name`, `operator`"),
		draft.Leaves(g, "smsc-admin-id", "instances have numbers: pmg sessions, pmg kick"),
		draft.Becomes(g, "host", "`address`"),
		draft.Becomes(g, "port", "`address`; of HTTP a second connector that `callbacks.listener` names"),
		draft.Becomes(g, "smsc-username, system-id", "`system_id`"),
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
		draft.Asks(g, "our-port, our-receiver-port", "the system chooses the port that it connects from"),
		draft.Leaves(g, "log-file, log-level, log-format", oneLog),
		draft.Leaves(g, "alt-dcs", "the protocol of the SMSC decides how the coding is written"),
		draft.Becomes(g, "max-sms-octets", "`long_messages`"),
		draft.Asks(g, "dead-start", "connectors connect when PMG starts: pmg hold keeps messages from leaving by one"),
		draft.Leaves(g, "max-error-count", "a session that fails is opened again"),
	)
}

func smscRoutes() []draft.Row {
	const g = "smsc"
	return slices.Concat(
		draft.Becomes(g, "denied-smsc-id, allowed-smsc-id, preferred-smsc-id, allowed-prefix, denied-prefix, preferred-prefix",
			"`routes`"),
		draft.Asks(g, "denied-smsc-id-regex, allowed-smsc-id-regex, preferred-smsc-id-regex, allowed-prefix-regex, "+
			"denied-prefix-regex, preferred-prefix-regex", regexRoute),
		draft.Asks(g, "reroute, reroute-smsc-id", "write a route with from and the name of this connector"),
		draft.Asks(g, "reroute-receiver", "write routes with from, the name of this connector, and destination"),
		draft.Leaves(g, "reroute-dlr", "receipts go to the account that has sent the message"),
	)
}

func smscSMPP() []draft.Row {
	const g = "smsc"
	return slices.Concat(
		draft.Becomes(g, "receive-port",
			"a second connector with `bind: receiver` (SMPP) or `listen` (UCP), and the same `operator`"),
		draft.Becomes(g, "transceiver-mode", "`bind`"),
		draft.Becomes(g, "system-type", "`system_type` (SMPP), `preset` or `url` (HTTP)"),
		draft.Becomes(g, "interface-version", "`version`"),
		draft.Becomes(g, "address-range", "`address_range`"),
		draft.Becomes(g, "enquire-link-interval, keepalive", "`enquire_interval`"),
		draft.Becomes(g, "max-pending-submits, flow-control, window", "`window`"),
		draft.Becomes(g, "msg-id-type", "`receipt_ids`"),
		draft.Becomes(g, "source-addr-ton", "`rewrite`: `{out: source, ton: …}`"),
		draft.Becomes(g, "source-addr-npi", "`rewrite`: `{out: source, npi: …}`"),
		draft.Becomes(g, "source-addr-autodetect", "`rewrite`: `match` of that rule"),
		draft.Becomes(g, "dest-addr-ton", "`rewrite`: `{out: destination, ton: …}`"),
		draft.Becomes(g, "dest-addr-npi", "`rewrite`: `{out: destination, npi: …}`"),
		draft.Becomes(g, "use-ssl", "`tls`; of HTTP that of the connector that listens"),
		draft.Becomes(g, "ssl-client-certkey-file", "`tls.certificate`, `tls.key`"),
		draft.Becomes(g, "bind-addr-ton", "`bind_ton`"),
		draft.Becomes(g, "bind-addr-npi", "`bind_npi`"),
		draft.Becomes(g, "service-type", "`submit.service_type`"),
		draft.Becomes(g, "esm-class", "`submit.mode`; without it PMG asks for the SMSC's default mode, which is Kannel's nearly everywhere"),
		draft.Becomes(g, "priority", "`submit.priority`"),
		draft.Leaves(g, "connection-timeout", "a peer that does not answer a keep-alive (enquire_interval) is disconnected"),
		draft.Asks(g, "alt-addr-charset", "names of senders are sent as they came: ASCII is safe"),
	)
}

// smscOthers returns the rows of the options of all protocols but SMPP.
func smscOthers() []draft.Row {
	const g = "smsc"
	return slices.Concat(
		draft.Becomes(g, "alt-host, alt-port", "`addresses`"),
		draft.Becomes(g, "idle-timeout", "`idle_max`, `static: false`"),
		draft.Becomes(g, "connect-allow-ip", "`networks` of the connector with `listen` (UCP), or `callbacks.networks` (HTTP)"),
		draft.Leaves(g, "appname", "only Kannel has it"),
		draft.Asks(g, "notification-pid, notification-addr",
			"notifications come by the session that has sent the message: docs/ucp-conformance.md"),
		draft.Leaves(g, "sender-prefix", "only CIMD2 has it"),
		draft.Leaves(g, "sim-buffering, modemtype, modem-type, speed, pin, sms-center, login-prompt, password-prompt", modem),
		draft.Leaves(g, "device, phone, smsc_nua, home_nua, wait_report, ois-debug-level, ussdc, session-length", x25),
	)
}
