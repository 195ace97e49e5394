package jasmin

import (
	"slices"

	"pmg/cmd/pmg/migrate/draft"
)

// The groups of the table.
const (
	smppccm = "smppccm"
	user    = "user"
)

// Reasons that several options have.
const (
	oneLog = "PMG has one log (log.level), and a pdu log for each connector (pdulog)"
	money  = "write the rates into a list (prices, docs/prices.md), give accounts prices and balance: {mode: prepaid}, and " +
		"enter what they have with pmg credit add ACCOUNT AMOUNT"
	filters = "lists of PMG have prefixes: write these as allow and deny in rewrite"
)

// Table returns the translation of each option.
func Table() []draft.Row { return append(connectorRows(), userRows()...) }

func connectorRows() []draft.Row {
	const g = smppccm
	return slices.Concat(
		draft.Becomes(g, "cid", "`name`, `public_name`"),
		draft.Becomes(g, "host, port", "`address`"),
		draft.Becomes(g, "username", "`system_id`"),
		draft.Becomes(g, "password", "`password`"),
		draft.Becomes(g, "systype", "`system_type`"),
		draft.Becomes(g, "bind", "`bind`"),
		draft.Becomes(g, "bind_to", "`bind_timeout`"),
		draft.Becomes(g, "res_to", "`response_timeout`"),
		draft.Becomes(g, "elink_interval", "`enquire_interval`"),
		draft.Becomes(g, "con_loss_delay, con_fail_delay", "`reconnect_delay`"),
		draft.Becomes(g, "submit_throughput", "`rate`"),
		draft.Becomes(g, "src_ton", "`rewrite`: `{out: source, ton: …}`"),
		draft.Becomes(g, "src_npi", "`rewrite`: `{out: source, npi: …}`"),
		draft.Becomes(g, "dst_ton", "`rewrite`: `{out: destination, ton: …}`"),
		draft.Becomes(g, "dst_npi", "`rewrite`: `{out: destination, npi: …}`"),
		draft.Becomes(g, "src_addr", "`rewrite`: `{out: source, default: …}`"),
		draft.Becomes(g, "addr_range", "`address_range`"),
		draft.Becomes(g, "dlr_msgid", "`receipt_ids`"),
		draft.Becomes(g, "dlr_expiry", "`receipts.keep`, where it is longer than a week"),
		draft.Becomes(g, "ssl", "`tls`"),
		draft.Leaves(g, "requeue_delay",
			"messages wait until there is a session; retry has the pauses after the SMSC has refused one"),
		draft.Asks(g, "con_loss_retry, con_fail_retry", "sessions are always opened again: pmg hold keeps messages from leaving"),
		draft.Leaves(g, "trx_to", "a peer that does not answer a keep-alive (enquire_interval) is disconnected"),
		draft.Leaves(g, "pdu_red_to", "limits.pdu_timeout is for all peers"),
		draft.Leaves(g, "logfile, logrotate, loglevel", oneLog),
		draft.Leaves(g, "logprivacy", "pdulog.text: false keeps texts out of all pdu logs"),
		draft.Asks(g, "coding", "texts are in the coding that the client names; charset says what the SMSC means by coding 0"),
		draft.Becomes(g, "priority", "`submit.priority`"),
		draft.Asks(g, "validity", "validity of PMG is an option of accounts, and of the connectors that clients use"),
		draft.Becomes(g, "proto_id", "`submit.protocol_id`"),
		draft.Asks(g, "ripf, def_msg_id", "messages have what clients give them"),
		draft.Becomes(g, "bind_ton", "`bind_ton`"),
		draft.Becomes(g, "bind_npi", "`bind_npi`"),
		draft.Asks(g, "custom_tlvs", "tlvs of the connector adds parameters (TLVs): {out: add, tlv: …, value: …}"),
	)
}

func userRows() []draft.Row {
	const g, mt = user, "mt_messaging_cred "
	rows := slices.Concat(
		draft.Leaves(g, "uid", "an account is known by its username"),
		draft.Leaves(g, "gid", "PMG has no groups: routes of a group are written for each of its users"),
		draft.Becomes(g, "username", "`accounts[].system_id`"),
		draft.Becomes(g, mt+"authorization http_send, "+mt+"authorization smpps_send, smpps_cred authorization bind",
			"`accounts[].connectors`"),
		draft.Becomes(g, mt+"valuefilter dst_addr", "`rewrite`: `{in: destination, allow: […]}`"),
		draft.Becomes(g, mt+"valuefilter src_addr", "`rewrite`: `{in: source, allow: […]}`"),
		draft.Becomes(g, mt+"defaultvalue src_addr", "`rewrite`: `{in: source, default: …}`"),
		draft.Becomes(g, mt+"quota http_throughput, "+mt+"quota smpps_throughput", "`accounts[].rate`"),
		draft.Becomes(g, "smpps_cred quota max_bindings", "`accounts[].max_sessions`"),
		draft.Asks(g, mt+"quota balance, "+mt+"quota sms_count, "+mt+"quota early_percent", money),
		draft.Asks(g, mt+"valuefilter priority", filters),
		draft.Asks(g, mt+"valuefilter content", "PMG does not filter texts"),
		draft.Asks(g, mt+"valuefilter validity_period", "max_validity of the account is the longest validity"),
		draft.Asks(g, mt+"authorization http_long_content", "max_parts: 1 refuses long texts"),
	)
	for _, name := range []string{
		"http_balance", "http_rate", "http_bulk", "dlr_level", "http_dlr_method", "src_addr", "priority", "validity_period",
		"schedule_delivery_time", "hex_content",
	} {
		const why = "PMG has no such right: clients may do this, or no client may"
		rows = append(rows, draft.Asks(g, mt+"authorization "+name, why)...)
	}
	return rows
}
