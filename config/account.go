package config

import (
	"encoding/base32"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"pmg/config/option"
	"pmg/internal/httpcall"
	"pmg/internal/timetext"
	"pmg/internal/token"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
	"pmg/sms/rewrite"
)

// Account is a client that may log in.
type Account struct {
	SystemID     string         `yaml:"system_id" required:"yes" live:"yes" doc:"The name it logs in with. SMPP allows 15 characters, up to 32 with long_system_ids of a connector, UCP 16."`
	Profile      string         `yaml:"profile" live:"yes" doc:"The profile whose options it takes (docs/profiles.md), of the file or of PMG; its own count more."`
	Password     string         `yaml:"password" required:"certificates" secret:"yes" live:"yes" doc:"Its password, plain or as a hash: argon2id (pmg account hash) or bcrypt (htpasswd -nB); not needed with certificates. SMPP allows 8 characters, more with long_passwords, UCP 16."`
	OldPassword  string         `yaml:"old_password" secret:"yes" live:"yes" doc:"A second password while it changes, plain or as a hash. Its sessions go on when password takes its place, and end when it is removed."`
	Certificates []string       `yaml:"certificates" live:"yes" doc:"With TLS, the certificates one of which a login must show, besides the password if there is one (docs/tls.md): a name in it (CN, DNS name, e-mail address or URI), or sha256: and its fingerprint."`
	Networks     []netip.Prefix `yaml:"networks" live:"yes" doc:"Addresses it may log in from, such as 192.0.2.0/24 or 192.0.2.1; any when empty."`

	Logins   Logins   // options of logins, beside the account's own
	Sessions Sessions // options of sessions

	Bind       []protocols.BindType `yaml:"bind" enum:"transmitter|receiver|transceiver" live:"yes" doc:"The ways it may bind; any when empty."`
	Connectors []string             `yaml:"connectors" live:"yes" doc:"The in connectors that it may log in on; all when empty."`

	Rate        int           `yaml:"rate" default:"0" range:"0..1000000" live:"yes" doc:"Short messages (each recipient, each part) it may submit per second, over all its sessions; 0 is any rate. One that would wait for more than about a second is throttled (SMPP: ESME_RTHROTTLED)."`
	Burst       int           `yaml:"burst" default:"0" range:"0..1000000" live:"yes" doc:"Messages it may submit together after a rest; 0 is a twentieth of rate, at least 1."`
	MaxParts    int           `yaml:"max_parts" default:"10" range:"1..255" live:"yes" doc:"Short messages that one of its texts may become, also if the SMSC cuts it; a longer one is refused (SMPP: ESME_RINVMSGLEN). Each counts towards rate, and parts that the gateway cuts towards share and max_queue."`
	Share       int           `yaml:"share" default:"50" range:"1..100" live:"yes" doc:"Percent of the free places in a queue, and of the free memory (there at least half), that its messages may take. With 100 it can shut out others."`
	MaxSchedule time.Duration `yaml:"max_schedule" default:"168h" range:"0s.." live:"yes" doc:"How far ahead a message's delivery time may be; 0s allows none. A later one is refused (SMPP: ESME_RINVSCHED)."`

	Lifetime Lifetime // options of lifetimes

	MaxParked    int `yaml:"max_parked" default:"10000" range:"0.." live:"yes" doc:"Its messages that may be parked (no_route: park); further ones are refused (SMPP: ESME_RMSGQFUL)."`
	MaxScheduled int `yaml:"max_scheduled" default:"10000" range:"0.." live:"yes" doc:"Messages of the account that may wait for their delivery time. Further ones are refused until some have left."`

	Policies Policies // options of policies

	TLVs []smpp.Parameter `yaml:"tlvs" live:"yes" merge:"entries" doc:"TLVs that its messages get when they leave by SMPP without one of that tag, such as {tlv: 0x1400, value: \"1101456789012345678\"} (docs/profiles.md). The connector's tlvs see them."`

	Receipts string   `yaml:"receipts" default:"ask" enum:"ask|force" live:"yes" doc:"Which receipts it gets: those that it asks for, or with force the final ones of all messages, except where an out connector has receipts: never."`
	Receives []string `yaml:"receives" live:"yes" doc:"Destinations of messages from mobiles for this account: prefixes of numbers, short codes or sender names, with or without '+'. A whole address ('=123') comes first, then the longest prefix; an account that alone can receive on the connector gets all."`

	Callbacks // options of accounts that are called by HTTP

	Senders []string `yaml:"senders" live:"yes" doc:"Lists one of which must have the sender of its messages, after rewrite; else they are refused (SMPP: ESME_RINVSRCADR). Any sender when empty."`

	Screening // options of screening

	Rewrite []rewrite.Rule `yaml:"rewrite" live:"yes" doc:"Changes to the addresses of messages that it submits (in) or receives (out), and which are allowed, such as {in: destination, strip: 00, ton: 1} (docs/rewrite.md)."`

	rules rules // compiled from Rewrite
}

