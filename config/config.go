package config

import (
	"net/netip"
	"time"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/internal/keyfile"
	"pmg/internal/machine"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/protocols/testsms"
	"pmg/protocols/ucp"
	"pmg/sms/rewrite"
)

// The words of options that allow a fixed set of words.
const (
	In  = "in" // direction: we listen
	Out = "out"

	Delay  = "delay" // queue_full
	Refuse = "refuse"

	Replace = "replace" // sessions_full

	MemoryStore = "memory" // store.engine
	PebbleStore = "pebble"

	Park = "park" // no_route

	Resend = "resend" // on_unknown
	Fail   = "fail"

	ForceReceipts = "force" // receipts of a connector or an account
	NeverReceipts = "never" // value of a connector alone

	PublicCallbacks = "public" // callbacks of an account: a message may name every URL with a public address

	PMGForm = "pmg" // webhook_form

	MatchID = "id" // receipt_match
	// OneReceipt is of receipt_parts.
	OneReceipt = "one"

	Failover = "failover" // policy
	Weighted = "weighted"
	Quality  = "quality"
	Cost     = "cost"
)

// Config is the whole configuration, with every default filled in.
type Config struct {
	User       string      `yaml:"user" live:"no" doc:"The user, or user:group, that a gateway started as root becomes once it listens, for ports below 1024. It must be able to read this file and those that it names, and to write to the directories."`
	Log        Log         `yaml:"log" live:"no" doc:"The gateway's own log, on standard output."`
	PDULog     PDULog      `yaml:"pdulog" live:"no" doc:"The log of every PDU, one text file per connector."`
	Events     Events      `yaml:"events" live:"no" doc:"How each message has ended: what billing reads."`
	Stats      Stats       `yaml:"stats" live:"no" doc:"Sums of the events by hour, account, connector and network, kept for years in little."`
	Retention  Retention   `yaml:"retention" live:"yes" doc:"How long texts and numbers stay in pdu logs and events that are kept (docs/privacy.md)."`
	Telemetry  Telemetry   `yaml:"telemetry" live:"no" doc:"Traces of some messages, for a collector of OpenTelemetry."`
	Store      Store       `yaml:"store" live:"no" doc:"Where accepted messages wait."`
	Cluster    Cluster     `yaml:"cluster" live:"no" doc:"Other gateways that take over when this one is gone (docs/cluster.md)."`
	Managed    Managed     `yaml:"managed" live:"yes" doc:"Accounts, routes, lists and prices that are changed by HTTP, and stand beside this file (docs/managed.md)."`
	Mail       Mail        `yaml:"mail" live:"yes" doc:"The SMTP server for mail to customers: low balances, new passwords (docs/mail.md)."`
	Admin      Admin       `yaml:"admin" live:"no" doc:"The HTTP listener for operators: /metrics, /healthz and /readyz."`
	Limits     Limits      `yaml:"limits" live:"no" doc:"Bounds on memory and time, so that no peer can exhaust the gateway."`
	Pipelines  Pipelines   `yaml:"pipelines" default:"auto" live:"no" doc:"How many pipelines share the sessions, each with its own goroutines, for a machine with many processors: 1 to 64, or auto, all processors but two and at least one (docs/bench.md)."`
	Receipts   Receipts    `yaml:"receipts" live:"yes" doc:"Delivery receipts: how long the gateway knows what they belong to, and how long they wait for a client."`
	Profiles   []Profile   `yaml:"profiles" live:"yes" doc:"Sets of options that connectors and accounts take by name, such as {name: carrier, connector: {window: 50}} (docs/profiles.md)."`
	Accounts   []Account   `yaml:"accounts" live:"yes" doc:"The clients that may log in to the in connectors."`
	Connectors []Connector `yaml:"connectors" live:"yes" doc:"The pools of sessions: in connectors listen for clients, out connectors log in to SMSCs."`
	Lists      []List      `yaml:"lists" live:"yes" doc:"Registers of numbers in files, such as {name: optouts, file: optouts.txt}: opt-outs, blocked numbers, senders (docs/lists.md)."`
	Prices     []Prices    `yaml:"prices" live:"yes" doc:"Lists of prices, such as {name: standard, currency: EUR, file: prices.csv}, which accounts name (docs/prices.md). A reload reads them again."`
	Networks   Networks    `yaml:"networks" live:"yes" doc:"A table of the mobile networks that numbers belong to, for routes, plugins, events and metrics (docs/networks.md)."`
	Routes     []Route     `yaml:"routes" live:"yes" doc:"Where messages go. The first route that matches wins; no_route says what happens to a message that none matches."`
	Plugins    []Plugin    `yaml:"plugins" live:"yes" doc:"Code of yours that decides about messages: rules with expressions, or services (docs/plugins.md)."`
	Hooks      []Hook      `yaml:"hooks" live:"yes" doc:"Where plugins are asked, in this order."`
	NoRoute    string      `yaml:"no_route" default:"refuse" enum:"refuse|park" live:"yes" doc:"A message that no route leads anywhere: refuse answers so, park accepts it for an operator to decide with pmg queue."`

	found found
}

