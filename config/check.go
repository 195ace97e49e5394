package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"pmg/config/document"
	"pmg/config/option"
	"pmg/internal/httpcall"
	"pmg/internal/passhash"
	"pmg/internal/timetext"
	"pmg/internal/tlsfiles"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/sms"
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// check reports options that are valid alone but conflict with each other.
func (d *decoder) check(c *Config, o Options) {
	checkPDULog(d, &c.PDULog)
	readKeys(d, c)
	if c.Store.Engine != MemoryStore {
		d.store(c)
	}
	checkEvents(d, &c.Events, &c.PDULog)
	checkStats(d, c)
	checkCluster(d, c)
	if err := httpcall.CheckPrefix(c.Telemetry.OTLP); c.Telemetry.OTLP != "" && err != nil {
		d.problem("telemetry.otlp", "%s", err)
	}
	accounts, keys := map[string]int{}, map[string]bool{}
	for i := range c.Accounts {
		checkKeys(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i), keys)
		checkUsers(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i), c.Connectors)
		checkAccountOIDC(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i), c.Connectors)
		checkInbox(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i), &c.Store)
		checkLanguage(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i))
		checkTemplates(d, &c.Accounts[i], fmt.Sprintf("accounts[%d]", i))
		d.account(&c.Accounts[i], fmt.Sprintf("accounts[%d]", i), c.Connectors)
		d.unique(accounts, c.Accounts[i].SystemID, "accounts[%d].system_id", i)
	}
	names, profiles := map[string]int{}, map[string]int{}
	for i := range c.Profiles {
		d.unique(profiles, c.Profiles[i].Name, "profiles[%d].name", i)
	}
	for i := range c.Connectors {
		path := fmt.Sprintf("connectors[%d]", i)
		d.connector(&c.Connectors[i], path, o)
		d.report(path, c.Connectors[i].SMPP.CompileTLVs())
		d.report(path, c.Connectors[i].SMPP.CompileStatuses())
		d.unique(names, c.Connectors[i].Name, "connectors[%d].name", i)
	}
	checkLists(d, c)
	checkNetworks(d, c)
	checkPrices(d, c)
	checkMail(d, c)
	d.operators(c)
	checkAdmin(d, &c.Admin)
	d.addresses(c)
	x := newIndex(c)
	for i := range c.Connectors {
		checkListeners(d, x, fmt.Sprintf("connectors[%d]", i), &c.Connectors[i])
	}
	for i := range c.Routes {
		d.route(x, &c.Routes[i], fmt.Sprintf("routes[%d]", i))
	}
	checkPlugins(d, c, x)
	checkLogins(d, x)
	checkReceives(d, c)
	checkLimits(d, &c.Limits)
	checkUnlikely(d, c, o.Thorough)
}

// unique records the name of row i, and reports it if an earlier row has the same.
func (d *decoder) unique(seen map[string]int, name, format string, i int) {
	if name == "" {
		return
	}
	path := fmt.Sprintf(format, i)
	if first, ok := seen[name]; ok {
		d.problem(path, "%q is already used in %s: give one of them another name", name, where(d, fmt.Sprintf(format, first)))
		return
	}
	seen[name] = i
}

func (d *decoder) account(a *Account, path string, connectors []Connector) {
	d.loginFits(a, path, connectors)
	checkCertificates(d, a, path, connectors)
	d.lifetime(&a.Lifetime, path)
	checkCallbacks(d, a, path)
	if s := &a.Sessions; s.Full == Replace && s.Most == 0 && s.PerAddress == 0 {
		d.problem(path+".sessions_full",
			"must not be replace without max_sessions or max_sessions_per_address: add one of them")
	}
	if a.Receipts == ForceReceipts && !a.MayReceive() {
		d.problem(
			path+".receipts",
			"must not be force, because bind lets the account receive nothing: add receiver or transceiver there",
		)
	}
	a.rules = d.rewrite(a.Rewrite, path)
	a.rules.quiet = quietHours(d, &a.Policies.Quiet, path)
	octets, problems := smpp.CompileParameters(a.TLVs)
	d.report(path, problems)
	a.rules.octets = octets
	d.report(option.Join(path, "smpp"), a.Sessions.SMPP.Compile())
	checkFlood(d, a.Policies.Flood, path)
	checkPasswords(d, a, path)
}

func checkPasswords(d *decoder, a *Account, path string) {
	if a.Password == "" && a.OldPassword != "" {
		d.problem(path+".old_password", "is a further one: the first is password")
	}
	for option, password := range map[string]string{".password": a.Password, ".old_password": a.OldPassword} {
		if !passhash.Is(password) {
			continue
		}
		if err := passhash.Check(password); err != nil {
			d.problem(path+option, "%v", err)
		}
	}
}