// Logins are the further ways to use HTTP in the name of an account, in addition to the account's password.
type Logins struct {
	Keys  []Key         `yaml:"keys" live:"yes" doc:"Keys for HTTP in place of its password, each as {name: shop, hash: \"sha256:…\", scopes: [send]}, made by pmg account key."`
	Users []AccountUser `yaml:"users" live:"yes" doc:"People who may log in to the pages for customers (docs/portal.md), 100 at most, each as {name: ann, password: \"$argon2id$…\", scope: send}."`

	OIDC AccountOIDC `yaml:"oidc" live:"yes" doc:"The server of OpenID Connect at which people of the account log in to the pages for customers (docs/portal.md); none when missing. It must allow portal_url of the connector with /portal/oidc/ and the system_id behind it."`

	SecondFactor bool `yaml:"second_factor" default:"false" live:"yes" doc:"Whether each of its users with a password needs a second factor: after a login, one without it must set it up before any other page (docs/portal.md)."`

	Pages Pages // options of the pages of its users
}

// AccountUser is somebody who may log in to the pages for customers in the name of an account.
type AccountUser struct {
	Name     string `yaml:"name" required:"yes" live:"yes" doc:"Who it is, for the login and the logs."`
	Password string `yaml:"password" required:"yes" secret:"yes" live:"yes" doc:"The hash of the password, as pmg account hash prints it."`
	Scope    string `yaml:"scope" default:"look" enum:"look|send|manage" live:"yes" doc:"look sees what is the account's; send may also submit messages, and manage change the account's API keys and users."`

	Mail          string `yaml:"mail" live:"yes" doc:"The user's address for mail: a link for a new password goes there (docs/portal.md). Of users of managed.dir alone, whose passwords pages can change."`
	PasswordOnce  bool   `yaml:"password_once" default:"false" live:"yes" doc:"Whether the user must choose another password before anything else, because somebody else has made this one."`
	TOTPSecret    string `yaml:"totp_secret" secret:"yes" live:"yes" doc:"The secret of the user's second factor (TOTP, RFC 6238), in base32: a login needs a code of it, too. The user sets it up on a page (docs/portal.md)."`
	RecoveryCodes string `yaml:"recovery_codes" secret:"yes" live:"yes" doc:"Hashes of codes (sha256:…, with spaces between) each of which counts once in place of a code of totp_secret."`
}

// MaxRecovery is how many recovery codes a user may have.
const MaxRecovery = 10

// ManageScope is the scope of users above LookScope and SendScope. Each scope includes the lower ones.
const ManageScope = "manage"

// MaxUsers is how many users an account may have.
const MaxUsers = 100