// found is what the reading of the file has found.
type found struct {
	exposed []string // files
	warned  []document.Warning
	routes  []int             // lines; 0: not known
	names   []string          // those of the routes
	defined map[string]string // the objects that managed files could define, by kind/name
}

// Log is the gateway's own log.
type Log struct {
	Level  string `yaml:"level" default:"info" enum:"trace|debug|info|warn|error" live:"yes" doc:"The least important entries to write. trace and debug write an entry per message and cost speed."`
	Format string `yaml:"format" default:"auto" enum:"auto|json|console" live:"no" doc:"json is for machines, console for people; auto is console on a terminal and json elsewhere."`
}

// PDULog is the log of every PDU.
type PDULog struct {
	Dir         string        `yaml:"dir" default:"pdulog" live:"no" doc:"Directory of the files, one per connector. It is made when missing."`
	Enabled     bool          `yaml:"enabled" default:"true" live:"no" doc:"Whether PDUs are logged at all."`
	Text        bool          `yaml:"text" default:"true" live:"no" doc:"Whether message texts are written; else their lengths, and those of octets of unknown meaning. Such lines cannot be converted back into PDUs."`
	TextKey     string        `yaml:"text_key" secret:"yes" live:"no" doc:"With text: false, a secret of at least 16 characters, for text_hash in each line, by which the same text is known again (docs/privacy.md). It differs by alphabet."`
	MaxSize     option.Size   `yaml:"max_size" default:"100MiB" range:"4KiB.." live:"no" doc:"A file that grows past this is rotated."`
	RotateEvery time.Duration `yaml:"rotate_every" default:"24h" range:"0s.." live:"no" doc:"Files are rotated at multiples of this in UTC, so 24h is at midnight; 0s rotates by size only."`
	KeepAge     time.Duration `yaml:"keep_age" default:"168h" range:"0s.." live:"no" doc:"How long rotated files are kept, unless keep, max_total or min_free remove them before. 0s keeps all."`
	Keep        int           `yaml:"keep" default:"0" range:"0.." live:"no" doc:"Rotated files that are kept per connector; a busy one rotates by max_size many times a day. 0 is no limit."`
	MaxTotal    option.Size   `yaml:"max_total" default:"0" live:"no" doc:"The most that all files of a connector may take, with the open one. 0 is no limit."`
	MinFree     int           `yaml:"min_free" default:"10" range:"0..90" live:"no" doc:"Percent of the disk that pdu logs leave free, 1 GiB at most: with less, a connector that writes removes its oldest rotated files, those of the last day only if pdu logs take most of the disk. 0 uses all of it."`
	Compress    bool          `yaml:"compress" default:"true" live:"no" doc:"Whether rotated files are compressed, with zstd."`
	Flush       time.Duration `yaml:"flush" default:"100ms" range:"1ms..10s" live:"no" doc:"Longest time a line waits in memory. A longer time costs less CPU, and loses more lines when the machine dies."`
}

// Events are the options of the files that list how each message has ended.
type Events struct {
	Dir         string        `yaml:"dir" live:"no" doc:"Directory of the files with a line of JSON for each message that has ended (docs/events.md); made when missing, off when empty. If its disk fails, events wait in the store; with about a million (65,536 with store.engine: memory) sending stops."`
	MaxSize     option.Size   `yaml:"max_size" default:"100MiB" range:"4KiB.." live:"no" doc:"A file that would grow past this is rotated."`
	RotateEvery time.Duration `yaml:"rotate_every" default:"24h" range:"0s.." live:"no" doc:"Files are rotated at the first event after a multiple of this in UTC (24h: midnight); 0s rotates by size only."`
	KeepAge     time.Duration `yaml:"keep_age" default:"0s" range:"0s.." live:"no" doc:"How long rotated files are kept; 0s keeps them whatever their age."`
	Keep        int           `yaml:"keep" default:"0" range:"0.." live:"no" doc:"How many rotated files are kept, compressed or not; the oldest are removed. 0 is no limit."`
	MaxTotal    option.Size   `yaml:"max_total" default:"0" live:"no" doc:"The most that all files may take, including the one being written; the oldest are removed. 0 is no limit."`
	Compress    bool          `yaml:"compress" default:"true" live:"no" doc:"Whether rotated files are compressed, with zstd."`
}