// checkCertificates checks the credentials of an account: a password, certificates or both.
func checkCertificates(d *decoder, a *Account, path string, connectors []Connector) {
	if len(a.Certificates) == 0 && a.Password == "" && isWritten(d, path+".certificates") {
		d.problem(path+".certificates", "must not be empty without password: anybody could log in")
	}
	for i, c := range a.Certificates {
		if err := tlsfiles.CheckIdentity(c); err != nil {
			d.problem(fmt.Sprintf("%s.certificates[%d]", path, i), "%v", err)
		}
	}
	if len(a.Certificates) > 0 &&
		!slices.ContainsFunc(
			connectors, func(c Connector) bool { return c.TLS.Enabled && c.TLS.ClientCA != "" && a.MayUse(&c) },
		) {
		d.warn(path+".certificates", "no connector that the account may use has tls.client_ca, so it cannot log in")
	}
}

// checkCallbacks checks which servers of an account are called.
func checkCallbacks(d *decoder, a *Account, path string) {
	if a.Pull && a.Webhook != "" {
		d.problem(path+".pull", "must not be given together with webhook")
	}
	if a.Webhook != "" {
		check := httpcall.CheckPrefix
		if a.WebhookForm != PMGForm {
			check = func(url string) error { return httpcall.CheckURL(strings.ReplaceAll(url, "%", "")) } // may contain escapes
		}
		if err := check(a.Webhook); err != nil {
			d.problem(path+".webhook", "%s", err)
		}
		if err := check(a.WebhookFallback); a.WebhookFallback != "" && err != nil {
			d.problem(path+".webhook_fallback", "%s", err)
		}
	} else if a.WebhookFallback != "" {
		d.problem(path+".webhook_fallback", "must not be given without webhook, in whose place it is called")
	}
	if a.WebhookReply && !strings.HasPrefix(a.WebhookForm, "kannel") {
		d.problem(
			path+".webhook_reply", "must not be true with webhook_form: %s: only Kannel's forms have replies", a.WebhookForm,
		)
	}
	for i, prefix := range a.CallbackURLs {
		if err := httpcall.CheckPrefix(prefix); err != nil {
			d.problem(fmt.Sprintf("%s.callback_urls[%d]", path, i), "%s", err)
		} else if err := httpcall.CheckPortOf(prefix); err != nil {
			d.warn(fmt.Sprintf("%s.callback_urls[%d]", path, i), "has no effect: URLs that come with messages %s", err)
		}
	}
	for _, key := range strings.Fields(a.WebhookKey) {
		if err := httpcall.CheckSecret(key); err != nil {
			d.problem(path+".webhook_key", "%s", err)
		}
	}
}

// lifetime checks that the usual validity of messages is allowed.
func (d *decoder) lifetime(l *Lifetime, path string) {
	if l.Most > 0 && l.Usual > l.Most {
		d.problem(
			path+".validity", "must be at most max_validity, which is %s, not %s", timetext.FormatDuration(l.Most),
			timetext.FormatDuration(l.Usual),
		)
	}
}

// loginFits checks that the account can log in by the protocol of some connector. The length of a hashed
// password is unknown and not checked.
func (d *decoder) loginFits(a *Account, path string, connectors []Connector) {
	password := a.Password
	if passhash.Is(password) {
		password = ""
	}
	var problems []protocols.Problem
	for i := range connectors {
		c := &connectors[i]
		o := c.ProtocolOptions()
		if !a.MayUse(c) || o == nil {
			continue
		}
		if problems = o.CheckAccount(a.SystemID, password); problems == nil {
			return
		}
	}
	d.report(path, problems)
}

// report adds the problems that a protocol has with the options at path.
func (d *decoder) report(path string, problems []protocols.Problem) {
	for _, p := range problems {
		if p.Warning {
			d.warn(option.Join(path, p.Option), "%s", p.Text)
		} else {
			d.problem(option.Join(path, p.Option), "%s", p.Text)
		}
	}
}

func (d *decoder) connector(c *Connector, path string, o Options) {
	if c.Name != "" && !nameForm.MatchString(c.Name) {
		d.problem(path+".name", "must be letters, digits, '-' and '_', at most 64, not %q", c.Name)
	}
	if o.Protocols != nil && !slices.Contains(o.Protocols, c.Protocol) {
		d.problem(path+".protocol", "must be %s, not %q", oneOf(o.Protocols), c.Protocol)
	}
	if c.IsHTTPSMSC() {
		checkSMSC(d, c, path)
	}
	if c.Transport() == Nowhere {
		checkTest(d, c, path)
	}
	checkPortal(d, c, path)
	d.protocol(c, path)
	d.checkText(c, path)
	c.rules = d.rewrite(c.Rewrite, path)
	d.checkRetry(&c.Retry, option.Join(path, "retry"))
	d.lifetime(&c.Lifetime, path)
	d.listen(c, path)
	d.report(option.Join(path, "tls"), c.TLS.check(c.Listens()))
	if c.IdleMax > 0 && c.Direction == Out && c.Listen == "" && c.IsStatic() {
		d.warn(
			path+".idle_max",
			"logs sessions out that are opened again immediately, because static is true: write static: false",
		)
	}
	if c.Direction != "" && c.Role() == protocols.Client && c.SystemID == "" && c.Transport() == BySession {
		d.problem(path, "must have system_id: an out connector logs in with it")
	}
}