// checkUsers checks the users of an account. Messages do not quote a value that is given instead of a hash.
func checkUsers(d *decoder, a *Account, path string, connectors []Connector) {
	names := map[string]int{}
	serves := func(c Connector) bool { return c.servesPages(a) }
	if len(a.Logins.Users) > 0 && !slices.ContainsFunc(connectors, serves) {
		d.warn(path+".users", "cannot log in: no connector that the account may use has portal: true")
	}
	if len(a.Logins.Users) > MaxUsers {
		d.problem(path+".users", "must have %d entries at most, not %d", MaxUsers, len(a.Logins.Users))
		return
	}
	for i := range a.Logins.Users {
		u := &a.Logins.Users[i]
		d.unique(names, u.Name, path+".users[%d].name", i)
		checkUser(d, fmt.Sprintf("%s.users[%d]", path, i), u.Name, u.Password, "pmg account hash")
		checkFactor(d, fmt.Sprintf("%s.users[%d]", path, i), u)
	}
}

// leastSecret is the least number of octets of a shared secret (RFC 4226 §4, R6).
const leastSecret = 16

// checkFactor checks the second factor of a user. Messages do not quote it.
func checkFactor(d *decoder, path string, u *AccountUser) {
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(u.TOTPSecret)
	if u.TOTPSecret != "" && (err != nil || len(secret) < leastSecret) {
		d.problem(path+".totp_secret", "must be %d octets or more in base32, without '='", leastSecret)
	}
	codes := strings.Fields(u.RecoveryCodes)
	if len(codes) > MaxRecovery || slices.ContainsFunc(codes, func(one string) bool { return !token.IsHash(one) }) {
		d.problem(path+".recovery_codes", "must be %d hashes at most, each sha256: and 64 digits", MaxRecovery)
	}
}

// Sessions limit the sessions that an account may have at the same time, and set what is written on them.
type Sessions struct {
	Most       int    `yaml:"max_sessions" default:"0" range:"0.." live:"yes" doc:"Sessions it may have over all connectors; 0 is any number. A further login is refused, and silent sessions are checked."`
	PerAddress int    `yaml:"max_sessions_per_address" default:"0" range:"0.." live:"yes" doc:"The same for one address (IPv6: a /64)."`
	Full       string `yaml:"sessions_full" default:"refuse" enum:"refuse|replace" live:"yes" doc:"A login beyond these: refuse refuses it. replace logs out the session that has been silent for longest (of the same address if max_sessions_per_address is reached), but none younger than 10 s."`

	SMPP smpp.ClientOptions `yaml:"smpp" live:"yes" doc:"How ids and receipts are written on its sessions of SMPP, such as {message_ids: decimal}. docs/receipts.md has an example."`
}

// ProtocolOptions returns the options of the account's sessions of a protocol, nil if the account has none.
func (a *Account) ProtocolOptions(protocol sms.Protocol) any {
	if protocol == protocols.SMPP {
		return &a.Sessions.SMPP
	}
	return nil
}

// MayCall returns the reason why the account's messages may not name a URL to be called, nil if they may.
func (a *Account) MayCall(url string) error {
	_, err := httpcall.Allowed(a.CallbackURLs, a.CallbacksTo == PublicCallbacks, url)
	return err
}