// Stats are the options of the sums of the events.
type Stats struct {
	Dir     string        `yaml:"dir" live:"no" doc:"Directory of the daily files of pmg stats and the page Statistics (docs/stats.md); made when missing, off when empty. Needs events.dir."`
	KeepAge time.Duration `yaml:"keep_age" default:"0s" range:"0s.." live:"no" doc:"How long the files are kept, in whole days; 0s keeps them whatever their age."`
}

// Retention limits how long texts and numbers stay in files that are kept longer.
type Retention struct {
	Texts   time.Duration `yaml:"texts" default:"0s" range:"0s.." live:"yes" doc:"Texts in closed files of pdu logs and events that are older are replaced by their lengths, about once an hour. 0s: never, or, of an account, as the gateway's retention says."`
	Numbers time.Duration `yaml:"numbers" default:"0s" range:"0s.." live:"yes" doc:"The same for numbers of seven digits and more, together with the texts. Names of senders and short numbers stay."`
}

// Telemetry are the options of the traces of some messages.
type Telemetry struct {
	OTLP          string `yaml:"otlp" live:"no" doc:"URL of the collector, such as http://127.0.0.1:4318, or ${ENV:OTEL_EXPORTER_OTLP_ENDPOINT}; traces are posted to /v1/traces below it. Off when empty."`
	OneIn         int    `yaml:"one_in" default:"1000" range:"1..1000000000" live:"no" doc:"Of so many messages one is traced, with its receipt. The id of a message decides whether it is traced."`
	ClientRate    int    `yaml:"client_rate" default:"10" range:"0..1000" live:"no" doc:"Further messages a second, at most, that are traced because their HTTP request has traceparent with the flag sampled."`
	Authorization string `yaml:"authorization" secret:"yes" live:"no" doc:"The header Authorization of the requests; none when empty."`
	Service       string `yaml:"service" default:"pmg" live:"no" doc:"Name of the service that traces show (service.name)."`
	Addresses     bool   `yaml:"addresses" default:"false" live:"no" doc:"Whether traces have the numbers of senders and receivers, in place of hashes, which differ after each start. Texts are never in them."`
}

// Store are the options of the store in which accepted messages wait.
type Store struct {
	Engine  string      `yaml:"engine" default:"pebble" enum:"pebble|memory" live:"no" doc:"pebble keeps accepted messages on disk, each before its answer. memory loses waiting messages when the gateway stops; it is for benches."`
	Dir     string      `yaml:"dir" default:"data" live:"no" doc:"Directory of what must outlive a restart, made when missing: on a file system of its own, not on the network."`
	Memory  option.Size `yaml:"memory" default:"0B" range:"0B.." live:"no" doc:"Memory that waiting messages may take; further ones stay on disk alone. 0B is a quarter of limits.memory."`
	MinFree option.Size `yaml:"min_free" default:"0B" range:"0B.." live:"yes" doc:"Free space of the file system of dir below which no message is accepted; waiting ones are sent. 0B is a twentieth of the file system, at least 64 MiB (half of a file system below 128 MiB) and at most 1 GiB."`
	Ballast option.Size `yaml:"ballast" default:"64MiB" range:"0B.." live:"no" doc:"Size of a file that is removed when the disk is full all the same. 0B makes none."`
	Backups string      `yaml:"backups" live:"yes" doc:"Directory for the copies of pmg store backup NAME, made when missing, for the gateway's user alone. A running gateway's store is not copied without it."`

	KeyFile    string `yaml:"key_file" live:"no" doc:"A file with a key of 32 octets, in hexadecimal or base64, that encrypts messages in dir (XChaCha20-Poly1305); plain when empty. The store cannot be opened without it: keep a copy elsewhere (docs/privacy.md)."`
	OldKeyFile string `yaml:"old_key_file" live:"no" doc:"The file with the earlier key, while messages wait that are encrypted with that key."`

	keys [][]byte // keys read from KeyFile and OldKeyFile
}

// Keys returns the keys for encrypting messages in the store, the current key first; none: messages are not encrypted.
func (s *Store) Keys() [][]byte { return s.keys }