// operators checks the options that connectors to the same SMSC must have in common.
func (d *decoder) operators(c *Config) {
	first := map[string]int{}
	for i := range c.Connectors {
		one, path := &c.Connectors[i], fmt.Sprintf("connectors[%d]", i)
		if one.Operator != "" && !nameForm.MatchString(one.Operator) {
			d.problem(path+".operator", "must be letters, digits, '-' and '_', at most 64, not %q", one.Operator)
		}
		if one.Role() != protocols.Client {
			continue
		}
		name := one.OperatorName()
		if j, ok := first[name]; ok && c.Connectors[j].ReceiptIDs != one.ReceiptIDs {
			d.problem(
				path+".receipt_ids", "must be %s, as that of connector %s, because both have operator %s",
				c.Connectors[j].ReceiptIDs, c.Connectors[j].Name, name,
			)
		} else if ok && c.Connectors[j].ReceiptMatch != one.ReceiptMatch {
			d.problem(
				path+".receipt_match", "must be %s, as that of connector %s, because both have operator %s",
				c.Connectors[j].ReceiptMatch, c.Connectors[j].Name, name,
			)
		} else if !ok {
			first[name] = i
		}
	}
}

// protocol checks the options that a connector's protocol limits.
func (d *decoder) protocol(c *Connector, path string) {
	o := c.ProtocolOptions()
	if o == nil {
		return
	}
	switch most := o.MaxWindow(); {
	case c.Window == Auto && (c.Direction != Out || c.Protocol != "smpp" && c.Protocol != "ucp"):
		d.problem(path+".window", "auto is for out connectors of smpp and ucp")
	case int(c.Window) > most:
		d.problem(
			path+".window", "must be at most %d, the most that %s can pair with answers, not %d", most, c.Protocol, c.Window,
		)
	}
	password := c.Password
	if c.Role() == protocols.Server {
		password = "" // the password has no effect, and a warning was already reported
	}
	d.report(path, o.CheckLogin(c.SystemID, password))
}

// checkPDULog checks the directory and the limits of the pdu log.
func checkPDULog(d *decoder, p *PDULog) {
	if p.MaxTotal != 0 && p.MaxTotal < p.MaxSize {
		d.problem("pdulog.max_total", "must be at least max_size, which is %v, or 0 for no limit, not %v", p.MaxSize, p.MaxTotal)
	}
	checkTextKey(d, p)
	if !p.Enabled {
		return
	}
	d.directory("pdulog.dir", p.Dir)
}

// checkEvents checks the directory and the limits of the events.
func checkEvents(d *decoder, e *Events, p *PDULog) {
	if e.MaxTotal != 0 && e.MaxTotal < e.MaxSize {
		d.problem("events.max_total", "must be at least max_size, which is %v, or 0 for no limit, not %v", e.MaxSize, e.MaxTotal)
	}
	if e.Dir == "" {
		return
	}
	d.directory("events.dir", e.Dir)
	if p.Enabled && filepath.Clean(e.Dir) == filepath.Clean(p.Dir) {
		d.problem(
			"events.dir",
			"must not be the directory of the pdu logs, %s, because a connector may be named events: name another", p.Dir,
		)
	}
}

// checkStats checks the directory of the statistics.
func checkStats(d *decoder, c *Config) {
	if c.Stats.Dir == "" {
		return
	}
	d.directory("stats.dir", c.Stats.Dir)
	if c.Events.Dir == "" {
		d.problem("stats.dir", "needs events.dir, because statistics are made from events: set that as well")
	}
	for _, other := range []struct{ option, dir string }{
		{"events.dir", c.Events.Dir}, {"pdulog.dir", c.PDULog.Dir}, {"store.dir", c.Store.Dir},
	} {
		if other.dir != "" && filepath.Clean(other.dir) == filepath.Clean(c.Stats.Dir) {
			d.problem("stats.dir", "must not be %s, %s: name another", other.option, other.dir)
		}
	}
	if k := c.Stats.KeepAge; k != 0 && k < 24*time.Hour {
		d.problem("stats.keep_age", "must be at least a day, 24h, or 0s for no limit, not %s", k)
	}
}