// Callbacks are the servers of a client that are called by HTTP.
type Callbacks struct {
	Webhook         string   `yaml:"webhook" live:"yes" doc:"URL that is called with events of messages sent by HTTP that name no other, and with messages from mobiles if it may not receive them by a session (docs/webhooks.md)."`
	WebhookFallback string   `yaml:"webhook_fallback" live:"yes" doc:"URL that is called instead, in the same form and with the same key, while webhook is paused: after ten failures in a row, by Retry-After, or by 410."`
	WebhookKey      string   `yaml:"webhook_key" secret:"yes" live:"yes" doc:"Key that signs calls of webhook (Standard Webhooks): whsec_ and 24 to 64 octets in base64; two with a space between while it changes."`
	Pull            bool     `yaml:"pull" default:"false" live:"yes" doc:"In place of a webhook, whether the account fetches what webhook would be called with (GET /v1/events), and acknowledges it."`
	WebhookPublic   bool     `yaml:"webhook_public" default:"false" live:"yes" doc:"Whether webhook leads where a message's URL may with callbacks: public, so not to private networks. The page for customers sets it together with the URL."`
	WebhookForm     string   `yaml:"webhook_form" default:"pmg" enum:"pmg|kannel-get|kannel-post|jasmin-get|jasmin-post" live:"yes" doc:"How webhook is called: as in docs/webhooks.md, as Kannel's get-url and post-url with its escapes (%p, %P, %b …), or as Jasmin's HTTP clients. The last two get messages from mobiles alone."`
	WebhookReply    bool     `yaml:"webhook_reply" default:"false" live:"yes" doc:"With Kannel's forms, whether the server's reply is sent to the mobile, as Kannel does unless max-messages is 0."`
	WebhookBatch    int      `yaml:"webhook_batch" default:"1" range:"1..1000" live:"yes" doc:"Most events of a call; with more than 1 each call is of type batch, whose data is a list. A higher value has its whole effect after the next start."`
	CallbackURLs    []string `yaml:"callback_urls" live:"yes" doc:"Allowed beginnings of the URLs of messages (dlr-url, callback_url), such as https://crm.example.net/sms/, also in private networks. Ports are 80, 443 and those from 1024."`
	CallbacksTo     string   `yaml:"callbacks" default:"listed" enum:"listed|public" live:"yes" doc:"Which other URLs a message may name: none (listed), or every one with a public address (public)."`
}

// PullLane is the endpoint of an account's events that wait until the account fetches them.
const PullLane = "pull"

// EventsTo returns the endpoint for events of messages that name no server: the server of the account's
// webhook, or PullLane. It returns "" if the account gets no events by HTTP.
func (a *Account) EventsTo() string {
	if a.Pull {
		return PullLane
	}
	return sms.Endpoint(a.Webhook)
}

// Passwords returns the passwords that the account may log in with.
func (a *Account) Passwords() []string {
	if a.OldPassword == "" {
		return []string{a.Password}
	}
	return []string{a.Password, a.OldPassword}
}

// Zone returns the time zone of the account.
func (a *Account) Zone() *time.Location {
	if zone, ok := timetext.LoadZone(a.Policies.Timezone); ok {
		return zone
	}
	return time.UTC
}

// MayUse reports whether the account may log in on the connector.
func (a *Account) MayUse(c *Connector) bool {
	return c.Role() == protocols.Server && (len(a.Connectors) == 0 || slices.Contains(a.Connectors, c.Name))
}

// MaySubmit reports whether the account's sessions can submit messages.
func (a *Account) MaySubmit() bool {
	return len(a.Bind) == 0 || slices.ContainsFunc(a.Bind, protocols.BindType.CanSubmit)
}

// MayReceive reports whether messages can be sent to the account's sessions.
func (a *Account) MayReceive() bool {
	return len(a.Bind) == 0 || slices.ContainsFunc(a.Bind, protocols.BindType.CanReceive)
}

// Secrets returns the options of accounts that are never shown: those of sections by their path.
func Secrets() []string { return secretsOf(reflect.TypeFor[Account]()) }

// UserSecrets returns the options of users of accounts that are never shown.
func UserSecrets() []string { return secretsOf(reflect.TypeFor[AccountUser]()) }

func secretsOf(t reflect.Type) (keys []string) {
	for f := range option.All(t) {
		if f.Tag.Get("secret") != "" {
			keys = append(keys, option.Key(f))
		}
		if f.Type.Kind() == reflect.Struct && !option.IsSingle(f.Type) {
			for _, key := range secretsOf(f.Type) {
				keys = append(keys, option.Join(option.Key(f), key))
			}
		}
	}
	return keys
}