// readKeys reads the files with the keys of the store.
func readKeys(d *decoder, c *Config) {
	s := &c.Store
	switch {
	case s.KeyFile == "" && s.OldKeyFile != "":
		d.problem("store.old_key_file", "must not be given without key_file")
	case s.KeyFile != "" && s.Engine == MemoryStore:
		d.problem("store.key_file", "has no effect with engine: memory, which writes nothing: remove it, or use pebble")
	}
	for _, f := range []struct {
		option string
		name   *string
	}{{"store.key_file", &s.KeyFile}, {"store.old_key_file", &s.OldKeyFile}} {
		if *f.name = resolve(d.dir, *f.name); *f.name == "" {
			continue
		}
		d.secretFiles = append(d.secretFiles, *f.name)
		if key, err := keyfile.Read(*f.name); err != nil {
			d.problem(f.option, "%v", err)
		} else {
			s.keys = append(s.keys, key)
		}
	}
}

// StoreMemory returns how many octets waiting messages may take in memory.
func (c *Config) StoreMemory() int64 {
	if c.Store.Memory > 0 {
		return int64(c.Store.Memory)
	}
	return c.Limits.MemoryLimit() / 4
}

// Limits bound memory and time.
type Limits struct {
	MaxPDU            option.Size   `yaml:"max_pdu" default:"64KiB" range:"1KiB..16MiB" live:"no" doc:"The longest PDU accepted. A peer that announces a longer one is disconnected."`
	MaxJobs           int           `yaml:"max_jobs" default:"100000" range:"1000.." live:"no" doc:"Live jobs in the pipeline, about 1 KiB each, above which nothing more is read."`
	Unsent            option.Size   `yaml:"unsent" default:"1MiB" range:"64KiB.." live:"no" doc:"Bytes that may wait to be written to one peer; one that reads too slowly is disconnected."`
	Memory            option.Size   `yaml:"memory" default:"0B" range:"0B.." live:"no" doc:"The most memory for messages, jobs and buffers. Beyond it submits are answered as if the queue were full (SMPP: ESME_RMSGQFUL), and sessions are read more slowly. 0B is half of the machine's or the container's memory, whichever is less."`
	Prebind           int           `yaml:"prebind" default:"1000" range:"1.." live:"no" doc:"Connections without a login, over all addresses and connectors; half of them by HTTP. docs/limits.md says which is closed for a further one."`
	PrebindPerAddress int           `yaml:"prebind_per_address" default:"100" range:"1.." live:"no" doc:"The same for one address (IPv6: a /64): at least the sessions that one client opens together."`
	PDUTimeout        time.Duration `yaml:"pdu_timeout" default:"30s" range:"100ms..10m" live:"no" doc:"How long a PDU may take from its first to its last octet. A slower peer is disconnected."`
	JoinTimeout       time.Duration `yaml:"join_timeout" default:"30s" range:"1s..10m" live:"no" doc:"How long the parts of a long message wait for the others with long_messages: join. Then they are sent as they came."`
	DrainTimeout      time.Duration `yaml:"drain_timeout" default:"30s" range:"0s..1h" live:"no" doc:"How long a stopping gateway waits for answers that are still due."`
}

// MemoryLimit returns Memory, or its default.
func (l *Limits) MemoryLimit() int64 {
	if l.Memory > 0 {
		return int64(l.Memory)
	}
	return machine.Memory() / 2
}

// Receipts limits how long receipts can be matched to their messages.
type Receipts struct {
	Keep     time.Duration `yaml:"keep" default:"168h" range:"1h..8760h" live:"yes" doc:"How long a message that an SMSC has accepted is known, so that a receipt finds its client, with about 150 octets on disk. Orphans wait for as long."`
	Validity time.Duration `yaml:"validity" default:"24h" range:"1m..8760h" live:"yes" doc:"How long a receipt waits for a client that is not bound."`

	CallbackValidity time.Duration `yaml:"callback_validity" default:"72h" range:"1m..8760h" live:"yes" doc:"How long a receipt waits for a client's server (HTTP) that does not take it."`

	DeadLetters time.Duration `yaml:"dead_letters" default:"168h" range:"0s..8760h" live:"yes" doc:"How long an event that a webhook did not take within callback_validity is kept for pmg webhooks replay; 0s drops it. The last 100,000 are kept, 16 MiB with store.engine: memory."`

	PartsWait time.Duration `yaml:"parts_wait" default:"24h" range:"1m..8760h" live:"yes" doc:"How long a message sent in parts waits, from the first outcome on, for the others; then its receipt says UNKNOWN, and another one the outcome. A failure is reported immediately. Less than keep."`
}

