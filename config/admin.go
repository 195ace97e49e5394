package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"pmg/internal/passhash"
	"pmg/internal/token"
)

// Admin is the options of the server for operators.
type Admin struct {
	Socket  string   `yaml:"socket" live:"no" doc:"Path of a unix socket for commands on the same machine, which only the gateway's user and root can open; they may do everything. When not given: admin.sock in store.dir, or none with store.engine: memory. off is none."`
	Address string   `yaml:"address" live:"no" doc:"host:port to listen on; off when empty. Without tokens it must be a loopback address, which shows everything but texts, and changes nothing."`
	TLS     TLS      `yaml:"tls" live:"no" doc:"How address is encrypted; plain when missing, as the socket is. Scopes come from tokens, also with require_client."`
	Hosts   []string `yaml:"hosts" live:"no" doc:"Further host names of requests, beside the host of address, localhost and the machine's addresses. Others are refused, because a web page could send them."`
	Tokens  []Token  `yaml:"tokens" live:"yes" doc:"The tokens of those who may use address, each as {name: anna, hash: \"sha256:…\", scope: look}, made by pmg admin token. With one, every request needs one, except /healthz and /readyz; commands take theirs from PMG_ADMIN_TOKEN or --token-file."`
	Users   []User   `yaml:"users" live:"yes" doc:"Operators who may log in to the pages, each as {name: anna, password: \"$argon2id$…\", scope: look}, made by pmg admin user."`
	OIDC    OIDC     `yaml:"oidc" live:"yes" doc:"The server of OpenID Connect at which operators log in to the pages; none when missing."`
	Audit   string   `yaml:"audit" live:"no" doc:"A file with a line of JSON for each request, also a refused one, to change something, see texts or copy the store (docs/web.md); for the gateway's user alone. In the gateway's log when empty."`
	Pprof   bool     `yaml:"pprof" default:"false" live:"no" doc:"Whether Go's profiles are served at /debug/pprof, to those with scope administer. They slow the gateway while they are taken."`
}

// The scopes of tokens and users. Each scope includes those before it.
const (
	LookScope       = "look"
	OperateScope    = "operate"
	AdministerScope = "administer"
)

// OIDC are the options of logins of operators at a server of OpenID Connect.
type OIDC struct {
	OIDCClient          // options of the client
	Address    string   `yaml:"address" live:"yes" doc:"Where browsers find these pages, such as https://pmg.example.net:2780. The server must allow it with /ui/login/callback behind it. Its host needs no admin.hosts; with https cookies are Secure, also behind a proxy that ends TLS."`
	Look       []string `yaml:"look" live:"yes" doc:"The groups with scope look. An operator has the highest scope of all groups, and cannot log in without one."`
	Operate    []string `yaml:"operate" live:"yes" doc:"Those with scope operate."`
	Administer []string `yaml:"administer" live:"yes" doc:"Those with scope administer."`
}

// Host returns the host and the port of the address where browsers find the pages, "" if no server for logins is configured.
func (o *OIDC) Host() string {
	at, err := url.Parse(o.Address)
	if err != nil || !o.IsSet() {
		return ""
	}
	return at.Host
}

// IsSecure reports whether browsers use TLS for requests with a Host: the configured address with that host
// is an https URL, because a proxy ends TLS.
func (o *OIDC) IsSecure(host string) bool {
	return o.IsSet() && strings.HasPrefix(o.Address, "https:") && strings.EqualFold(o.Host(), host)
}

// ScopeOf returns the highest scope of some groups, "" if the groups have no scope.
func (o *OIDC) ScopeOf(groups []string) string { return highest(groups, o.grants()) }

// grants returns who has which scope.
func (o *OIDC) grants() []grant {
	return []grant{{AdministerScope, o.Administer}, {OperateScope, o.Operate}, {LookScope, o.Look}}
}

// Proof returns a text that changes with any option of the section: a login lasts until the text changes.
func (o *OIDC) Proof() string { return proofOf(&o.OIDCClient, *o) }

// checkOIDC checks the section of the server at which operators log in.
func checkOIDC(d *decoder, o *OIDC) {
	checkOIDCClient(d, "admin.oidc", &o.OIDCClient, o.grants(), o.Address != "")
	if o.IsSet() {
		checkBrowsed(d, "admin.oidc.address", o.Address)
	}
}

func isLoopbackHost(host string) bool {
	ip, ok := hostAddress(host)
	return host == "localhost" || ok && ip.IsLoopback()
}

// A User is somebody who may log in to the operators' pages.
type User struct {
	Name     string `yaml:"name" required:"yes" live:"yes" doc:"Who it is, for the login and the logs."`
	Password string `yaml:"password" required:"yes" secret:"yes" live:"yes" doc:"The hash of the password, as pmg admin user prints it."`
	Scope    string `yaml:"scope" default:"look" enum:"look|operate|administer" live:"yes" doc:"As that of a token."`
}

// Token is a secret that gives access to the admin address.
type Token struct {
	Name  string `yaml:"name" required:"yes" live:"yes" doc:"Whose it is, for the logs."`
	Hash  string `yaml:"hash" required:"yes" live:"yes" doc:"sha256: and the hash of the token in hex, as pmg admin token prints it. The token itself stands nowhere."`
	Scope string `yaml:"scope" default:"look" enum:"look|operate|administer" live:"yes" doc:"look sees everything but texts. operate may also hold connectors, end sessions, change what waits, and see texts; administer also reload, copy the store and take profiles."`
}

