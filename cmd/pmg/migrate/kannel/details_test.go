package kannel

import (
	"strings"
	"testing"
)

const (
	core1  = "group = core\nadmin-port = 1\n"
	smpp1  = "\ngroup = smsc\nsmsc = smpp\nsmsc-id = a\nhost = h\nsmsc-username = u\nsmsc-password = p\n"
	smpp2  = "\ngroup = smsc\nsmsc = smpp\nsmsc-id = b\nhost = i\nsmsc-username = u\nsmsc-password = p\n"
	emi1   = "\ngroup = smsc\nsmsc = emi\nsmsc-id = e\nhost = h\nport = 6\n"
	next1  = "\ngroup = smsc\nsmsc = http\nsystem-type = kannel\nsmsc-id = k\nsmsc-username = u\nsmsc-password = p\nsend-url = \"http://h:1/cgi-bin/sendsms\"\n"
	any1   = "\ngroup = smsc\nsmsc = http\nsystem-type = generic\nsmsc-id = g\nstatus-success-regex = ok\nsend-url = "
	box1   = "\ngroup = smsbox\nsendsms-port = 13013\n"
	user1  = "\ngroup = sendsms-user\nusername = one\n"
	secret = "password = p\n"
)

// Each option says what it says in Kannel; what cannot be said needs a decision. A want that begins with '!' must not be there.
func TestDetails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text  string
		wants []string
	}{
		{smpp1 + "port = 1\ninterface-version = 50\n", []string{`version: "5.0"`, "bind: transmitter", "static: true", "!DECIDE: interface"}},
		{smpp1 + "port = 1\ninterface-version = 35\n", []string{"DECIDE: interface-version", "!version:"}},
		{smpp1 + "receive-port = 2\n", []string{"bind: receiver", `address: "h:2"`, "!bind: transmitter", "!window"}},
		{smpp1 + "receive-port = 2\ntransceiver-mode = 1\n", []string{"bind: transceiver", `address: "h:2"`, "!static"}},
		{smpp1 + "port = x\n", []string{"DECIDE: port = \"x\" is not a number", "address is left out", "!address:"}},
		{smpp1 + "port = 1\nport = 2\n", []string{"port is given twice", `address: "h:2"`, `!"h:1"`}},
		{smpp1 + "port = 1\nmsg-id-type = 2\n", []string{"receipt_ids: hexadecimal"}},
		{smpp1 + "port = 1\nmsg-id-type = 3\n", []string{"receipt_ids: same"}},
		{smpp1 + "port = 1\nalt-charset = klingon\n", []string{"DECIDE: alt-charset", "!charset:"}},
		{smpp1 + "port = 1\nwait-ack-expire = 2\n", []string{"DECIDE: wait-ack-expire", "!on_unknown: resend"}},
		{smpp1 + "port = 1\nsource-addr-ton = 1\n", []string{"DECIDE: source-addr-ton", "!rewrite"}},
		{smpp1 + "port = 1\nsource-addr-ton = 1\nsource-addr-npi = 1\nsource-addr-autodetect = no\n", []string{`{out: source, ton: "1", npi: "1"}`, "!DECIDE: source"}},
		{smpp1 + "port = 1\nthroughput = 0.5\n", []string{"rate: 1", "DECIDE: throughput = 0.5"}},
		{smpp1 + "port = 1\nthroughput = 1e400\n", []string{"DECIDE: throughput", "!rate:"}},
		{smpp1 + "port = 1\nuse-ssl = 1\nssl-client-certkey-file = c.pem\n", []string{`certificate: "c.pem", key: "c.pem"`, "DECIDE: use-ssl"}},
		{smpp1 + "port = 1\nuse-ssl = 1\n\n" + core1 + "ssl-trusted-ca-file = ca.pem\n", []string{`ca: "ca.pem"`, "!DECIDE: use-ssl"}},
		{smpp1 + "port = 1\nsmsc-password = \"top secret\"\nkeepalive = 7\n", []string{`keepalive = "7": has no effect`, `password: "top secret"`}},
		{"\ngroup = smsc\nsmsc = smpp\nhost = h\nport = 1\nsystem-id = old\n\ngroup = smsc\nsmsc = smpp\nhost = h\nport = 2\nsystem-id = old\n",
			[]string{`name: "smpp"`, `name: "smpp-2"`, `system_id: "old"`, "!operator", "!smsc-id"}},

		{box1 + smpp1 + "port = 1\nvalidityperiod = 7\n" + smpp2 + "port = 1\nvalidityperiod = 7\n", []string{"validity: 7m", "!DECIDE: validityperiod"}},
		{box1 + smpp1 + "port = 1\nvalidityperiod = 7\n" + smpp2 + "port = 1\nvalidityperiod = 8\n", []string{"!validity: ", "DECIDE: validityperiod = 7", "DECIDE: validityperiod = 8"}},
		{box1 + smpp1 + "port = 1\nvalidityperiod = 7\n" + smpp2 + "port = 1\n", []string{"!validity: ", "DECIDE: validityperiod = 7"}},
		{core1 + "unified-prefix = \"+46,0\"\n" + box1, []string{`{in: destination, prefixes: ["+46", "0=+46"]}`}},
		{core1 + "sms-resend-retry = 0\n" + smpp1 + "port = 1\n", []string{"retry: []"}},
		{core1 + "sms-resend-retry = -1\n" + smpp1 + "port = 1\n", []string{`retry: ["60s", "repeat"]`}},
		{core1 + "sms-resend-retry = 3\nsms-resend-freq = 5\n" + smpp1 + "port = 1\n", []string{`retry: ["5s", "5s", "5s"]`}},
		{core1 + smpp1 + "port = 1\n", []string{"!retry"}},
		{core1 + "sms-resend-retry = 100\n" + smpp1 + "port = 1\n", []string{`retry: ["60s", "repeat"]`, "sms-resend-retry = 100: a message"}},
		{core1 + "sms-resend-freq = 5\n" + smpp1 + "port = 1\n", []string{`retry: ["5s", "repeat"]`}},
		{smpp1 + "port = 1\n" + smpp1 + "port = 1\n", []string{"instances: 2", "!operator", `!name: "a-2"`}},
		{smpp1 + "port = 1\n" + smpp1 + "port = 1\nthroughput = 5\n", []string{"!instances", `name: "a-2"`, `operator: "a"`, "rate: 5"}},
		{smpp1 + "port = 1\n" + smpp1 + "port = 1\nmsg-id-type = 2\n", []string{`name: "a-2"`, "!operator: \"a\"", "DECIDE: smsc-id"}},
		{core1 + "\n" + core1, []string{"DECIDE: group core in kannel.conf:4: there is one already"}},
		{core1 + "status-password = look\n" + box1, []string{`status_password: "look"`, "not at that of admin-port", "!DECIDE: status", "!has no effect"}},
		{core1 + "status-password = look\n" + smpp1, []string{"DECIDE: status-password: /status needs a connector", "!status_password:", "!look"}},
		{core1 + "sms-combine-concatenated-mo = no\n" + box1, []string{"!long_messages: join"}},
		{box1 + "sendsms-port-ssl = 1\n\n" + core1 + "ssl-server-cert-file = c.pem\nssl-server-key-file = k.pem\n", []string{`tls: {certificate: "c.pem", key: "k.pem", min_version: "1.2"}`}},
		{"group = smsbox\nsendsms-port = x\n\n" + user1 + secret, []string{"DECIDE: sendsms-port", "DECIDE: no smsbox has a sendsms-port"}},

		{emi1 + "smsc-username = u\nalt-port = 7\n", []string{`addresses: ["h:6", "h:7"]`, "!login", "window: 99", "enquire_interval: 0s"}},
		{emi1 + "alt-host = i\nmy-number = 9\n", []string{`addresses: ["h:6", "i:6"]`, "login: none", `system_id: "9"`}},
		{emi1, []string{"DECIDE: smsc-username and my-number are missing"}},
		{emi1 + "smsc-username = u\nidle-timeout = 60\n", []string{"idle_max: 60s", "static: false"}},
		{emi1 + "smsc-username = u\nreceive-port = 7\n", []string{"static: true", `listen: "0.0.0.0:7"`, "DECIDE: connect-allow-ip", `operator: "e"`}},
		{emi1 + "smsc-username = u\nwindow = 5\n", []string{"window: 5"}},

		{next1, []string{`preset: kannel url: "http://h:1" system_id: "u" password: "p"`, "DECIDE: it has no port", "!callbacks: {", "!answers"}},
		{next1 + "port = 5\n", []string{`listener: "k-callbacks", secret: "p", networks: ["127.0.0.1/32"], reply: "Sent."`, `address: "0.0.0.0:5"`, "DECIDE: it has no dlr-url", "DECIDE: port = 5", "!DECIDE: it has no port"}},
		{next1 + "port = 5\ndlr-url = \"https://d:6/x?y=z\"\nconnect-allow-ip = \"10.0.0.*;x\"\n", []string{`url: "https://d:6", secret`, `networks: ["10.0.0.0/24"]`, `"x" is no address`, "!DECIDE: it has no dlr-url"}},
		{next1 + "no-sender = yes\n", []string{`url: "http://h:1/cgi-bin/sendsms?username={username}`, "!from={from}", "coding={coding}", "text={data}&"}},
		{next1 + "send-url = \"http://a:b@h/{x}\"\n", []string{`headers: ["Authorization: Basic YTpi"]`, `url: "http://h/%7Bx%7D?username`}},
		{next1 + "alt-charset = UTF-8\n", []string{"DECIDE: alt-charset", "preset: kannel"}},
		{next1 + "max-sms-octets = 1000\n", []string{"long_messages: join", "sent whole"}},
		{next1 + "max-sms-octets = 70\n", []string{"DECIDE: max-sms-octets", "!long_messages"}},
		{next1 + "smsc-password = \"\"\n", []string{"DECIDE: smsc-username or smsc-password is missing"}},
		{next1 + "max-pending-submits = 3\nno-dlr = 1\nconnect-allow-ip = 10.0.0.1\nmy-number = 4\n", []string{"window: 3", "receipts: never", `connect-allow-ip = "10.0.0.1": has no effect`, `{in: destination, set: "4"}`}},
		{core1 + "http-timeout = 7\nssl-client-certkey-file = c.pem\n" + next1 + "send-url = \"https://h/cgi-bin/sendsms\"\n", []string{"response_timeout: 7s", `tls: {min_version: "1.2", certificate: "c.pem", key: "c.pem"}`, "DECIDE: a send-url with https"}},
		{any1 + "\"http://h/?to=%p&t=%b\"\n", []string{`url: "http://h/?to={to}&t={data}"`, `success: {body: "ok"}`, "otherwise: permanent", "no user data header", "!callbacks", "!DECIDE", "!long_messages:"}},
		{any1 + "\"http://h/?to=%q&t=%a&u=%u&k=%k&%#g#k#=1\"\n", []string{`url: "http://h/?to={to}&t={data}&u={udh}"`, `{out: destination, strip: "00", ton: "1", npi: "1"}`, "DECIDE: k=%k of send-url", "DECIDE: % g k =1 of send-url: templates have no field for % g k (meta-data)", "one space between words", "!no user data header"}},
		{any1 + "\"http://h/%p/%n/%q\"\n", []string{`url: "http://h/{to}//{to}"`, "DECIDE: %n (the name of the account) in the path", "DECIDE: send-url has %q as well as %p", "!rewrite"}},
		{any1 + "\"http://h/?x=%d\"\n", []string{"DECIDE: send-url lacks the recipient", "DECIDE: %d of send-url is {dlr_mask}"}},
		{any1 + "\"h:1/?to=%p\"\n", []string{"DECIDE: send-url = \"h:1/?to=%p\": url must begin"}},
		{any1 + "\"http://a:b@h/?to=%p\"\nuse-post = 1\n", []string{`url: "http://h/" system_id: "a" password: "b" request: {form: "to={to}", login: basic}`}},
		{any1 + "\"http://h/%p\"\nuse-post = 1\n", []string{"request: {method: POST}"}},
		{any1 + "\"http://h/%p?c=%c&C=%C&t=%b\"\nalt-charset = utf8\n", []string{`c={text?-1}{binary?1}&C={text?UTF-8}{binary?8-BIT}&t={content}`, "!DECIDE: alt-charset"}},
		{any1 + "\"http://h/%p\"\nalt-charset = ISO-8859-1\n", []string{"DECIDE: alt-charset"}},
		{any1 + "\"http://h/%p/%I\"\nport = 5\nuse-ssl = 1\n" + core1 + "ssl-server-cert-file = c\nssl-server-key-file = k\n", []string{"{to}/{id}", "where Kannel writes a UUID", `tls: {certificate: "c", key: "k", min_version: "1.2"}`, `id: "dlr-mid", state: "dlr-mask"`, `reply: "Sent"`, "!secret:"}},
		{any1 + "\"http://h/%p/%I\"\nport = 5\ngeneric-foreign-id-regex = \"(a)\"\nsmsc-username = u\nsmsc-password = p\n", []string{"{to}/{uuid}", `id: {body: "(a)"}`, `secret: "p"`}},
		{any1 + "\"http://h/%p\"\nport = 5\nconnect-allow-ip = \"*.*.*.*\"\ngeneric-message-sent = \"ID %I\"\n", []string{`networks: ["0.0.0.0/0", "::/0"]`, "DECIDE: connect-allow-ip allows all addresses", "DECIDE: generic-message-sent", "!reply:"}},
		{any1 + "\"http://h/%p\"\nport = 5\n" + next1 + "port = 5\n", []string{"DECIDE: port = 5: another group has it", `name: "g-callbacks"`, `!name: "k-callbacks"`}},
		{any1 + "\"http://h/%p\"\nport = 5\n" + any1 + "\"http://h/%p\"\nport = 5\n", []string{"instances: 2", `!name: "g-2"`}},
		{any1 + "\"http://h/%p\"\nstatus-success-regex = \"(\"\nstatus-tempfail-regex = busy\n", []string{"DECIDE: it has no status-success-regex that PMG can read", "DECIDE: an answer that fits status-tempfail-regex", "!success: {"}},
		{any1 + "\"http://h/%p\"\nstatus-permfail-regex = err\n", []string{"!permanent: {", "!DECIDE", "refuses the message"}},
		{any1 + "\"http://h/%p\"\nstatus-success-regex = \"\"\nstatus-permfail-regex = err\n", []string{`permanent: {body: "err"}`}},
		{"\ngroup = smsc\nsmsc = http\nsystem-type = brunet\n", []string{"DECIDE: group smsc, kannel.conf:2, smsc = http, system-type = brunet", "connectors: []"}},
		{"\ngroup = smsc\nsmsc = http\n", []string{"it has no system-type", "connectors: []"}},

		{box1 + "global-sender = 7\n\n" + user1 + secret, []string{`{in: source, default: "7"}`, "!set:"}},
		{box1 + "global-sender = 7\n\n" + user1 + secret + "default-sender = 8\n", []string{`{in: source, default: "8"}`, `!"7"`}},
		{box1 + "global-sender = 7\n\n" + user1 + secret + "default-sender = 8\nfaked-sender = 9\n", []string{`{in: source, set: "9"}`, "!default:"}},

		{user1, []string{"DECIDE: username or password is missing"}},
		{user1 + secret + user1 + "password = q\n", []string{"DECIDE: group sendsms-user, kannel.conf:6: username \"one\" is there already", "!\"q\""}},
		{user1 + secret + "user-allow-ip = 10.1.*.*\n", []string{`networks: ["10.1.0.0/16"]`, "DECIDE: user-allow-ip has no effect in Kannel"}},
		{user1 + secret + "user-deny-ip = *.*.*.*\nuser-allow-ip = 10.1.2.3\n", []string{`networks: ["10.1.2.3/32"]`, "!DECIDE: user"}},
		{user1 + secret + "user-deny-ip = *.*.*.*\nuser-allow-ip = *.*.*.*\n", []string{"!networks:"}},
		{user1 + secret + "user-deny-ip = *.*.*.*\nuser-allow-ip = 10.*.1.1;example\n", []string{`DECIDE: user-allow-ip: "10.*.1.1" is no address`, `"example" is no address`, `networks: ["0.0.0.0/32"]`}},
		{user1 + secret + "user-deny-ip = *.*.*.*\nuser-allow-ip = 2001:db8::1\n", []string{`networks: ["2001:db8::1/128"]`}},
		{user1 + secret + "user-deny-ip = 10.0.0.1\n", []string{"DECIDE: user-deny-ip", "!networks:"}},
		{user1 + secret + "allowed-prefix = 46\n", []string{`{in: destination, allow: ["46*"]}`, "!DECIDE: allowed"}},
		{user1 + secret + "allowed-prefix = 46\ndenied-prefix = 4\n", []string{`{in: destination, deny: ["4*"]}`, "DECIDE: allowed-prefix and denied-prefix", "!allow:"}},
		{user1 + secret + "max-messages = 0\n", []string{`DECIDE: max-messages = "0"`, "!max_parts:"}},
		{user1 + secret + "max-messages = 999\n", []string{"max_parts: 255"}},
		{user1 + secret + "dlr-url = \"ftp://h/\"\n", []string{"!callback_urls:", "DECIDE: dlr-url"}},
		{user1 + secret + "dlr-url = \"http://h.example.net/a?b=%d\"\n", []string{`callback_urls: ["http://h.example.net/a"]`}},

		{box1 + user1 + secret + smpp1 + "port = 1\ndenied-prefix = 46\n", []string{`{in: destination, deny: ["46*"]}`, `- {connector: "a"}`, "!DECIDE: no SMSC"}},
		{box1 + user1 + secret + smpp1 + "port = 1\nallowed-prefix = \"+46;x\"\n", []string{`destination: ["46"]`, `DECIDE: allowed-prefix has "x"`}},
		{box1 + user1 + secret + smpp1 + "port = 1\nallowed-smsc-id = other\n", []string{"DECIDE: no SMSC takes messages: there is no route", "routes: []"}},
		{box1 + user1 + secret + smpp1 + "port = 1\npreferred-prefix = 46\n" + smpp2 + "port = 1\n", []string{`to: - {connector: "a"} - {connector: "b"}`, `- {connector: "a", weight: 1} - {connector: "b", weight: 1}`}},
	} {
		d := translate(t, row.text)
		made := strings.Join(strings.Fields(strings.ReplaceAll(string(d.Bytes()), "#", " ")), " ")
		_, made, _ = strings.Cut(made, "all options.")
		for _, want := range row.wants {
			if absent, not := strings.CutPrefix(want, "!"); strings.Contains(made, absent) == not {
				t.Errorf("%q\n%s in\n%s", row.text, want, d.Bytes())
			}
		}
	}
}