// Connector is a named pool of sessions of one protocol.
type Connector struct {
	Name      string `yaml:"name" required:"yes" live:"no" doc:"Its name in routes, logs and metrics, and of its pdu log file: letters, digits, '-' and '_'."`
	Profile   string `yaml:"profile" live:"yes" doc:"The profile whose options it takes (docs/profiles.md), of the file or of PMG; its own count more."`
	Direction string `yaml:"direction" required:"yes" enum:"in|out" live:"no" doc:"in listens for clients, out connects to an SMSC, or waits for one that connects (listen)."`
	Protocol  string `yaml:"protocol" default:"smpp" live:"no" doc:"Its protocol. test leads to no SMSC: the recipients decide what becomes of messages (receipt_delay)."`

	Address   string   `yaml:"address" live:"no" doc:"host:port to listen on or connect to. Needed unless addresses is given."`
	Addresses []string `yaml:"addresses" live:"no" doc:"Further addresses: all are listened on; an out connector's instances take them in turn, and the next when one is down."`
	Instances int      `yaml:"instances" default:"1" in:"1000" range:"1..1000000" live:"rebind" doc:"Sessions that are open at the same time. An in connector refuses further ones, an out connector opens this many."`
	Window    Window   `yaml:"window" default:"10" ucp:"1" live:"rebind" doc:"Requests sent and not yet answered, per session. Larger hides latency; many SMSCs refuse more than 10. UCP allows 99, but many of its peers discard what comes before their answer. auto, for SMSCs of SMPP and UCP, finds what brings most answers a second, up to 1000 (docs/operate.md)."`

	Listen       string `yaml:"listen" only:"out" live:"no" doc:"host:port to listen on, in place of address, for an SMSC that connects: it sends outbind (SMPP), or logs in (operation 60) or sends messages immediately (UCP). At most instances such sessions are open."`
	PeerSystemID string `yaml:"peer_system_id" only:"out" live:"yes" doc:"With listen, the name that the SMSC must give in its outbind or login; any when empty."`
	PeerPassword string `yaml:"peer_password" secret:"yes" only:"out" live:"yes" doc:"With listen, the password of its outbind or login; any when empty. With this or peer_system_id, an SMSC must log in over UCP as well."`

	Access // options of access: peers that may connect to a connector that listens

	SystemID string `yaml:"system_id" live:"rebind" doc:"The name that an out connector logs in with (required), or that an in connector returns to clients."`
	Password string `yaml:"password" secret:"yes" only:"out" live:"rebind" doc:"The password that it logs in with. SMPP 3.4 allows 8 characters, UCP 16."`

	TLS TLS `yaml:"tls" live:"rebind" doc:"Encrypts the sessions (docs/tls.md). tls: true is enough where the machine's authorities are trusted; a connector that listens needs certificate and key."`

	Spoken // options of the protocol, beside the connector's own

	Text Text // options of texts

	Supplier // options of the supplier

	Receipts     string `yaml:"receipts" default:"ask" enum:"ask|force|never" only:"out" live:"yes" doc:"Whether the SMSC is asked for receipts: if the client asks, for every message (force), or never. Those that nobody has asked for are counted (pmg_receipts_unwanted_total) and dropped."`
	ReceiptIDs   string `yaml:"receipt_ids" default:"learn" http:"same" test:"same" enum:"learn|same|decimal|hexadecimal" only:"out" live:"yes" doc:"How the SMSC writes ids in receipts: as in its answers (same), or as decimal or hexadecimal numbers. learn finds out (docs/receipts.md). Case, leading zeros and blanks do not matter."`
	ReceiptMatch string `yaml:"receipt_match" default:"address" enum:"address|id" only:"out" live:"yes" doc:"What a receipt and its message share: the id and the last digits of the recipient (address), or the id alone, for SMSCs that change numbers; their ids must be long and never repeat."`
	ReceiptParts string `yaml:"receipt_parts" default:"each" enum:"each|one" only:"out" live:"yes" doc:"Whether the SMSC sends a receipt for each part of a message, or one for all of them, with the id of any; the first is then the outcome."`
	Operations   bool   `yaml:"operations" default:"false" only:"out" live:"yes" doc:"Whether clients can also query, cancel and replace accepted messages that asked for no receipt. The SMSC's ids of all are then stored for receipts.keep, about 150 octets each."`

	Static  *bool         `yaml:"static" only:"out" live:"no" doc:"Whether sessions stay open when there is nothing to send. When not given: true, but not for a transmitter."`
	IdleMax time.Duration `yaml:"idle_max" default:"0s" range:"0s.." live:"rebind" doc:"A session without a message for this long logs out; 0s keeps it open. An out connector needs static: false, or it is opened again."`

	Rate          int           `yaml:"rate" default:"0" range:"0..1000000" live:"yes" doc:"Messages sent per second over all its sessions, spread evenly; 0 is as fast as the window allows."`
	MaxQueue      int           `yaml:"max_queue" default:"1000000" range:"1.." live:"yes" doc:"Messages that may wait for the connector: the default is nearly three hours at 100 a second. Each takes about 300 octets of memory, 100 when on disk alone."`
	MaxDeliveries int           `yaml:"max_deliveries" default:"1000000" range:"1.." only:"in" live:"yes" doc:"Receipts and messages of SMSCs that may wait for each account that logs in on it, those beyond max_queue on disk alone; with store.engine: memory, max_queue is the limit. Further ones are refused (SMPP: ESME_RMSGQFUL), which delays other accounts."`
	QueueFull     string        `yaml:"queue_full" default:"delay" enum:"delay|refuse" live:"yes" doc:"A submit when the queue is full: delay answers when there is room, which slows the client down, refuse answers immediately."`
	QueueWait     time.Duration `yaml:"queue_wait" default:"30s" range:"0s..10m" live:"yes" doc:"Longest a delayed submit waits for room before it is refused. Keep it below the clients' own response timeout."`

	Times // options of times

	Lifetime Lifetime // options of lifetimes

	OnUnknown string `yaml:"on_unknown" default:"resend" enum:"resend|fail" live:"yes" doc:"A message without an answer, also over a kill: resend may deliver it twice, fail not at all. With fail and a durable store, each waits for a commit before it leaves."`
	Retry     Retry  `yaml:"retry" live:"yes" doc:"When a message that the peer has not taken is sent again: a list of pauses, one after each attempt. Behind the last one the message is given up; a list that ends with repeat repeats its last pause until the validity passes, as an in connector always does (a receipt has receipts.validity). One list, as in retry: [10s, 1m, 5m, 30m], stands for all options below, except that a throttled message is not given up."`

	Rewrite []rewrite.Rule `yaml:"rewrite" live:"yes" doc:"Changes to the addresses of messages that arrive (in) or leave (out), and which may pass, such as {in: destination, strip: 00, ton: 1} (docs/rewrite.md)."`

	Screening // options of screening, for the messages that arrive on the connector

	rules rules // compiled from Rewrite
}