// AdminSocket returns the path of the unix socket for operators, "" if there is none.
func (c *Config) AdminSocket() string {
	switch {
	case c.Admin.Socket == "off", c.Admin.Socket == "" && c.Store.Engine == MemoryStore:
		return ""
	case c.Admin.Socket == "":
		return filepath.Join(c.Store.Dir, "admin.sock")
	}
	return c.Admin.Socket
}

// checkHashed checks the name and the hash of a token or a key (what), which a command makes. Messages do not
// quote a value that is given instead of a hash, because it may be the secret itself.
func checkHashed(d *decoder, path, name, hash, command, what string) {
	if name != "" && !nameForm.MatchString(name) {
		d.problem(path+".name", "must be letters, digits, '-' and '_', at most 64, not %q", name)
	}
	if hash != "" && !token.IsHash(hash) {
		d.problem(path+".hash", "must be sha256: and 64 hex digits, as %s prints it, and not the %s", command, what)
	}
}

// checkUser checks the name and the password of a user, whose hash a command makes. Messages do not quote a
// value that is given instead of the hash.
func checkUser(d *decoder, path, name, password, command string) {
	if name != "" && !nameForm.MatchString(name) {
		d.problem(path+".name", "must be letters, digits, '-' and '_', at most 64, not %q", name)
	}
	if password == "" {
		return
	}
	if err := passhash.Check(password); !passhash.Is(password) || err != nil {
		d.problem(path+".password", "must be a hash, as %s prints it, and not the password", command)
	}
}

// checkAdmin checks tokens and users, and requires some if other machines reach the address.
func checkAdmin(d *decoder, a *Admin) {
	names := map[string]int{}
	for i, t := range a.Tokens {
		d.unique(names, t.Name, "admin.tokens[%d].name", i)
		checkHashed(d, fmt.Sprintf("admin.tokens[%d]", i), t.Name, t.Hash, "pmg admin token", "token")
	}
	names = map[string]int{}
	for i, u := range a.Users {
		d.unique(names, u.Name, "admin.users[%d].name", i)
		checkUser(d, fmt.Sprintf("admin.users[%d]", i), u.Name, u.Password, "pmg admin user")
	}
	checkOIDC(d, &a.OIDC)
	d.report("admin.tls", a.TLS.check(true))
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return
	}
	switch ip, ok := hostAddress(host); {
	case ok && ip.IsLoopback():
	case (len(a.Tokens)+len(a.Users) > 0 || a.OIDC.IsSet()) && !a.TLS.Enabled:
		d.warn("admin.address", "is plain, so that whoever is in between reads tokens and passwords: set admin.tls")
	case len(a.Tokens)+len(a.Users) == 0 && !a.OIDC.IsSet():
		d.problem(
			"admin.address",
			"must be a loopback address, such as 127.0.0.1:2780, while there are neither admin.tokens nor admin.users, "+
				"because others reach %s: pmg admin token and pmg admin user make them",
			a.Address,
		)
	}
}

// SendScope and ReadScope are the scopes of keys.
const (
	SendScope = "send"
	ReadScope = "read"
)

// Key is a secret with which a program uses the HTTP API in the name of an account.
type Key struct {
	Name     string         `yaml:"name" required:"yes" live:"yes" doc:"Whose it is, for the logs."`
	Hash     string         `yaml:"hash" required:"yes" live:"yes" doc:"sha256: and the hash of the key in hex, as pmg account key prints it. The key itself stands nowhere."`
	Scopes   []string       `yaml:"scopes" enum:"send|read" live:"yes" doc:"send submits, changes and cancels messages, read asks what became of them, and about the account. Both when empty."`
	Networks []netip.Prefix `yaml:"networks" live:"yes" doc:"Addresses that it may be used from, besides those of the account; any when empty."`
	Expires  string         `yaml:"expires" live:"yes" doc:"The first day, in UTC, on which it is not taken, such as 2027-12-31; never when empty."`
	Made     string         `yaml:"made" live:"yes" doc:"The day on which the key was made. PMG does not use it."`
}

// ExpiresAt returns the time at which the key expires, the zero time if it never does.
func (k *Key) ExpiresAt() time.Time {
	t, _ := time.Parse(time.DateOnly, k.Expires) // checkKeys has already checked the date
	return t
}

// checkKeys checks the keys of an account. seen are the hashes of all accounts.
func checkKeys(d *decoder, a *Account, path string, seen map[string]bool) {
	names := map[string]int{}
	for i := range a.Logins.Keys {
		k := &a.Logins.Keys[i]
		at := fmt.Sprintf("%s.keys[%d]", path, i)
		d.unique(names, k.Name, path+".keys[%d].name", i)
		if checkHashed(d, at, k.Name, k.Hash, "pmg account key", "key"); k.Hash != "" && seen[k.Hash] {
			d.problem(at+".hash", "is that of another key: each key is of one account, and stands once")
		}
		seen[k.Hash] = true
		if _, err := time.Parse(time.DateOnly, k.Made); k.Made != "" && err != nil {
			d.problem(at+".made", "must be a day such as 2026-12-31, not %q", k.Made)
		}
		if k.Expires == "" {
			continue
		}
		if t, err := time.Parse(time.DateOnly, k.Expires); err != nil {
			d.problem(at+".expires", "must be a day such as 2027-12-31, not %q", k.Expires)
		} else if time.Now().After(t) {
			d.warn(at+".expires", "has passed, so that the key is not taken")
		}
	}
}