// store checks that nothing else uses the directory of the store. The names of the store's files end like the
// names of pdu logs, so an operator who removes pdu logs could remove messages.
func (d *decoder) store(c *Config) {
	d.directory("store.dir", c.Store.Dir)
	for _, other := range []struct{ option, dir, holds string }{
		{"pdulog.dir", c.PDULog.Dir, "pdu logs"}, {"events.dir", c.Events.Dir, "events"},
	} {
		used := other.dir != "" && (other.option != "pdulog.dir" || c.PDULog.Enabled)
		if used && filepath.Clean(other.dir) == filepath.Clean(c.Store.Dir) {
			d.problem(
				"store.dir", "must not be %s, %s, because the names of a store's files are like those of %s: name another",
				other.option, other.dir, other.holds,
			)
		}
	}
}

// directory checks that an option does not name a file where a directory must be.
func (d *decoder) directory(path, dir string) {
	if st, err := os.Stat(dir); err == nil && !st.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		d.problem(path, "must be a directory, but %s or a part of its path is a file: name another, or move the file away", dir)
	}
}

func (d *decoder) route(x *index, r *Route, path string) {
	if r.Account != "" && x.accounts[r.Account] == nil {
		d.noAccount(x, path+".account", r.Account)
	}
	if r.From != "" && x.connectors[r.From] == nil {
		d.noConnector(x, path+".from", r.From, anyConnector)
	}
	d.origin(x, r, path)
	for i, p := range r.Destination {
		if !isDigits(strings.TrimPrefix(p, "+")) {
			d.problem(fmt.Sprintf("%s.destination[%d]", path, i), "must be digits, not %q", p)
		}
	}
	for i, k := range r.Keyword {
		if k == "" || strings.ContainsFunc(k, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			d.problem(fmt.Sprintf("%s.keyword[%d]", path, i), "must be one word of letters and digits, not %q", k)
		}
	}
	for i, tag := range r.Tag {
		if !sms.IsTag(tag) {
			d.problem(
				fmt.Sprintf("%s.tag[%d]", path, i),
				"must be small letters, digits and any of _.:-, without held:, refused: or changed: in front, not %q", tag,
			)
		}
	}
	checkTargets(d, x, r, path)
	r.fillPolicy()
}

// origin checks that the account of a route may submit messages on the route's connector.
func (d *decoder) origin(x *index, r *Route, path string) {
	a, from := x.accounts[r.Account], x.connectors[r.From]
	switch {
	case a == nil || from == nil || from.Direction == "":
	case from.Role() != protocols.Server:
		d.problem(
			path+".account",
			"never matches: messages from connector %s come from an SMSC and have no account: remove account, or from",
			r.From,
		)
	case !a.MayUse(from):
		d.problem(
			path+".account",
			"never matches: account %s may not log in on connector %s: change from, or the account's connectors option",
			r.Account, r.From,
		)
	}
}

// minMemory is the least memory that the gateway can work with.
const minMemory = option.Size(64 << 20)

func checkLimits(d *decoder, l *Limits) {
	if l.Memory != 0 && l.Memory < minMemory {
		d.problem("limits.memory", "must be at least %s, or 0B for half of the machine's memory, not %s", minMemory, l.Memory)
	}
}

// complete reports lists that are missing, so that an emptied or truncated file is not
// taken for a gateway without connectors. An explicit empty list ([]) is accepted.
// Missing routes cause a warning only.
func (d *decoder) complete(c *Config, empty bool) {
	if empty {
		d.problems = append(d.problems, document.Problem{File: d.file, Line: 1, Column: 1,
			Message: "is empty: pmg config init writes a configuration to begin with"})
		return
	}
	serves := slices.ContainsFunc(c.Connectors, func(c Connector) bool { return c.Direction == In })
	for _, list := range []struct {
		key, without string
		needed       bool
	}{
		{"connectors", "the gateway would do nothing", true},
		{"accounts", "no client could log in", serves && c.Managed.Dir == ""},
	} {
		if list.needed && !d.given[list.key] && !d.hasProblem(list.key) {
			d.problems = append(d.problems, document.Problem{File: d.file, Line: d.lastLine(), Column: 1,
				Message: fmt.Sprintf(
					"ends without %s, so that %s: was the file cut off? Add %[1]s, or write %[1]s: [] if there shall be none",
					list.key, list.without,
				)})
		}
	}
}

// hasProblem reports whether a problem of the option is already known.
func (d *decoder) hasProblem(key string) bool {
	return slices.ContainsFunc(d.problems, func(p document.Problem) bool {
		return p.Path == key || p.Path == "file" || strings.HasSuffix(p.Message, ": did you mean "+key+"?")
	})
}

// lastLine returns the number of the last line that is not blank, from 1.
func (d *decoder) lastLine() int {
	for i := len(d.lines) - 1; i > 0; i-- {
		if strings.TrimSpace(d.lines[i]) != "" {
			return i + 1
		}
	}
	return 1
}