// Spoken has the options of each protocol.
type Spoken struct {
	SMPP smpp.ConnectorOptions    `protocol:"smpp"`
	UCP  ucp.ConnectorOptions     `protocol:"ucp"`
	HTTP httpsms.ConnectorOptions `protocol:"http"`
	Test testsms.ConnectorOptions `protocol:"test"`
}

// Supplier describes the operator of the SMSC behind a connector: names and charges.
type Supplier struct {
	Operator   string `yaml:"operator" only:"out" live:"yes" doc:"The name of the SMSC that the connector leads to; the connector's name when not given. A receipt may come over any connector with the same operator."`
	PublicName string `yaml:"public_name" only:"out" live:"yes" doc:"The name that accounts see in place of the connector's, in webhooks, answers and previews, with the SMSC's ids. When not given, they see neither (ND in Jasmin's calls)."`
	Costs      string `yaml:"costs" only:"out" live:"yes" doc:"The list of prices (prices) that its SMSC charges, by which routes with policy: cost choose."`
}

// Access limits who may connect to a connector that listens.
type Access struct {
	Networks []netip.Prefix `yaml:"networks" live:"yes" doc:"Addresses that clients, or with listen the SMSC, may connect from, such as 192.0.2.0/24; any when empty. Other connections are closed unread."`
	Proxies  []netip.Prefix `yaml:"proxies" live:"yes" doc:"Addresses of the proxies in front of a connector that listens (docs/operate.md), such as 192.0.2.0/24. Their connections must begin with a PROXY header, whose address counts for limits, networks, logs and metrics: name only proxies that you trust."`
}

// Policies are rules for an account's messages: their content, the times when they may leave, and what the account sees of them.
type Policies struct {
	Recipients string     `yaml:"recipients" default:"any" enum:"any|plausible" live:"yes" doc:"With plausible, messages to international numbers that cannot exist are refused (SMPP: ESME_RINVDSTADR, HTTP: 422): wrong length, no such country code, or a 0 behind it (docs/policy.md)."`
	Duplicates Duplicates `yaml:"duplicates" live:"yes" doc:"Refuses a message that the account has submitted already a short time before. docs/policy.md has an example."`
	Flood      []Flood    `yaml:"flood" live:"yes" doc:"How many messages it may submit to one recipient, or to numbers that begin alike, such as {per: recipient, most: 5, within: 1h} (docs/policy.md). Beyond any: SMPP ESME_RTHROTTLED, HTTP 429."`
	Quiet      Quiet      `yaml:"quiet" live:"yes" doc:"Hours of the day, where the recipient is, in which its messages wait (docs/policy.md)."`

	Retention Retention `yaml:"retention" live:"yes" doc:"How long texts and numbers of its messages stay in pdu logs and events, if not as the gateway's retention says (docs/privacy.md)."`

	Prices  string  `yaml:"prices" live:"yes" doc:"The list with the prices of its messages; they cost nothing when empty. One without a price is refused (SMPP: ESME_RINVDSTADR, HTTP: 422)."`
	Balance Balance `yaml:"balance" live:"yes" doc:"Whether its money limits what it may submit, with prices. docs/prices.md has an example."`

	Mail []string `yaml:"mail" live:"yes" doc:"Addresses, ten at most, that get a mail when its balance falls below balance.low, such as [ann@example.net]; needs the section mail (docs/mail.md)."`

	Timezone string `yaml:"timezone" default:"UTC" live:"yes" doc:"Its time zone, as Europe/Stockholm: that of the months of its statements (docs/statements.md), and of times on its pages (docs/portal.md)."`

	ShowNetwork bool `yaml:"show_network" default:"false" live:"yes" doc:"Whether it sees by HTTP the network (MCC and MNC) of each of its messages: in answers and in calls of webhook."`
	ShowPrice   bool `yaml:"show_price" default:"false" live:"yes" doc:"Whether it sees by HTTP what each of its messages costs it, with prices: in answers, previews and calls of webhook. Never what an SMSC charges (docs/prices.md)."`
}

// Lifetime limits how long messages may wait that an account submits, or that arrive on a connector.
type Lifetime struct {
	Usual time.Duration `yaml:"validity" default:"0s" range:"0s.." live:"yes" doc:"How long a message without a validity may wait from its delivery time on; then it expires. The account's option comes first, then that of the connector that the message arrives on. 0s in both is forever."`
	Most  time.Duration `yaml:"max_validity" default:"0s" range:"0s.." live:"yes" doc:"The longest validity; a longer one, or none, becomes this. The account's comes first. 0s in both is any."`
}

// Times are the durations for which a connector waits for its peers.
type Times struct {
	ThrottlePause    time.Duration `yaml:"throttle_pause" default:"1s" range:"0s..10m" live:"yes" doc:"How long nothing is sent after the peer answered that it throttles the gateway."`
	ConnectTimeout   time.Duration `yaml:"connect_timeout" default:"10s" range:"100ms..10m" only:"out" live:"yes" doc:"How long connecting may take before the next address is tried."`
	ReconnectDelay   time.Duration `yaml:"reconnect_delay" default:"10s" range:"10ms..1h" only:"out" live:"yes" doc:"Pause between a failed or lost session and the next attempt. It doubles with each failure, up to six times, until a session has lasted that long."`
	FailoverAfter    time.Duration `yaml:"failover_after" default:"30s" range:"0s..24h" live:"yes" doc:"How long the connector may be without a session until its messages go to another target of their route that is up; new ones go there immediately, and those of a stopping gateway. 0s leaves them."`
	FailoverAttempts int           `yaml:"failover_attempts" default:"0" range:"0..100" live:"yes" doc:"Attempts after which a message that the peer has refused for a while, or not answered, goes to the next target that is up (it may be delivered twice; with on_unknown: fail it stays). 0 is all that retry allows."`
	BindTimeout      time.Duration `yaml:"bind_timeout" default:"10s" range:"100ms..10m" live:"rebind" doc:"How long a connection may be open without having logged in."`
	EnquireInterval  time.Duration `yaml:"enquire_interval" default:"30s" range:"0s..1h" live:"rebind" doc:"Silence after which the peer is sent a keep-alive; 0s sends none, so a dead peer is noticed late."`
	ResponseTimeout  time.Duration `yaml:"response_timeout" default:"60s" range:"100ms..1h" live:"rebind" doc:"How long an answer may take; then on_unknown decides, and a peer that does not answer enquire_link either is disconnected. A session that often answers late waits up to ten times as long."`
}

// Listens reports whether the connector accepts connections. The peers are not always clients: an SMSC may connect too. See Role.
func (c *Connector) Listens() bool { return c.Direction == In || c.Listen != "" }

// Dials reports whether the gateway connects to the connector's SMSC for sessions.
func (c *Connector) Dials() bool { return !c.Listens() && c.Transport() == BySession }

// Role returns the connector's side of its sessions: the peers of a server are
// clients, the peers of a client are SMSCs.
func (c *Connector) Role() protocols.Role {
	if c.Direction == In {
		return protocols.Server
	}
	return protocols.Client
}

// OperatorName returns the name under which the messages of the connector's SMSC are known.
func (c *Connector) OperatorName() string {
	if c.Operator != "" {
		return c.Operator
	}
	return c.Name
}

// ProtocolOptions returns the options of the connector's protocol, or nil if the
// protocol has none.
func (c *Connector) ProtocolOptions() protocols.Options {
	switch c.Protocol {
	case "smpp":
		return &c.SMPP
	case "ucp":
		return &c.UCP
	case "http":
		return &c.HTTP
	case "test":
		return &c.Test
	}
	return nil
}

// A Transport is the way in which a connector and its peers exchange messages.
type Transport uint8

// The transports.
const (
	BySession Transport = iota // peers log in, and stay
	ByRequest                  // each request of HTTP stands alone
	Nowhere                    // there is no peer: messages stay in the gateway
)

// Transport returns the connector's transport.
func (c *Connector) Transport() Transport {
	switch c.Protocol {
	case "http":
		return ByRequest
	case "test":
		return Nowhere
	}
	return BySession
}

// BindType returns the bind type of the sessions that the connector opens.
func (c *Connector) BindType() protocols.BindType {
	if o := c.ProtocolOptions(); o != nil {
		return o.BindType()
	}
	return protocols.Transceiver
}

// IsStatic reports whether the connector's sessions stay open when there is nothing to send. Sessions that
// the SMSC opens are static, because the gateway cannot open them when needed.
func (c *Connector) IsStatic() bool {
	if c.Listen != "" {
		return true
	}
	if c.Static != nil {
		return *c.Static
	}
	return c.BindType() != protocols.Transmitter
}

// AllAddresses returns Listen if it is set, otherwise Address, if set, followed by Addresses.
func (c *Connector) AllAddresses() []string {
	if c.Listen != "" {
		return []string{c.Listen}
	}
	if c.Address == "" {
		return c.Addresses
	}
	return append([]string{c.Address}, c.Addresses...)
}

// Route sends the messages that match all of its conditions to its targets.
type Route struct {
	Account         string   `yaml:"account" live:"yes" doc:"Only messages that this account submitted."`
	From            string   `yaml:"from" live:"yes" doc:"Only messages that arrived on this connector."`
	Destination     []string `yaml:"destination" live:"yes" doc:"Only messages whose destination begins with these digits, or with one entry of a list of them; with or without '+'."`
	DestinationFile string   `yaml:"destination_file" live:"yes" doc:"A file with further prefixes, one a line ('#' begins a comment), or a table with a column prefix (docs/networks.md#the-table). A reload reads it again."`
	Source          string   `yaml:"source" live:"yes" doc:"Only messages whose source begins so; a leading '+' makes no difference."`
	Keyword         []string `yaml:"keyword" live:"yes" doc:"Only messages whose text begins with this word, or one of a list, in any letter case: STOP takes 'stop' and 'Stop, please', not 'stopped'."`
	Tag             []string `yaml:"tag" live:"yes" doc:"Only messages to which a plugin has given this tag, or one of a list (docs/plugins.md)."`
	Network         []string `yaml:"network" live:"yes" doc:"Only messages to numbers of these networks (of a message from a mobile, from numbers): MCC and MNC as in 26201, an MCC for a country, or unknown."`
	To              []Target `yaml:"to" required:"yes" live:"yes" doc:"A connector's name, {account: its system_id} for a client's sessions, or a list of those; {connector: name, weight: 3} gives a share."`
	Policy          string   `yaml:"policy" enum:"failover|weighted|quality|cost" live:"yes" doc:"failover takes the first target that is up, weighted shares by weight, quality takes the one that has delivered most of the latest messages to the same network, cost the cheapest by its costs (docs/networks.md). When not given: weighted if a weight is, else failover."`

	LeastDelivered int `yaml:"least_delivered" range:"0..100" live:"yes" doc:"With policy: cost, the percentage of the latest messages to the same network that a target must have delivered; worse ones are taken when no other is up."`

	fromFile []string // the prefixes of DestinationFile
	managed  string   // name of the managed file that defines the route; "": the main file does
}

// Target is a target of a route: a connector, or the sessions of an account.
type Target struct {
	Connector string `yaml:"connector" live:"yes" doc:"The connector's name. Either this or account is needed."`
	Account   string `yaml:"account" live:"yes" doc:"The system_id of an account: messages go to the client's sessions on any in connector."`
	Weight    int    `yaml:"weight" range:"1..1000" live:"yes" doc:"Its share of the messages, relative to the others'; 1 when not given."`
}

// IsClient reports whether messages go to the sessions of an account, not to a connector.
func (t *Target) IsClient() bool { return t.Account != "" }
